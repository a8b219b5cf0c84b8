#include "simulator/engine/launch/repeatable.h"

#include <algorithm>

#include "simulator/engine/run/module.h"
#include "simulator/isa/opcode.h"
#include "simulator/translate/functions.h"

namespace lockstep::engine {
namespace {

bool depends_on_memory_alone(const Program& program, const program::Op& op) {
  if (op.action == program::Action::kSpecialRegister)
    return !isa::reads_clock(op.as<program::SpecialRegisterFields>().which());
  if (op.action != program::Action::kCall) return true;
  const program::Call& call = program.calls[op.as<program::SideDataFields>().index()];
  return call.builtin == program::Builtin::kNone ? call.function >= 0
                                                 : call.builtin == program::Builtin::kAssertFail;
}

}  // namespace

bool depends_on_memory_alone(const Kernel& kernel) {
  const auto& loaded = static_cast<const LoadedKernel&>(kernel);
  const Program& program = loaded.program();
  const auto functions = translate::functions_called(program, loaded.function());
  return std::all_of(functions.begin(), functions.end(), [&](std::size_t index) {
    const Function& function = program.functions[index];
    return std::all_of(program.ops.begin() + function.entry, program.ops.begin() + function.end,
                       [&](const program::Op& op) { return depends_on_memory_alone(program, op); });
  });
}

}  // namespace lockstep::engine
