// The lock under which a host thread reads and changes the cells of a region of memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace lockstep::check {

class RegionLock {
 public:
  // Locks the bytes [first, last], at most a row of 32 lanes of 16 bytes. `needed` false: the
  // launch runs on one host thread, and nothing is locked.
  RegionLock(bool needed, std::uint64_t first, std::uint64_t last) {
    if (needed) take(first, last);
  }
  ~RegionLock() {
    if (held_[0] != nullptr) give_back();
  }
  RegionLock(const RegionLock&) = delete;
  RegionLock& operator=(const RegionLock&) = delete;

 private:
  void take(std::uint64_t first, std::uint64_t last);
  void give_back();
  std::atomic<bool>* held_[2] = {nullptr, nullptr};
};

}  // namespace lockstep::check
