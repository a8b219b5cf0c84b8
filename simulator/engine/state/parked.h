// Lanes that wait at an operation: access to its operands, and text for messages.
#pragma once

#include <cstdio>
#include <string>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

inline LaneMask living(const Warp& w) { return w.exists & ~*w.control->exited; }

// The operand at `slot` of the operation at which `f` waits: one value for each lane, or one mask.
template <class T>
const T* parked_operand(const Warp& w, const WarpSplit& f, Slot slot) {
  const std::byte* file = is_constant(slot) ? w.file[1] : w.control->frames[f.frame].file;
  return reinterpret_cast<const T*>(file + (slot & ~Slot{1}));
}
template <class T>
T* parked_result(const Warp& w, const WarpSplit& f, Slot slot) {
  return reinterpret_cast<T*>(w.control->frames[f.frame].file + slot);
}

inline std::string hexadecimal(std::uint32_t v) {
  char s[16];
  std::snprintf(s, sizeof s, "0x%08x", v);
  return s;
}

}  // namespace lockstep::engine
