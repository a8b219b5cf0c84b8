#include "simulator/translate/worth.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "simulator/translate/exchanges.h"
#include "simulator/translate/functions.h"
#include "simulator/translate/lean.h"
#include "simulator/translate/operations.h"

namespace lockstep::translate {
namespace {

constexpr int kDeepest = 3;  // loops around an operation that are counted

// How many loops are around each operation of the function: a loop is what lies between a branch
// and a target before it.
std::vector<int> depths_of(const program::Program& program, const program::Function& function) {
  std::vector<int> change(function.end - function.entry + 1);
  for (std::uint32_t pc = function.entry; pc < function.end; ++pc) {
    const Op& op = program.ops[pc];
    if (op.kind != program::OpKind::kBranch) continue;
    const std::uint32_t target = op.as<program::BranchFields>().target();
    if (target > pc) continue;
    ++change[target - function.entry];
    --change[pc + 1 - function.entry];
  }
  int depth = 0;
  for (int& here : change) here = depth += here;
  return change;
}

}  // namespace

Worth worth_of(const program::Program& program, const program::Function& kernel) {
  Worth worth;
  double executed = 0, translated = 0;
  for (const std::size_t index : functions_called(program, kernel)) {
    const program::Function& function = program.functions[index];
    const std::vector<int> depths = depths_of(program, function);
    for (std::uint32_t pc = function.entry; pc < function.end; ++pc) {
      const Op& op = program.ops[pc];
      const double times = 1 << 3 * std::min(depths[pc - function.entry], kDeepest);
      executed += times;
      if (op.kind == program::OpKind::kBranch || lean_of(op) != Lean::kNo ||
          is_known_exchange(program, op) ||
          emitter_of(op, program.meanings[pc], program) != nullptr)
        translated += times;
    }
    worth.operations += function.end - function.entry;
  }
  if (executed != 0) worth.share = translated / executed;
  return worth;
}

}  // namespace lockstep::translate
