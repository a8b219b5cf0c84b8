#include "simulator/exec/coverage_record.h"

#include <algorithm>
#include <set>
#include <utility>

namespace lockstep::exec {
namespace {

using nlohmann::json;

CoveredInstruction instruction_of(const json& fields) {
  CoveredInstruction i;
  i.text = fields.at(0).get<std::string>();
  i.ptx_line = fields.at(1).get<int>();
  i.file = fields.at(2).get<int>();
  i.line = fields.at(3).get<int>();
  i.inlined = fields.at(4).get<int>();
  i.guarded = fields.at(5).get<bool>();
  i.reached = fields.at(6).get<std::uint64_t>();
  i.ran = fields.at(7).get<std::uint64_t>();
  i.partial = fields.at(8).get<bool>();
  i.parted = fields.at(9).get<bool>();
  i.jumps = fields.at(10).get<std::vector<std::uint64_t>>();
  return i;
}

// Removes nvcc's name for anonymous namespaces, such as
// "_INTERNAL_7abfd654_12_histogram_cu_1f0eb3a6::". It differs from file to file and has no meaning
// for the reader.
std::string without_internal(std::string name) {
  for (std::size_t at; (at = name.find("_INTERNAL_")) != name.npos;) {
    const std::size_t end = name.find("::", at);
    if (end == name.npos) break;
    name.erase(at, end + 2 - at);
  }
  return name;
}

CoveredModule module_of(const json& fields) {
  CoveredModule module;
  module.files = fields.at("files").get<std::vector<std::string>>();
  const auto files = static_cast<int>(module.files.size());
  for (const json& i : fields.at("inlined")) {
    InlinedFunction& inlined = module.inlined.emplace_back();
    inlined.function = without_internal(i.at(0).get<std::string>());
    for (const json& call : i.at(1)) {
      inlined.calls.push_back(
          {call.at(0).get<int>(), call.at(1).get<int>(), call.at(2).get<int>()});
      if (inlined.calls.back().file < 0 || inlined.calls.back().file >= files)
        inlined.calls.pop_back();
    }
  }
  for (const json& f : fields.at("functions")) {
    CoveredFunction& function = module.functions.emplace_back();
    function.name = f.at("name").get<std::string>();
    function.demangled = f.at("demangled").get<std::string>();
    function.is_kernel = f.at("kernel").get<bool>();
    function.text = f.at("text").get<std::uint32_t>();
    for (const json& i : f.at("instructions")) {
      CoveredInstruction& one = function.instructions.emplace_back(instruction_of(i));
      if (one.file >= files) one.file = -1;
      if (one.inlined >= static_cast<int>(module.inlined.size())) one.inlined = -1;
    }
  }
  return module;
}

void add(const CoveredInstruction& from, CoveredInstruction* to) {
  to->reached += from.reached;
  to->ran += from.ran;
  to->partial |= from.partial;
  to->parted |= from.parted;
  for (std::size_t i = 0; i < std::min(from.jumps.size(), to->jumps.size()); ++i)
    to->jumps[i] += from.jumps[i];
}

// Adds the counts of a module with the same PTX, and so with the same functions and instructions.
void add(const CoveredModule& from, CoveredModule* to) {
  for (std::size_t f = 0; f < std::min(from.functions.size(), to->functions.size()); ++f) {
    const auto& more = from.functions[f].instructions;
    auto& sum = to->functions[f].instructions;
    for (std::size_t i = 0; i < std::min(more.size(), sum.size()); ++i) add(more[i], &sum[i]);
  }
}

std::string text_of(const CoveredModule& module, const InlinedFunction& inlined) {
  std::string text = inlined.function;
  for (const InlinedFunction::Call& call : inlined.calls) {
    text += (&call == inlined.calls.data() ? " at " : ", at ") +
            module.files[static_cast<std::size_t>(call.file)] + ":" + std::to_string(call.line) +
            ":" + std::to_string(call.column);
  }
  return text;
}

// Adds one function of a module to the lines of its source.
class FunctionBySource {
 public:
  FunctionBySource(const CoveredModule& module, const CoveredFunction& function,
                   SourceCoverage* result)
      : module_(module), function_(function), result_(*result) {}

