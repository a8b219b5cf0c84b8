// Compares the host's accesses to pinned, managed and registered memory with operations that access
// it, too. The pages of operations that the host has not waited for are protected, so the host's
// accesses fault (faults.h). Each access is compared with the operations that are unordered with
// it:
//
//   a copy or fill that has not been executed      by the bytes that it will access; when it is, if
//                                                  an operation before it may wait for the host
//   an operation that has been executed            as another operation is (work/concurrency.h)
//   a kernel that has not been executed            when it is: the host's access is kept as an
//                                                  operation of a lane of its own (order.h)
//
// An aligned access of up to 8 bytes may be an access to a flag. It does not race with strong
// accesses of kernels. It does not race with copies of up to 8 bytes either, unless the program
// reads once and then waits in a call.
//
// Call all functions, except those of `pages`, under the device lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/runtime/host/faults.h"
#include "simulator/runtime/host/guarded_pages.h"
#include "simulator/runtime/order/touched_memory.h"

namespace lockstep::runtime {

class Runtime;
struct Pending;

class HostWatch {
 public:
  // An operation has been put, and the call does not wait for it.
  void added(Runtime& runtime, const std::shared_ptr<Pending>& pending);
  // The host may have waited for operations: opens pages of operations that are now ordered before
  // it.
  void settle(Runtime& runtime) {
    if (pages.any()) settle_guards(runtime);
  }

  // The host accesses memory. `at`: the address behind the instruction, or the return address of
  // its call. Returns whether the access conflicts with a known operation and has been reported.
  bool accessed(Runtime& runtime, const HostAccess& access, const void* at,
                const std::vector<const void*>& callers);

  GuardedPages pages;

 private:
  void settle_guards(Runtime& runtime);
  void guard(Runtime& runtime, const std::shared_ptr<Pending>& pending, const memory::Box& box,
             GuardedPages::Level level, bool is_kernel);
  void guard_reachable(Runtime& runtime, const std::shared_ptr<Pending>& pending,
                       std::vector<memory::Address> pointers);
  // The access as it is kept. If it continues the last one, it is both.
  Touched remembered(Runtime& runtime, const HostAccess& access, const void* at);

  bool refused_ = false;  // the process does not permit watching
  std::uint64_t settled_at_ = 0;
  Touched last_;  // the last access that was recorded
};

}  // namespace lockstep::runtime
