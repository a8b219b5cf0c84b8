// Arrays of the memory accesses that reach further than 31 or 32 bits count, at the cost of a small
// one.
//
// Only the elements that the pattern asks for are there: the array begins so far below them, in
// addresses that nobody touches, that their indices are what the case says. What a kernel computes
// in too few bits is then an access outside, or an element that is not the right one.
#pragma once

#include <cstdint>

#include "properties/memory_access.h"

namespace lockstep::properties {

struct FarAccessCase : AccessCase {
  std::int64_t beyond = 0;  // elements in front of those that are there

  static void fields(FarAccessCase& c, FieldVisitor& field);
  void normalise();
};

// A gather delivers every bit from indices of `beyond` and above; of a random pattern, one element.
void gathers_far_elements(const MemoryAccess& access, const FarAccessCase& c);
// A scatter likewise; patterns that are none become consecutive.
void scatters_to_far_elements(const MemoryAccess& access, const FarAccessCase& c);

}  // namespace lockstep::properties
