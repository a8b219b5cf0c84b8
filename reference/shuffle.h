// Reference of the warp exchanges: the source lane of a lane's value, by the definition of
// shfl.sync (PTX ISA 9.0, section 9.7.9.6), and sums over segments of a warp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/bounded.h"

namespace lockstep::reference {

enum class Exchange : std::uint8_t { kIndex, kUp, kDown, kButterfly };

// Returns the lane that `lane` (0 ... 31) reads, with operand b and segments of `width` lanes (1,
// 2, 4, 8, 16 or 32). c = (32 - width) << 8 | clamp, with clamp 0 for up and 31 otherwise, as in
// CUDA's intrinsics. Only bits 4:0 of b are used. If the source is outside the segment, a lane
// reads its own value.
int source_lane(Exchange exchange, int lane, int operand, int width);

enum class SegmentSum : std::uint8_t { kAll, kFirst, kInclusive, kExclusive };

// Sums over segments of `width` consecutive elements of x. kAll: the whole segment in every lane.
// kFirst: the whole segment in its first lane, +0 in the others. kInclusive: the elements up to and
// including a lane. kExclusive: the elements before a lane.
//
// Bound: every term passes through at most log2(width) additions, so the bound is gamma(log2 width)
// * sum |terms| with the given unit roundoff (Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed., section 4.2). Additions do not underflow inexactly and, for terms of
// moderate size, do not overflow. Integer terms whose sums of magnitudes stay below 1 / u are
// exact: bound 0. The reference itself adds sequentially in double, which adds gamma_double(width -
// 1).
Bounded segment_sums(SegmentSum kind, const Eigen::Ref<const Eigen::ArrayXd>& x, int width,
                     double unit_roundoff);

// Executes the declared chain and returns the bits of every element. `add` is the addition of T,
// rounded once. Sums add at distances width / 2, width / 4, ..., 1; scans at distances 1, 2, 4, ...
// below width.
template <class T, class Add>
std::vector<T> segment_chain(SegmentSum kind, std::span<const T> x, int width, Add&& add) {
  std::vector<T> y(x.begin(), x.end());
  const auto w = static_cast<std::size_t>(width);
  const bool scan = kind == SegmentSum::kInclusive || kind == SegmentSum::kExclusive;
  for (std::size_t first = 0; first + w <= y.size(); first += w) {
    T* const lane = y.data() + first;
    if (scan) {
      for (std::size_t distance = 1; distance < w; distance *= 2) {
        for (std::size_t j = w; j-- > distance;) lane[j] = add(lane[j - distance], lane[j]);
      }
      if (kind == SegmentSum::kInclusive) continue;
      for (std::size_t j = w; j-- > 1;) lane[j] = lane[j - 1];
      lane[0] = T{};
    } else {
      for (std::size_t distance = w / 2; distance > 0; distance /= 2) {
        for (std::size_t j = 0; j < distance; ++j) lane[j] = add(lane[j], lane[j + distance]);
      }
      for (std::size_t j = 1; j < w; ++j) lane[j] = kind == SegmentSum::kAll ? lane[0] : T{};
    }
  }
  return y;
}

}  // namespace lockstep::reference
