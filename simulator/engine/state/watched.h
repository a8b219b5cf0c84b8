// State by which threads learn of one another, and how often it has changed. Only the two hooks of
// monitor/progress.h hand it out to be changed, so that no change can go uncounted.
#pragma once

#include <cstdint>
#include <utility>

namespace lockstep::engine {

struct Worker;

// How often memory, or state that orders threads, has changed: of one host thread.
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
  // For a block that has not begun, whose threads cannot have seen what was there.
  void reset(T value = T()) { value_ = std::move(value); }

 private:
  template <class U>
  friend U& on_write(Worker&, Watched<U>&);
  template <class U>
  friend U& on_order(Worker&, Watched<U>&);
  T value_{};
};

}  // namespace lockstep::engine
