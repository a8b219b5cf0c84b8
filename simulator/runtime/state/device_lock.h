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
    wait();
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
    wait();
    depth_ = depth;
  }

  // Whether the calling thread holds it. Only this thread ever writes its own id.
  bool is_mine() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  // A thread wants the lock while the object lives.
  class Wanted {
   public:
    explicit Wanted(DeviceLock& lock) : lock_(lock) { ++lock_.wanted_; }
    ~Wanted() { --lock_.wanted_; }
    Wanted(const Wanted&) = delete;
    Wanted& operator=(const Wanted&) = delete;

   private:
    DeviceLock& lock_;
  };
  // Whether another thread waits for it. Call while holding it.
  bool is_wanted() const { return wanted_.load(std::memory_order_relaxed) != 0; }

 private:
  void wait() {
    if (!mutex_.try_lock()) {
      const Wanted wanted(*this);
      mutex_.lock();
    }
    take();
  }
  void take() {
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    depth_ = 1;
  }

  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  std::atomic<int> wanted_ = 0;
  int depth_ = 0;
};

}  // namespace lockstep::runtime
