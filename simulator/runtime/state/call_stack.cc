#include "simulator/runtime/state/call_stack.h"

#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace lockstep::runtime {
namespace {

// Where this library lies in memory. It stays there: no question about an address has to search the
// symbols of every object, as dladdr does, and almost every call of the API asks.
struct OwnRange {
  std::uintptr_t begin = 0, end = 0;
  bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

int find_own_range(dl_phdr_info* info, std::size_t, void* range) {
  OwnRange object{UINTPTR_MAX, 0};
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    object.begin = std::min(object.begin, begin);
    object.end = std::max(object.end, begin + segment.p_memsz);
  }
  if (!object.holds(reinterpret_cast<std::uintptr_t>(&call_stack))) return 0;
  *static_cast<OwnRange*>(range) = object;
  return 1;
}

const OwnRange& own_range() {
  static const OwnRange range = [] {
    OwnRange found;
    dl_iterate_phdr(find_own_range, &found);
    return found;
  }();
  return range;
}

struct Walk {
  CallStack stack;
  std::size_t most;
};

_Unwind_Reason_Code step(_Unwind_Context* frame, void* walk) {
  auto& [stack, most] = *static_cast<Walk*>(walk);
  const std::uintptr_t at = _Unwind_GetIP(frame);
  if (at == 0) return _URC_END_OF_STACK;
  if (own_range().holds(at) && stack.count == 0) return _URC_NO_REASON;
  stack.frames[stack.count++] = reinterpret_cast<const void*>(at);
  return stack.count == most ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

}  // namespace

CallStack call_stack(std::size_t most) {
  Walk walk{{}, std::min(most, CallStack::kMost)};
  _Unwind_Backtrace(step, &walk);
  return walk.stack;
}

}  // namespace lockstep::runtime
