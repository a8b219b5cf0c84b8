#include "simulator/runtime/state/graph_memory.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {
namespace {

constexpr std::uint64_t kAlignment = 256;

// False: the device was reset.
bool is_present(const Runtime& runtime, memory::Address base) {
  const memory::Allocation* const a = runtime.memory->find(base);
  return a != nullptr && a->base == base && a->usable();
}

}  // namespace

GraphAllocation::~GraphAllocation() {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.lock);
  runtime.graph_memory.forget(*this, is_present(runtime, base));
  runtime.memory->release(base);
}

std::shared_ptr<GraphAllocation> GraphMemory::make(Runtime& runtime, std::uint64_t size,
                                                   int device) {
  const memory::Allocation* const a =
      runtime.memory->allocate(size, kAlignment, memory::Kind::kDevice, device);
  if (a == nullptr) return nullptr;
  runtime.memory->set_present(a->base, false);
  auto made = std::make_shared<GraphAllocation>();
  made->base = a->base;
  made->size = size;
  made->device = device;
  known_[a->base] = {made, false};
  return made;
}

std::shared_ptr<GraphAllocation> GraphMemory::find(memory::Address base) const {
  const auto it = known_.find(base);
  return it == known_.end() ? nullptr : it->second.allocation.lock();
}

void GraphMemory::begin(Runtime& runtime, const std::shared_ptr<GraphAllocation>& allocation) {
  allocation->live = true;
  live_[allocation->base] = allocation;
  const memory::Allocation* const a = runtime.memory->find(allocation->base);
  if (a != nullptr && !a->freed)
    runtime.leaks.allocated(*a, allocation->function, allocation->caller);
}

void GraphMemory::end(Runtime& runtime, GraphAllocation& allocation) {
  allocation.live = false;
  runtime.leaks.freed(allocation.base);
  live_.erase(allocation.base);  // the caller has a reference
}

void GraphMemory::allocated(Runtime& runtime, const GraphAllocation& allocation) {
  Usage& u = usage_[allocation.device];
  Known& known = known_[allocation.base];
  if (!is_present(runtime, allocation.base)) u.used += allocation.size;
  if (!known.reserved) u.reserved += allocation.size;
  known.reserved = true;
  u.used_high = std::max(u.used_high, u.used);
  u.reserved_high = std::max(u.reserved_high, u.reserved);
  runtime.memory->set_present(allocation.base, true);
}

void GraphMemory::freed(Runtime& runtime, const GraphAllocation& allocation) {
  if (!is_present(runtime, allocation.base)) return;
  usage_[allocation.device].used -= allocation.size;
  runtime.memory->set_present(allocation.base, false);
}

std::vector<std::shared_ptr<GraphAllocation>> GraphMemory::all_of(int device) const {
  std::vector<std::shared_ptr<GraphAllocation>> all;
  for (const auto& [base, known] : known_) {
    if (auto allocation = known.allocation.lock(); allocation && allocation->device == device)
      all.push_back(std::move(allocation));
  }
  return all;
}

void GraphMemory::trim(Runtime& runtime, int device) {
  for (const auto& allocation : all_of(device)) {
    Known& known = known_[allocation->base];
    if (!known.reserved || is_present(runtime, allocation->base)) continue;
    known.reserved = false;
    usage_[device].reserved -= allocation->size;
  }
}

void GraphMemory::reset(int device) {
  usage_.erase(device);
  for (const auto& allocation : all_of(device)) {
    known_[allocation->base].reserved = false;
    allocation->live = false;
    live_.erase(allocation->base);
  }
}

void GraphMemory::forget(const GraphAllocation& allocation, bool present) {
  const auto it = known_.find(allocation.base);
  if (it == known_.end()) return;
  Usage& u = usage_[allocation.device];
  if (it->second.reserved) u.reserved -= allocation.size;
  if (present) u.used -= allocation.size;
  known_.erase(it);
}

}  // namespace lockstep::runtime
