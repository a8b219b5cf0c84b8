#include "simulator/runtime/state/call_stack.h"

#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>

#include "simulator/engine/launch/per_thread.h"

namespace lockstep::runtime {
namespace {

// Where this library lies in memory. It stays there: no question about an address has to search the
// symbols of every object, as dladdr does, and almost every call of the API asks.
struct OwnRange {
  std::uintptr_t begin = 0, end = 0;
  bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

// The object that holds `inside`.
struct Wanted {
  std::uintptr_t inside = 0;
  OwnRange range;
};

int find_range(dl_phdr_info* info, std::size_t, void* pointer) {
  auto* const wanted = static_cast<Wanted*>(pointer);
  OwnRange object{UINTPTR_MAX, 0};
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    object.begin = std::min(object.begin, begin);
    object.end = std::max(object.end, begin + segment.p_memsz);
  }
  if (!object.holds(wanted->inside)) return 0;
  wanted->range = object;
  return 1;
}

OwnRange range_around(const void* address) {
  Wanted wanted{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(find_range, &wanted);
  return wanted.range;
}

const OwnRange& own_range() {
  static const OwnRange range = range_around(reinterpret_cast<const void*>(&call_stack));
  return range;
}

// Libraries that stand in for NVIDIA's. Each is added once and stays.
std::array<OwnRange, 8> stand_ins;
std::atomic<std::size_t> stand_in_count{0};

bool is_own(std::uintptr_t at) {
  const std::size_t count = stand_in_count.load(std::memory_order_acquire);
  return own_range().holds(at) ||
         std::any_of(stand_ins.begin(), stand_ins.begin() + count,
                     [&](const OwnRange& range) { return range.holds(at); });
}

// A walk of before. It holds as long as the stack is the same: each place of a return address still
// has that address.
struct Known {
  static constexpr std::size_t kMostFrames = 48;  // with those of this library
  struct Return {
    const std::uintptr_t* place;
    std::uintptr_t address;
  };
  const void* begin = nullptr;  // the frame that walked
  std::size_t most = 0;
  std::array<Return, kMostFrames> returns{};
  std::size_t count = 0;
  CallStack stack;

  bool holds(const void* from, std::size_t frames) const {
    return count > 0 && from == begin && frames == most &&
           std::all_of(returns.begin(), returns.begin() + count,
                       [](const Return& r) { return *r.place == r.address; });
  }
};

// Those of a thread. Frames at one place of the stack share a set: a function that calls from two
// places, or two functions called in turn, need a walk each.
class KnownStacks {
 public:
  const Known* find(const void* from, std::size_t most) const {
    for (const Known& known : set_of(from, most)) {
      if (known.holds(from, most)) return &known;
    }
    return nullptr;
  }
  void keep(const Known& known) { set_of(known.begin, known.most)[next_++ % kWays] = known; }

 private:
  static constexpr std::size_t kSets = 16, kWays = 8;
  using Set = std::array<Known, kWays>;
  const Set& set_of(const void* from, std::size_t most) const {
    return sets_[(reinterpret_cast<std::uintptr_t>(from) / 16 + most) % kSets];
  }
  Set& set_of(const void* from, std::size_t most) {
    return const_cast<Set&>(std::as_const(*this).set_of(from, most));
  }
  std::array<Set, kSets> sets_;
  std::size_t next_ = 0;
};

struct Walk {
  Known known;
  bool is_exact = true;  // every return address was at its place
  bool is_first = true;
};

_Unwind_Reason_Code step(_Unwind_Context* frame, void* pointer) {
  auto& [known, is_exact, is_first] = *static_cast<Walk*>(pointer);
  CallStack& stack = known.stack;
  const std::uintptr_t at = _Unwind_GetIP(frame);
  if (at == 0) return _URC_END_OF_STACK;
  // The place that the call to the unwinder returns to is another function's by the next walk.
  if (!std::exchange(is_first, false)) {
    // A call leaves its return address below the stack of the caller.
    const auto* const place = reinterpret_cast<const std::uintptr_t*>(_Unwind_GetCFA(frame)) - 1;
    is_exact = is_exact && known.count < Known::kMostFrames && *place == at;
    if (is_exact) known.returns[known.count++] = {place, at};
  }
  if (stack.count == 0 && is_own(at)) return _URC_NO_REASON;
  stack.frames[stack.count++] = reinterpret_cast<const void*>(at);
  return stack.count == known.most ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

}  // namespace

void is_no_caller(const void* address) {
  static std::mutex lock;
  const std::lock_guard guard(lock);
  const std::size_t count = stand_in_count.load(std::memory_order_relaxed);
  if (count == stand_ins.size() || is_own(reinterpret_cast<std::uintptr_t>(address))) return;
  stand_ins[count] = range_around(address);
  stand_in_count.store(count + 1, std::memory_order_release);
}

// A program calls from few places again and again. To unwind costs a quarter of a microsecond a
// frame; to compare, a nanosecond.
CallStack call_stack(std::size_t most) {
  const void* const from = __builtin_frame_address(0);
  most = std::min(most, CallStack::kMost);
  auto& all = engine::per_thread<KnownStacks>();
  if (const Known* const known = all.find(from, most)) return known->stack;
  Walk walk;
  walk.known.begin = from;
  walk.known.most = most;
  _Unwind_Backtrace(step, &walk);
  if (walk.is_exact) all.keep(walk.known);
  return walk.known.stack;
}

}  // namespace lockstep::runtime
