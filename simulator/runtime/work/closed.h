// Closed launches: every operation of the program, put or still to come, is ordered before the
// launch or after it. Nothing but its own threads can race with its accesses to memory of the
// device.
//
// An operation is executed late, so the program often waits for a launch when it begins. Whatever
// the program puts after the wait is ordered after the launch.
#pragma once

#include <optional>

#include "simulator/runtime/order/order.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// The calling thread waits for the operations that `what` covers, while the object lives. Before
// the thread puts anything else, it must call Order::host_waits_for() with at least these
// operations.
class Wait {
 public:
  explicit Wait(const Clock& what);
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  bool covers(const Operation& at) const { return what_.covers(at.lane, at.sequence); }
  // Whether the program has no other thread that could put operations in the meantime. Counted at
  // the first call, and again after recount(): the thread itself cannot start another.
  bool has_program_alone();
  void recount() { alone_.reset(); }

 private:
  const Clock& what_;
  Wait* const outer_;
  std::optional<bool> alone_;
};

// Whether the launch `at`, a kernel that begins now, is closed. Assumes that its grid launches no
// other grids, and was launched by the host.
bool is_closed(const Runtime& runtime, const Operation& at);

}  // namespace lockstep::runtime
