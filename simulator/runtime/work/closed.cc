#include "simulator/runtime/work/closed.h"

#include <algorithm>
#include <utility>

#include "simulator/engine/launch/helper_threads.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/state/thread_count.h"
#include "simulator/runtime/work/pending.h"

namespace lockstep::runtime {
namespace {

// Whether a conditional node has yet to decide which operations follow.
bool may_expand(const Runtime& runtime) {
  if (!runtime.order.has_reserved()) return false;
  const auto& entries = runtime.queue.entries();
  return std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
    return static_cast<bool>(static_cast<const Pending&>(*entry).expand);
  });
}

}  // namespace

Wait::Wait(const Clock& what) : what_(what), outer_(std::exchange(thread_state().wait, this)) {}
Wait::~Wait() { thread_state().wait = outer_; }

bool Wait::has_program_alone() {
  if (!alone_) alone_ = thread_count() - engine::helper_threads() == 1;
  return *alone_;
}

bool is_closed(const Runtime& runtime, const Operation& at) {
  Wait* const wait = thread_state().wait;
  return wait != nullptr && wait->covers(at) && runtime.interceptor == nullptr &&
         runtime.queue.orders_all_with(at) && !may_expand(runtime) && wait->has_program_alone();
}

}  // namespace lockstep::runtime
