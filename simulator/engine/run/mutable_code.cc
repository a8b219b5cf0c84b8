#include "simulator/engine/run/mutable_code.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>

#include "simulator/compile/compile.h"
#include "simulator/engine/run/handlers.h"
#include "simulator/engine/run/module.h"
#include "simulator/mutation/mutants.h"
#include "simulator/mutation/watch.h"
#include "simulator/ptx/parser.h"

namespace lockstep::engine {
namespace {

class Mutated final : public Exchange {
 public:
  Mutated(LoadedModule& module, std::unique_ptr<Program> program, std::string kernel)
      : module_(module), program_(std::move(program)), kernel_(std::move(kernel)) {}
  void exchange() override { module_.exchange(*program_); }
  bool is_of(const Kernel& kernel) const override {
    return kernel_.empty() || kernel.name() == kernel_;
  }
  const Program& program() const { return *program_; }

 private:
  LoadedModule& module_;
  std::unique_ptr<Program> program_;
  std::string kernel_;  // the only kernel that is compiled; empty: all are
};

bool has_symbol(const ptx::Operand& o) {
  return !o.symbol.empty() || std::any_of(o.elements.begin(), o.elements.end(), has_symbol);
}

// Whether the program cannot see a difference without a launch: attributes and the layout of
// memory. The estimated register count is not compared.
bool looks_the_same(const program::Function& a, const program::Function& b) {
  const auto same_ranges = [](const std::vector<program::Range>& x,
                              const std::vector<program::Range>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& r, const auto& s) {
      return r.begin == s.begin && r.end == s.end;
    });
  };
  return a.static_shared_bytes == b.static_shared_bytes && a.local_total == b.local_total &&
         a.dynamic_shared_begin == b.dynamic_shared_begin && same_ranges(a.shared, b.shared);
}

// Why a function that could run before no longer can; empty: none.
std::string refused_anew(const Program& before, const Program& now) {
  for (std::size_t f = 0; f < now.functions.size(); ++f) {
    if (now.functions[f].refusal && !before.functions[f].refusal)
      return now.functions[f].refusal->message;
  }
  return {};
}

class ParsedCode final : public MutableCode {
 public:
  explicit ParsedCode(std::vector<ptx::Module> modules) : modules_(std::move(modules)) {
    for (std::uint32_t m = 0; m < modules_.size(); ++m) {
      for (std::uint32_t f = 0; f < modules_[m].functions.size(); ++f)
        functions_[{m, modules_[m].functions[f].name}] = f;
    }
  }

  std::vector<mutation::Mutant> mutants() const override {
    std::vector<mutation::Mutant> all;
    for (std::uint32_t m = 0; m < modules_.size(); ++m) {
      for (std::uint32_t f = 0; f < modules_[m].functions.size(); ++f) {
        std::vector<mutation::Mutant> some = mutation::mutants_of(modules_, m, f);
        all.insert(all.end(), std::make_move_iterator(some.begin()),
                   std::make_move_iterator(some.end()));
      }
    }
    return all;
  }

  std::vector<mutation::Place> reached(const Kernel& kernel,
                                       std::span<const std::uint8_t> ran) const override {
    const Program& program = static_cast<const LoadedKernel&>(kernel).program();
    std::vector<mutation::Place> places;
    std::uint32_t last = ~0u;
    for (std::uint32_t pc = 0; pc < ran.size(); ++pc) {
      const std::uint32_t origin = program.ops[pc].origin;
      if ((ran[pc] & kReached) == 0 || origin == last) continue;
      last = origin;
      const program::Origin& from = program.origins[origin];
      const auto function = functions_.find({from.module, program.functions[from.function].name});
      if (function != functions_.end())
        places.push_back({from.module, function->second, from.instruction, 0});
    }
    return places;
  }

  std::string mutate(const mutation::Place& place, Module& module, memory::DeviceMemory& memory,
                     int device, RegisterPlaces places) const override {
    auto& loaded = static_cast<LoadedModule&>(module);
    std::vector<ptx::Module> changed = modules_;
    try {
      mutation::make_mutant(changed, place);
    } catch (const std::out_of_range& error) {
      return error.what();
    }
    auto compiled = compile::compile(changed, memory, device, loaded.program().managed, places,
                                     handlers(), loaded.program().placed);
    if (const auto* error = std::get_if<LoadError>(&compiled)) return error->message;
    if (const std::string why =
            refused_anew(loaded.program(), *std::get<std::unique_ptr<Program>>(compiled));
        !why.empty())
      return why;
    loaded.replace(std::move(*std::get<std::unique_ptr<Program>>(compiled)));
    return {};
  }

