// Which functions belong to a kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/program/program.h"

namespace lockstep::translate {

// The kernel and the functions that it may call directly or through others: indices into
// Program::functions, each once. Not those with an instruction that nothing executes.
inline std::vector<std::size_t> functions_called(const program::Program& program,
                                                 const program::Function& kernel) {
  std::vector<bool> seen(program.functions.size());
  std::vector<std::size_t> found;
  std::vector<std::size_t> open = {static_cast<std::size_t>(&kernel - program.functions.data())};
  while (!open.empty()) {
    const std::size_t index = open.back();
    open.pop_back();
    const program::Function& function = program.functions[index];
    if (seen[index] || function.refusal) continue;
    seen[index] = true;
    found.push_back(index);
    for (std::uint32_t pc = function.entry; pc < function.end; ++pc) {
      const program::Op& op = program.ops[pc];
      if (op.action != program::Action::kCall) continue;
      const std::int32_t callee = program.calls[op.as<program::SideDataFields>().index()].function;
      if (callee >= 0) open.push_back(static_cast<std::size_t>(callee));
    }
  }
  return found;
}

}  // namespace lockstep::translate
