#include "reference/histogram.h"

#include <algorithm>

namespace lockstep::reference {

Counts histogram(std::span<const int> values, std::int64_t bins) {
  eigen_assert(bins >= 1);
  const Eigen::Map<const Eigen::ArrayXi> v(values.data(), static_cast<Eigen::Index>(values.size()));
  const Eigen::Array<std::int64_t, Eigen::Dynamic, 1> bin =
      v.cast<std::int64_t>().cwiseMax(0).cwiseMin(bins - 1);
  Counts counts = Counts::Zero(bins);
  for (const std::int64_t b : bin) ++counts(b);
  return counts;
}

}  // namespace lockstep::reference
