// Reference of the warp exchanges: where a lane's value comes from, by the definition of shfl.sync (PTX ISA 9.0,
// section 9.7.9.6), and sums over segments of a warp.
#pragma once

#include <cstdint>

#include "reference/bounded.h"

namespace lockstep::reference {

enum class Exchange : std::uint8_t { kIndex, kUp, kDown, kButterfly };

// The lane that `lane` (0 ... 31) reads from, with operand b and segments of `width` lanes (1, 2, 4, 8, 16 or 32). With
// c = (32 - width) << 8 | clamp, clamp 0 for up and 31 otherwise, as CUDA's intrinsics pass it: only bits 4:0 of b
// count, and where the source would lie outside the segment a lane reads its own value.
int source_lane(Exchange exchange, int lane, int operand, int width);

enum class SegmentSum : std::uint8_t { kAll, kFirst, kInclusive, kExclusive };

// Sums over segments of `width` consecutive elements of x: of the whole segment in every lane, of the whole segment in
// its first lane (+0 in the others), of the elements up to and including a lane, or before it. Bound: every term goes
// through at most log2(width) additions, so gamma(log2 width) * sum |terms| in the given unit roundoff (Higham,
// Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2). Additions neither underflow inexactly nor, for
// terms of moderate size, overflow. Integer terms whose sums of magnitudes stay below 1 / u are exact: bound 0. The
// reference itself adds one after another in double: gamma_double(width - 1) more.
Bounded segment_sums(SegmentSum kind, const Eigen::Ref<const Eigen::ArrayXd>& x, int width, double unit_roundoff);

}  // namespace lockstep::reference
