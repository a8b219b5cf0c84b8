#include "simulator/engine/launch/coverage.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/run/module.h"
#include "simulator/engine/state/vocabulary.h"
#include "simulator/program/program.h"

namespace lockstep::engine {
namespace {

SourcePlace place_of(const Source& source, const ptx::SourceLocation& location) {
  return {source_file(source, location.file), location.line, location.column};
}

// Assigns a number to each inlined place.
class InlinedPlaces {
 public:
  explicit InlinedPlaces(const Program& program) : program_(program) {}
  int number(std::uint32_t module, int site) {
    const Source& source = program_.sources[module];
    if (!is_one(source, site)) return -1;
    const auto [known, first] =
        numbers_.try_emplace({module, site}, static_cast<int>(places.size()));
    if (!first) return known->second;
    InlinedPlace& place = places.emplace_back();
    place.function = source.inline_sites[static_cast<std::size_t>(site)].function;
    for (int s = site; is_one(source, s);
         s = source.inline_sites[static_cast<std::size_t>(s)].caller.inlined_at) {
      place.calls.push_back(
          place_of(source, source.inline_sites[static_cast<std::size_t>(s)].caller));
    }
    return known->second;
  }
  std::vector<InlinedPlace> places;

 private:
  static bool is_one(const Source& source, int site) {
    return site >= 0 && site < static_cast<int>(source.inline_sites.size());
  }

  const Program& program_;
  std::map<std::pair<std::uint32_t, int>, int> numbers_;
};

InstructionCoverage instruction_at(const Program& program, std::uint32_t pc,
                                   InlinedPlaces& inlined) {
  const Origin& origin = program.origin(pc);
  InstructionCoverage i;
  i.text = origin.text;
  i.ptx_line = origin.ptx_line;
  if (origin.source.line != 0) {
    i.source = place_of(program.sources[origin.module], origin.source);
    i.inlined = inlined.number(origin.module, origin.source.inlined_at);
  }
  i.guarded = program.ops[pc].guard != program::kNoSlot;
  return i;
}

bool is_branch_table(const Origin& origin) { return origin.text.starts_with("brx.idx"); }

}  // namespace

void OperationCoverage::add(const OperationCoverage& other) {
  reached += other.reached;
  ran += other.ran;
  partial |= other.partial;
  parted |= other.parted;
}

void Coverage::prepare(const program::Program& program, std::size_t host_threads) {
  if (!parts_.empty() && parts_.front().operations.size() != program.ops.size())
    throw std::invalid_argument("the coverage is of another module");
  while (parts_.size() < host_threads) {
    Part& part = parts_.emplace_back();
    part.operations.resize(program.ops.size());
    for (const auto& table : program.tables) part.tables.emplace_back(table.size());
  }
}

OperationCoverage Coverage::operation(std::uint32_t pc) const {
  OperationCoverage sum;
  for (const Part& part : parts_) sum.add(part.operations[pc]);
  return sum;
}

std::uint64_t Coverage::jumps(std::uint32_t table, std::uint32_t entry) const {
  std::uint64_t sum = 0;
  for (const Part& part : parts_) sum += part.tables[table][entry];
  return sum;
}

ModuleCoverage coverage_of(const Module& module, const Coverage& coverage) {
  const Program& program = static_cast<const LoadedModule&>(module).program();
  ModuleCoverage result;
  InlinedPlaces inlined(program);
  for (const Function& f : program.functions) {
    FunctionCoverage& function = result.functions.emplace_back();
    function.name = f.name;
    function.is_kernel = f.is_kernel;
    if (f.entry < f.end) function.text = program.origin(f.entry).module;
    for (std::uint32_t pc = f.entry; pc < f.end; ++pc) {
      const Origin& origin = program.origin(pc);
      if (origin.row == nullptr) continue;  // the end of a function
      const bool first = pc == f.entry || program.ops[pc - 1].origin != program.ops[pc].origin;
      if (first) function.instructions.push_back(instruction_at(program, pc, inlined));
      // The last operation of an instruction executes it. The operations before it prepare
      // operands.
      InstructionCoverage& i = function.instructions.back();
      i.count = coverage.operation(pc);
      if (!is_branch_table(origin)) continue;
      i.jumps.clear();
      const std::uint32_t table = program.ops[pc].as<program::SideDataFields>().index();
      if (table >= program.tables.size()) continue;
      for (std::uint32_t entry = 0; entry < program.tables[table].size(); ++entry)
        i.jumps.push_back(coverage.jumps(table, entry));
    }
  }
  result.inlined = std::move(inlined.places);
  return result;
}

}  // namespace lockstep::engine
