#include "simulator/check/region_lock.h"

#include <thread>
#include <utility>

namespace lockstep::check {
namespace {

// Unrelated regions may share a lock. A row of 32 lanes of 16 bytes lies in at most two regions.
constexpr int kRegionShift = 9;
constexpr std::size_t kLocks = 512;
struct alignas(64) Lock {
  std::atomic<bool> taken{false};
};
Lock locks[kLocks];

std::size_t region(std::uint64_t address) { return (address >> kRegionShift) % kLocks; }

void spin(std::atomic<bool>& lock) {
  for (int spins = 0; lock.exchange(true, std::memory_order_acquire);) {
    while (lock.load(std::memory_order_relaxed)) {
      if (++spins > 1000) std::this_thread::yield();
    }
  }
}

}  // namespace

void RegionLock::take(std::uint64_t first, std::uint64_t last) {
  std::size_t a = region(first), b = region(last);
  if (a > b) std::swap(a, b);  // a fixed order avoids deadlock
  spin(*(held_[0] = &locks[a].taken));
  if (a != b) spin(*(held_[1] = &locks[b].taken));
}

void RegionLock::give_back() {
  for (std::atomic<bool>* lock : held_) {
    if (lock != nullptr) lock->store(false, std::memory_order_release);
  }
}

}  // namespace lockstep::check
