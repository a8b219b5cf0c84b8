#include "simulator/runtime/order/touched_memory.h"

#include <algorithm>
#include <utility>

namespace lockstep::runtime {

const char* verb(Touch touch) {
  switch (touch) {
    case Touch::kReads: return "reads";
    case Touch::kWrites: return "writes";
    case Touch::kAllocates: return "allocates";
    case Touch::kFrees: return "frees";
  }
  return "";
}

// What is unordered after an earlier operation of a lane, and was put after a later one, is
// unordered after both: the later one stands for the earlier one where it covers its bytes.
void TouchedMemory::add(Touched touched) {
  std::erase_if(touched_, [&](const Touched& t) {
    return t.lane == touched.lane && t.writes() <= touched.writes() &&
           (t.box == touched.box || touched.box.covers_line(t.box));
  });
  if (touched_.size() == kMost) touched_.pop_front();
  touched_.push_back(std::move(touched));
}

void TouchedMemory::settle(const Clock& settled) {
  std::erase_if(touched_, [&](const Touched& t) { return settled.covers(t.lane, t.sequence); });
}

const Touched* TouchedMemory::find(const Clock& before, const memory::Box& box, bool writes) const {
  const auto found = std::find_if(touched_.begin(), touched_.end(), [&](const Touched& t) {
    return (t.writes() || writes) && !before.covers(t.lane, t.sequence) && t.box.overlaps(box);
  });
  return found == touched_.end() ? nullptr : &*found;
}

std::vector<const Touched*> TouchedMemory::unordered(const Clock& before) const {
  std::vector<const Touched*> result;
  for (const Touched& t : touched_) {
    if (!before.covers(t.lane, t.sequence)) result.push_back(&t);
  }
  return result;
}

}  // namespace lockstep::runtime
