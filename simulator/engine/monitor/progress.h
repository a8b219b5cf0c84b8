// Progress: a thread that waits can go on only after a change of memory, or of state that orders
// threads. All of these are counted here. While the count stands still, threads that repeat
// themselves do so for ever (run/livelock.h): a change that is not counted is a false deadlock.
#pragma once

#include "simulator/engine/state/watched.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// Memory is written. `changed`: false where the bytes stay as they were.
inline void on_write(Worker& k, bool changed) { k.changes.value_ += changed; }
inline void on_write(Worker& k) { on_write(k, true); }
// Memory to be written that is no bytes of the host's: tensor memory.
template <class T>
T& on_write(Worker& k, Watched<T>& memory) {
  on_write(k);
  return memory.value_;
}

// Something happens that another thread, or the same one later, can find out about and that is
// neither memory nor a register: time passes, text is printed.
inline void on_order(Worker& k) { ++k.changes.value_; }
// State by which threads wait for one another, to be changed.
template <class T>
T& on_order(Worker& k, Watched<T>& state) {
  on_order(k);
  return state.value_;
}

}  // namespace lockstep::engine
