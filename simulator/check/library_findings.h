// Findings in the kernels of NVIDIA's libraries that a user cannot mend, and that do no harm on
// hardware.
//
// Each rule names the kernel, what the finding looks like, and the lines of the library from which
// it comes (CCCL 3.0.1, of CUDA 13.0). By PTX and C++ they are mistakes all the same: they are
// reported as information, with those lines. Each was judged by the library's source and by what
// ptxas makes of it for sm_90. A finding whose place is known must lie in the library's own files;
// an access of a user's functor in the same kernel is an error as anywhere else, but for values
// that the library hands to it.
#pragma once

#include "simulator/check/finding.h"

namespace lockstep::check {

// Of a race, what costs nothing to ask. Only races of a shape that a rule names are looked for
// among the rules.
enum class RaceShape : std::uint8_t {
  kOther,
  kLaterBlockWrites,  // a block writes what a block of a lower index has read
  kWritesOfABlock,    // two threads of one block write
  kWarpsOfABlock,     // a thread reads what one of another warp of its block writes
  kBarrierEnds,  // a thread invalidates an mbarrier object that others of its block have looked at
};

// Why the finding is known, in a sentence with the library's lines; nullptr when it is not. `shape`
// counts for races alone.
const char* known_in_library(const Finding& finding, RaceShape shape = RaceShape::kOther);

}  // namespace lockstep::check
