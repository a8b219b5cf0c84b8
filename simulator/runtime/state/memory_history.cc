#include "simulator/runtime/state/memory_history.h"

#include <algorithm>
#include <utility>

#include "simulator/runtime/state/source_line.h"

namespace lockstep::runtime {
namespace {

// The allocation that findings describe an address by.
const memory::Allocation* nearest(const memory::DeviceMemory& memory, memory::Address address) {
  if (!memory.in_window(address)) return nullptr;
  if (const memory::Allocation* const a = memory.find(address)) return a;
  const auto [below, above] = memory.neighbours(address);
  if (below == nullptr || above == nullptr) return below == nullptr ? above : below;
  return address - below->end <= above->begin - address ? below : above;
}

}  // namespace

check::HostStack host_stack(std::string what, const CallStack& stack) {
  return {std::move(what), host_frames(stack)};
}

std::size_t count_lines(const check::HostStack& stack) {
  return static_cast<std::size_t>(
      std::count_if(stack.frames.begin(), stack.frames.end(),
                    [](const check::HostFrame& f) { return !f.file.empty(); }));
}

void MemoryHistory::allocated(const memory::Allocation& a, const char* function,
                              const memory::DeviceMemory& memory) {
  lives_.insert_or_assign(a.base, Life{a.id, running(function), {}});
  if (lives_.size() < sweep_) return;
  std::erase_if(lives_, [&](const auto& life) {
    const memory::Allocation* const now = memory.find(life.first);
    return now == nullptr || now->id != life.second.id;
  });
  sweep_ = std::max<std::size_t>(1024, 2 * lives_.size());
}

void MemoryHistory::freed(memory::Address address, const char* function) {
  const auto it = lives_.find(address);
  if (it != lives_.end() && it->second.freed.function == nullptr)
    it->second.freed = running(function);
}

std::vector<check::HostStack> MemoryHistory::of(memory::Address address,
                                                const memory::DeviceMemory& memory) const {
  const memory::Allocation* const a = nearest(memory, address);
  const auto it = a == nullptr ? lives_.end() : lives_.find(a->base);
  if (it == lives_.end() || it->second.id != a->id) return {};
  std::vector<check::HostStack> result;
  const auto add = [&](const char* what, const Call& call) {
    if (call.function != nullptr)
      result.push_back(host_stack(std::string(what) + call.function, *call.stack));
  };
  add("allocated by ", it->second.allocated);
  add("freed by ", it->second.freed);
  return result;
}

}  // namespace lockstep::runtime