  std::unique_ptr<Exchange> prepare(const mutation::Place& place, Module& module,
                                    memory::DeviceMemory& memory, int device, RegisterPlaces places,
                                    std::string* why) override {
    auto& loaded = static_cast<LoadedModule&>(module);
    if (place.module >= modules_.size() ||
        place.function >= modules_[place.module].functions.size()) {
      *why = "the device code has no such function";
      return nullptr;
    }
    const ptx::Function& function = modules_[place.module].functions[place.function];
    const std::string kernel = function.is_kernel ? function.name : "";
    std::vector<ptx::Module> changed =
        function.is_kernel ? with_kernel(place.module, place.function) : modules_;
    try {
      mutation::make_mutant(changed, place);
    } catch (const std::out_of_range& error) {
      *why = error.what();
      return nullptr;
    }
    return compile_beside(changed, kernel, loaded, memory, device, places, why);
  }

  std::optional<WatchedKernel> watch(std::span<const mutation::Place> places, Module& module,
                                     memory::DeviceMemory& memory, int device,
                                     RegisterPlaces registers) override {
    const std::uint32_t m = places[0].module, f = places[0].function;
    std::vector<ptx::Module> changed = with_kernel(m, f);
    mutation::Watched watched = mutation::watch(changed[m], f, places);
    WatchedKernel kernel;
    for (const mutation::Watched::Mutant& mutant : watched.mutants)
      kernel.mutants.push_back({!mutant.signals.empty(), mutant.keeps_initialisation, {}});
    changed[m].functions[f] = std::move(watched.function);
    std::string why;
    const std::string name = changed[m].functions[f].name;
    auto code = compile_beside(changed, name, static_cast<LoadedModule&>(module), memory, device,
                               registers, &why);
    if (code == nullptr) return std::nullopt;
    find_signals(code->program(), m, name, watched, &kernel);
    kernel.code = std::move(code);
    return kernel;
  }

  std::vector<Operations> operations(const Module& module,
                                     std::span<const mutation::Place> places) const override {
    const Program& program = static_cast<const LoadedModule&>(module).program();
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::map<Key, std::vector<std::uint32_t>> by_instruction;
    for (const mutation::Place& p : places) by_instruction[{p.module, p.function, p.instruction}];
    std::vector<std::uint32_t> function_of(program.functions.size(),
                                           ~0u);  // in its module, by index in the program
    for (std::uint32_t pc = 0; pc < program.ops.size(); ++pc) {
      const program::Origin& from = program.origin(pc);
      std::uint32_t& function = function_of[from.function];
      if (function == ~0u) {
        const auto it = functions_.find({from.module, program.functions[from.function].name});
        if (it == functions_.end()) continue;
        function = it->second;
      }
      if (const auto it = by_instruction.find({from.module, function, from.instruction});
          it != by_instruction.end())
        it->second.push_back(pc);
    }
    std::vector<Operations> operations;
    operations.reserve(places.size());
    for (const mutation::Place& p : places) {
      const bool there =
          p.module < modules_.size() && p.function < modules_[p.module].functions.size();
      const bool of_kernel = there && modules_[p.module].functions[p.function].is_kernel;
      operations.push_back({of_kernel ? modules_[p.module].functions[p.function].name : "",
                            by_instruction[{p.module, p.function, p.instruction}]});
    }
    return operations;
  }

 private:
  // nullptr as of prepare(). `kernel`: the only one that is compiled; empty: all are.
  std::unique_ptr<Mutated> compile_beside(const std::vector<ptx::Module>& changed,
                                          const std::string& kernel, LoadedModule& loaded,
                                          memory::DeviceMemory& memory, int device,
                                          RegisterPlaces places, std::string* why) {
    auto compiled = compile::compile(changed, memory, device, loaded.program().managed, places,
                                     handlers(), loaded.program().placed, kernel);
    if (const auto* error = std::get_if<LoadError>(&compiled)) {
      *why = error->message;
      return nullptr;
    }
    auto program = std::move(std::get<std::unique_ptr<Program>>(compiled));
    if (*why = refused_anew(loaded.program(), *program); !why->empty()) return nullptr;
    if (!kernel.empty()) program->cluster_barriers |= cluster_barriers_beside(kernel);
    const std::vector<program::Function>&before = loaded.program().functions,
          &now = program->functions;
    for (std::size_t f = 0; f < now.size(); ++f) {
      if (now[f].is_kernel && (kernel.empty() || now[f].name == kernel) &&
          !looks_the_same(before[f], now[f]))
        return nullptr;
    }
    return std::make_unique<Mutated>(loaded, std::move(program), kernel);
  }

