// Reference of the histogram: exact counts. Elements below 0 count in the first bin, elements of
// `bins` and above in the last.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

namespace lockstep::reference {

using Counts = Eigen::Array<unsigned long long, Eigen::Dynamic, 1>;

// bins >= 1 (asserted).
Counts histogram(std::span<const int> values, std::int64_t bins);

}  // namespace lockstep::reference
