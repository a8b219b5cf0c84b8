#include "simulator/runtime/state/copies_under_way.h"

namespace lockstep::runtime {

bool CopiesUnderWay::is_ordered(const Copy& copy, const StreamOrder& after) {
  const StreamOrder& s = copy.stream;
  if (s.id == after.id) return true;
  return s.blocking && after.blocking && (s.legacy || after.legacy || copy.then_legacy);
}

const std::vector<engine::ArrivingData>& CopiesUnderWay::before_kernel(const StreamOrder& stream,
                                                                       int device) {
  beside_.clear();
  std::erase_if(copies_, [&](const Copy& copy) { return is_ordered(copy, stream); });
  for (Copy& copy : copies_) {
    if (stream.legacy) copy.then_legacy = true;
    if (copy.device == device) beside_.push_back(copy.data);
  }
  return beside_;
}

void CopiesUnderWay::put(const StreamOrder& stream, int device, memory::Address to,
                         std::uint64_t bytes, std::string_view name, bool stages) {
  if (stages) std::erase_if(copies_, [&](const Copy& copy) { return is_ordered(copy, stream); });
  for (Copy& copy : copies_) copy.then_legacy |= stream.legacy;
  if (copies_.size() == kMost) copies_.erase(copies_.begin());
  copies_.push_back({stream, device, false, {to, to + bytes, std::string(name)}});
}

void CopiesUnderWay::forget() {
  copies_.clear();
  beside_.clear();
}

}  // namespace lockstep::runtime
