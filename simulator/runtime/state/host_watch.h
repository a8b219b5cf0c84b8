// What the host accesses of memory that operations access, too: pinned, managed and registered
// memory. The pages of operations that the host has not waited for are protected, so the host's
// accesses show (faults.h). Each is compared with the operations that nothing orders before it:
//
//   a copy or fill that has not been executed      by the bytes that it will access
//   an operation that has been executed            as another operation is (work/concurrency.h)
//   a kernel that has not been executed            when it is: the host's access is kept as an
//                                                  operation of a lane of its own (order.h)
//
// An aligned access of up to 8 bytes may be one of a flag. It does not race with strong accesses of
// kernels, nor, unless the program waits in a call after a single look, with copies of up to 8
// bytes.
//
// All functions but those of `pages` are called under the device lock.
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
  // An operation has been put that the call does not wait for.
  void added(Runtime& runtime, const std::shared_ptr<Pending>& pending);
  // The host may have waited for something: opens what is ordered before it now.
  void settle(Runtime& runtime) {
    if (pages.any()) settle_guards(runtime);
  }

  // The host accesses memory. `at`: behind the instruction, or where a call of it returns to.
  // Whether it conflicts with an operation that is known: then it has been reported.
  bool accessed(Runtime& runtime, const HostAccess& access, const void* at,
                const std::vector<const void*>& callers);

  GuardedPages pages;

 private:
  void settle_guards(Runtime& runtime);
  void guard(Runtime& runtime, const std::shared_ptr<Pending>& pending, const memory::Box& box,
             GuardedPages::Level level, bool is_kernel);
  void guard_reachable(Runtime& runtime, const std::shared_ptr<Pending>& pending,
                       std::vector<memory::Address> pointers);
  void remember(Runtime& runtime, const HostAccess& access, const void* at);

  bool refused_ = false;  // the process does not permit it
  std::uint64_t settled_at_ = 0;
  Touched last_;  // what was remembered last
};

}  // namespace lockstep::runtime
