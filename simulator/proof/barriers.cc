#include "simulator/proof/barriers.h"

#include <algorithm>

#include "simulator/program/synchronisation.h"

namespace lockstep::proof {

using program::Action;
using program::Op;

namespace {

bool is_block_barrier(const program::Program& p, std::uint32_t pc) {
  const Op& op = p.ops[pc];
  if (op.action != Action::kBarrier || op.guard != program::kNoSlot) return false;
  const auto fields = op.as<program::BarrierFields>();
  if (fields.kind() == program::kBarArrive || op.src[1] != program::kNoSlot) return false;
  if (!program::is_constant(op.src[0])) return false;
  std::uint32_t number = 1;
  std::copy_n(p.constants.get() + (op.src[0] & ~program::Slot{1}), sizeof number,
              reinterpret_cast<std::byte*>(&number));
  return number == 0;
}

// Whether all threads of a block execute the same barriers in the same order. The code between two
// barriers is then one interval for all of them.
bool barriers_are_common(const Graph& graph, Values& values, const std::vector<bool>& barrier) {
  const auto& blocks = graph.blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (values.branches_together(static_cast<int>(b))) continue;
    // The blocks that threads may execute before threads that took another way meet them again.
    std::vector<int> todo = blocks[b].after;
    std::vector<bool> seen(blocks.size());
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      if (at == blocks[b].post_dominator || seen[static_cast<std::size_t>(at)]) continue;
      seen[static_cast<std::size_t>(at)] = true;
      if (barrier[static_cast<std::size_t>(at)]) return false;
      const auto& after = blocks[static_cast<std::size_t>(at)].after;
      todo.insert(todo.end(), after.begin(), after.end());
    }
  }
  return true;
}

}  // namespace

std::vector<bool> common_barriers(const Graph& graph, Values& values) {
  const auto& blocks = graph.blocks();
  std::vector<bool> barrier(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b)
    barrier[b] = is_block_barrier(graph.program(), blocks[b].end - 1);
  if (!barriers_are_common(graph, values, barrier)) barrier.assign(blocks.size(), false);
  return barrier;
}

}  // namespace lockstep::proof
