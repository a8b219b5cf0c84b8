#include "reference/shuffle.h"

namespace lockstep::reference {

int source_lane(Exchange exchange, int lane, int operand, int width) {
  const int bval = operand & 0x1f;
  const int clamp = exchange == Exchange::kUp ? 0 : 0x1f;
  const int segment_mask = (32 - width) & 0x1f;
  const int max_lane = (lane & segment_mask) | (clamp & ~segment_mask),
            min_lane = lane & segment_mask;
  int source = lane;
  bool in_segment = true;
  switch (exchange) {
    case Exchange::kUp:
      source = lane - bval;
      in_segment = source >= max_lane;  // with a clamp of 0, the segment's first lane
      break;
    case Exchange::kDown:
      source = lane + bval;
      in_segment = source <= max_lane;
      break;
    case Exchange::kButterfly:
      source = lane ^ bval;
      in_segment = source <= max_lane;
      break;
    case Exchange::kIndex:
      source = min_lane | (bval & ~segment_mask);
      in_segment = source <= max_lane;
      break;
  }
  return in_segment ? source : lane;
}

Bounded segment_sums(SegmentSum kind, const Eigen::Ref<const Eigen::ArrayXd>& x, int width,
                     double unit_roundoff) {
  eigen_assert(width >= 1 && x.size() % width == 0);
  int depth = 0;
  while ((1 << depth) < width) ++depth;
  const double u = unit_roundoff, relative = depth * u / (1 - depth * u) + gamma<double>(width - 1);
  Bounded sums{Eigen::ArrayXd::Zero(x.size()), Eigen::ArrayXd::Zero(x.size())};
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const Eigen::Index first = i / width * width;
    Eigen::Index count = width;
    if (kind == SegmentSum::kFirst && i != first) count = 0;
    if (kind == SegmentSum::kInclusive) count = i - first + 1;
    if (kind == SegmentSum::kExclusive) count = i - first;
    const auto terms = x.segment(first, count);
    const double magnitude = terms.abs().sum();
    const bool exact = (terms == terms.round()).all() && magnitude < 1 / u;
    sums.value(i) = terms.sum();
    sums.bound(i) = exact ? 0 : relative * magnitude;
  }
  return sums;
}

}  // namespace lockstep::reference