  // Fills in the program counters of a watched kernel.
  static void find_signals(const Program& program, std::uint32_t module, const std::string& name,
                           const mutation::Watched& watched, WatchedKernel* kernel) {
    std::map<std::uint32_t, std::uint32_t> was, mutant_of;  // by instruction of the watched kernel
    for (std::uint32_t i = 0; i < watched.now.size(); ++i) was[watched.now[i]] = i;
    for (std::uint32_t n = 0; n < watched.mutants.size(); ++n) {
      for (const std::uint32_t signal : watched.mutants[n].signals) mutant_of[signal] = n;
    }
    kernel->instructions.assign(program.ops.size(), ~0u);
    for (std::uint32_t pc = 0; pc < program.ops.size(); ++pc) {
      const program::Origin& from = program.origin(pc);
      if (from.module != module || program.functions[from.function].name != name) continue;
      if (const auto it = was.find(from.instruction); it != was.end())
        kernel->instructions[pc] = it->second;
      if (const auto it = mutant_of.find(from.instruction); it != mutant_of.end())
        kernel->mutants[it->second].pcs.push_back(pc);
    }
  }

  // Whether another kernel has a cluster barrier, which decides how all are scheduled.
  bool cluster_barriers_beside(const std::string& kernel) {
    if (!with_cluster_barriers_) {
      with_cluster_barriers_.emplace();
      for (const ptx::Module& m : modules_) {
        for (const ptx::Function& f : m.functions)
          if (f.is_kernel &&
              std::any_of(f.body.begin(), f.body.end(), [](const ptx::Instruction& i) {
                return i.text.starts_with("barrier.cluster");
              }))
            with_cluster_barriers_->insert(f.name);
      }
    }
    return with_cluster_barriers_->size() > with_cluster_barriers_->count(kernel);
  }

  // The modules with one kernel complete. Of other kernels only the uses of shared memory are kept,
  // since these decide its layout. Cached, because mutants are requested kernel by kernel.
  const std::vector<ptx::Module>& with_kernel(std::uint32_t module, std::uint32_t function) {
    const std::pair<std::uint32_t, std::uint32_t> now{module, function};
    if (outlines_.empty()) {
      outlines_ = modules_;
      for (ptx::Module& m : outlines_) {
        for (ptx::Function& f : m.functions)
          if (f.is_kernel)
            std::erase_if(f.body, [](const ptx::Instruction& i) {
              return std::none_of(i.operands.begin(), i.operands.end(), has_symbol);
            });
      }
    }
    if (whole_ != now) {
      one_whole_ = outlines_;
      one_whole_[module].functions[function].body = modules_[module].functions[function].body;
      whole_ = now;
    }
    return one_whole_;
  }

  std::vector<ptx::Module> modules_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> functions_;
  std::optional<std::set<std::string>> with_cluster_barriers_;
  std::vector<ptx::Module> outlines_, one_whole_;
  std::pair<std::uint32_t, std::uint32_t> whole_{~0u, ~0u};
};

}  // namespace

bool allocates(const Kernel& kernel) {
  const Program& program = static_cast<const LoadedKernel&>(kernel).program();
  return std::any_of(program.calls.begin(), program.calls.end(), [](const program::Call& c) {
    return c.builtin == program::Builtin::kMalloc || c.builtin == program::Builtin::kFree;
  });
}

std::unique_ptr<MutableCode> parse_again(std::span<const std::string_view> texts) {
  std::vector<ptx::Module> modules;
  for (const std::string_view text : texts)
    modules.push_back(std::get<ptx::Module>(ptx::parse(text)));
  return std::make_unique<ParsedCode>(std::move(modules));
}

}  // namespace lockstep::engine
