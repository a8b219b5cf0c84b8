// State through which threads learn of each other, with a count of its changes. Only the two hooks
// of monitor/progress.h give write access to it, so every change is counted.
#pragma once

#include <cstdint>
#include <utility>

namespace lockstep::engine {

struct Worker;

// The number of changes of memory, or of state that orders threads, by one host thread.
class ChangeCount {
 public:
  std::uint64_t value() const { return value_; }

 private:
  friend void on_write(Worker&, bool);
  friend void on_order(Worker&);
  std::uint64_t value_ = 0;
};

template <class T>
class Watched {
 public:
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  // For a block that has not started: its threads cannot have seen the old value.
  void reset(T value = T()) { value_ = std::move(value); }

 private:
  template <class U>
  friend U& on_write(Worker&, Watched<U>&);
  template <class U>
  friend U& on_order(Worker&, Watched<U>&);
  T value_{};
};

}  // namespace lockstep::engine
