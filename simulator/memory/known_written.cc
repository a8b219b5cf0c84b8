#include "simulator/memory/known_written.h"

#include <iterator>

namespace lockstep::memory {

KnownWritten::Look KnownWritten::begin(const Whole& a) {
  const std::lock_guard lock(mutex_);
  Known& known = known_[a.base];
  if (known.id != a.id || known.size != a.size) known = {a.size, a.id, a.base};
  return {known.written_to, forgotten_};
}

bool KnownWritten::end(const Whole& a, const Look& look, std::uint64_t unwritten) {
  const std::lock_guard lock(mutex_);
  const auto it = known_.find(a.base);
  if (forgotten_ != look.forgotten || it == known_.end() || it->second.id != a.id) return false;
  it->second.written_to = unwritten;
  return unwritten == a.base + a.size;
}

void KnownWritten::forget(std::uint64_t address, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  ++forgotten_;
  auto it = known_.upper_bound(address);
  if (it != known_.begin()) it = std::prev(it);
  for (; it != known_.end() && it->first < address + size; ++it) {
    Known& known = it->second;
    if (known.written_to <= address) continue;
    if (known.written_to == it->first + known.size)
      generation_.fetch_add(1, std::memory_order_relaxed);
    known.written_to = it->first < address ? address : it->first;
  }
}

void KnownWritten::drop(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  known_.erase(base);
}

std::size_t KnownWritten::size() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

}  // namespace lockstep::memory
