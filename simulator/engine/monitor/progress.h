// Counts progress. A waiting thread can continue only after a change of memory, or of state that
// orders threads. All such changes are counted here. While the count stays the same, threads that
// repeat themselves do so forever (run/livelock.h). A change that is not counted causes a false
// deadlock report.
#pragma once

#include "simulator/engine/state/watched.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// Call when memory is written. `changed`: false if the bytes keep their values.
inline void on_write(Worker& k, bool changed) { k.changes.value_ += changed; }
inline void on_write(Worker& k) { on_write(k, true); }
// Gives write access to memory that is not made of host bytes: tensor memory.
template <class T>
T& on_write(Worker& k, Watched<T>& memory) {
  on_write(k);
  return memory.value_;
}

// Call for an observable change that is neither memory nor a register: time passes, text is
// printed.
inline void on_order(Worker& k) { ++k.changes.value_; }
// Gives write access to state by which threads wait for each other.
template <class T>
T& on_order(Worker& k, Watched<T>& state) {
  on_order(k);
  return state.value_;
}

}  // namespace lockstep::engine
