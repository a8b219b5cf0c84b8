// Memory accesses in arrays that extend past 31 or 32 bits, at the cost of a small array.
//
// Only the elements that the pattern accesses are backed by memory. The array begins far below
// them, at addresses that are never accessed, so that they have the case's indices. If a kernel
// computes an index in too few bits, it accesses an invalid address or a wrong element.
#pragma once

#include <cstdint>

#include "properties/memory_access.h"

namespace lockstep::properties {

struct FarAccessCase : AccessCase {
  std::int64_t beyond = 0;  // elements in front of the backed ones

  static void fields(FarAccessCase& c, FieldVisitor& field);
  void normalise();
};

// A gather must copy every bit from indices of `beyond` and above; for a random pattern, one
// element.
void gathers_far_elements(const MemoryAccess& access, const FarAccessCase& c);
// The same for a scatter; patterns that a scatter lacks become consecutive.
void scatters_to_far_elements(const MemoryAccess& access, const FarAccessCase& c);

}  // namespace lockstep::properties