  void add() {
    for (const CoveredInstruction& i : function_.instructions) {
      if (i.file < 0) continue;
      if (first_ == nullptr || (first_->inlined >= 0 && i.inlined < 0)) first_ = &i;
      add(i);
    }
    for (const auto& [line, count] : counts_) file(line.file).lines[line.line].count += count;
    if (first_ != nullptr) {
      auto& functions = file(first_->file).functions;
      functions.try_emplace(function_.demangled, SourceFunction{first_->line, 0})
          .first->second.count += function_.instructions.front().reached;
    } else if (function_.is_kernel && !function_.instructions.empty()) {
      result_.without_lines.push_back(function_.demangled);
    }
  }

 private:
  using Calls = std::vector<InlinedFunction::Call>;
  // A line of the function itself, or of one place where the line was inlined.
  struct Line {
    int file = 0, line = 0;
    Calls calls;  // the calls by which it was inlined
    auto operator<=>(const Line&) const = default;
  };

  SourceFile& file(int number) {
    return result_.files[module_.files[static_cast<std::size_t>(number)]];
  }

  void count(const Line& line, const CoveredInstruction& i) {
    std::uint64_t& most = counts_[line];
    most = std::max(most, i.executed());
    SourceLine& marks = file(line.file).lines[line.line];
    marks.partial |= i.partial;
    marks.parted |= i.parted;
  }

  void add(const CoveredInstruction& i) {
    static const InlinedFunction kOwn;
    const InlinedFunction& inlined =
        i.inlined < 0 ? kOwn : module_.inlined[static_cast<std::size_t>(i.inlined)];
    count({i.file, i.line, inlined.calls}, i);
    if (auto ways = i.ways(); !ways.empty()) {
      const std::string place = i.inlined < 0 ? "" : text_of(module_, inlined);
      file(i.file).lines[i.line].branches.push_back(
          {function_.demangled, place, i.text, i.ptx_line, i.reached, std::move(ways)});
    }
    // The line of each inlined call counts the threads of the first executed instruction that was
    // inlined for the call.
    for (std::size_t n = 0; n < inlined.calls.size(); ++n) {
      const Calls from_here(inlined.calls.begin() + static_cast<std::ptrdiff_t>(n),
                            inlined.calls.end());
      const Line line{
          from_here[0].file, from_here[0].line, {from_here.begin() + 1, from_here.end()}};
      counts_.try_emplace(line);
      file(line.file).lines.try_emplace(line.line);
      if (i.executed() != 0 && came_.insert(from_here).second) count(line, i);
    }
  }

  const CoveredModule& module_;
  const CoveredFunction& function_;
  SourceCoverage& result_;
  const CoveredInstruction* first_ = nullptr;  // of the function itself
  std::map<Line, std::uint64_t> counts_;
  std::set<Calls> came_;
};

}  // namespace

bool CoveredInstruction::branches() const {
  return text.starts_with("bra") || text.starts_with("brx");
}

std::vector<std::uint64_t> CoveredInstruction::ways() const {
  if (!jumps.empty()) return jumps;
  if (guarded) return {ran, reached - ran};
  return {};
}

bool SourceBranch::every_way() const {
  return std::all_of(ways.begin(), ways.end(), [](std::uint64_t threads) { return threads != 0; });
}

void add_coverage(const json& module, CoverageRecord* record) {
  try {
    const std::string id = module.at("module").get<std::string>();
    CoveredModule read = module_of(module);
    const auto [known, first] = record->try_emplace(id);
    if (first) {
      known->second = std::move(read);
    } else {
      add(read, &known->second);
    }
  } catch (const json::exception&) {
    return;  // a truncated line
  }
}

SourceCoverage by_source(const CoverageRecord& record) {
  SourceCoverage result;
  for (const auto& [id, module] : record) {
    for (const CoveredFunction& function : module.functions)
      FunctionBySource(module, function, &result).add();
  }
  return result;
}

}  // namespace lockstep::exec
