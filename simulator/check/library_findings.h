// Known findings in the kernels of NVIDIA's libraries. A user cannot fix them, and they do no harm
// on hardware.
//
// Each rule names the kernel, the shape of the finding, and the library's source lines (CCCL 3.0.1,
// of CUDA 13.0). By the rules of PTX and C++ they are mistakes, so they are reported as
// information, with those lines. Each was judged by the library's source and by the code that ptxas
// generates for sm_90. If the place of a finding is known, it must lie in the library's own files.
// An access in a user's functor in the same kernel is an error as usual, unless it uses a value
// that the library passed to it.
#pragma once

#include "simulator/check/finding.h"

namespace lockstep::check {

// The shape of a race, as far as it is cheap to determine. Only races of a shape other than kOther
// are compared with the rules.
enum class RaceShape : std::uint8_t {
  kOther,
  kLaterBlockWrites,  // a block writes what a block of a lower index has read
  kWritesOfABlock,    // two threads of one block write
  kWarpsOfABlock,     // a thread reads what one of another warp of its block writes
  kBarrierEnds,       // a thread invalidates an mbarrier object that others of its block have read
};

// Returns a sentence that explains why the finding is known, with the library's lines; nullptr if
// it is not known. `shape` matters for races only.
const char* known_in_library(const Finding& finding, RaceShape shape = RaceShape::kOther);

}  // namespace lockstep::check
