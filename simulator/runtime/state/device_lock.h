// The device lock. It is recursive, because API functions call each other.
//
// A forked process continues to hold the locks of its one thread. std::recursive_mutex does not
// support this: it identifies its owner by a number that the system changes in the child.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

namespace lockstep::runtime {

// For std::unique_lock and std::lock_guard.
class DeviceLock {
 public:
  void lock() {
    if (is_mine()) {
      ++depth_;
      return;
    }
    mutex_.lock();
    take();
  }
  bool try_lock() {
    if (is_mine()) {
      ++depth_;
      return true;
    }
    if (!mutex_.try_lock()) return false;
    take();
    return true;
  }
  void unlock() {
    if (--depth_ != 0) return;
    owner_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
  }
  // give_up() releases the lock completely and returns its depth, with which the thread can take it
  // back.
  int give_up() {
    const int depth = std::exchange(depth_, 0);
    owner_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
    return depth;
  }
  void take_back(int depth) {
    mutex_.lock();
    take();
    depth_ = depth;
  }

  // Whether the calling thread holds it. Only this thread ever writes its own id.
  bool is_mine() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

 private:
  void take() {
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    depth_ = 1;
  }

  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  int depth_ = 0;
};

}  // namespace lockstep::runtime
