#include "simulator/engine/launch/mutable_code.h"

#include <map>
#include <stdexcept>
#include <utility>
#include <variant>

#include "simulator/compile/compile.h"
#include "simulator/engine/launch/handlers.h"
#include "simulator/engine/launch/module.h"
#include "simulator/mutation/mutants.h"
#include "simulator/ptx/parser.h"

namespace lockstep::engine {
namespace {

class ParsedCode final : public MutableCode {
 public:
  explicit ParsedCode(std::vector<ptx::Module> modules) : modules_(std::move(modules)) {
    for (std::uint32_t m = 0; m < modules_.size(); ++m) {
      for (std::uint32_t f = 0; f < modules_[m].functions.size(); ++f) functions_[{m, modules_[m].functions[f].name}] = f;
    }
  }

  std::vector<mutation::Mutant> mutants() const override {
    std::vector<mutation::Mutant> all;
    for (std::uint32_t m = 0; m < modules_.size(); ++m) {
      for (std::uint32_t f = 0; f < modules_[m].functions.size(); ++f) {
        std::vector<mutation::Mutant> some = mutation::mutants_of(modules_, m, f);
        all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
      }
    }
    return all;
  }

  std::vector<mutation::Place> reached(const Kernel& kernel, std::span<const std::uint8_t> ran) const override {
    const Program& program = static_cast<const LoadedKernel&>(kernel).program();
    std::vector<mutation::Place> places;
    std::uint32_t last = ~0u;
    for (std::uint32_t pc = 0; pc < ran.size(); ++pc) {
      const std::uint32_t origin = program.ops[pc].origin;
      if ((ran[pc] & kReached) == 0 || origin == last) continue;
      last = origin;
      const program::Origin& from = program.origins[origin];
      const auto function = functions_.find({from.module, program.functions[from.function].name});
      if (function != functions_.end()) places.push_back({from.module, function->second, from.instruction, 0});
    }
    return places;
  }

  std::string mutate(const mutation::Place& place, Module& module, memory::DeviceMemory& memory, int device, RegisterPlaces places) const override {
    auto& loaded = static_cast<LoadedModule&>(module);
    std::vector<ptx::Module> changed = modules_;
    try {
      mutation::make_mutant(changed, place);
    } catch (const std::out_of_range& error) {
      return error.what();
    }
    auto compiled = compile::compile(changed, memory, device, loaded.program().managed, places, handlers(), loaded.program().placed);
    if (const auto* error = std::get_if<LoadError>(&compiled)) return error->message;
    loaded.replace(std::move(*std::get<std::unique_ptr<Program>>(compiled)));
    return {};
  }

 private:
  std::vector<ptx::Module> modules_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> functions_;
};

}  // namespace

std::unique_ptr<MutableCode> parse_again(std::span<const std::string_view> texts) {
  std::vector<ptx::Module> modules;
  for (const std::string_view text : texts) modules.push_back(std::get<ptx::Module>(ptx::parse(text)));
  return std::make_unique<ParsedCode>(std::move(modules));
}

}  // namespace lockstep::engine
