#include "properties/many_periods.h"

#include <limits>
#include <vector>

#include "harness/device/device.h"
#include "harness/device/device_array.h"
#include "harness/device/far_array.h"
#include "harness/property/compare.h"

namespace lockstep::properties {
namespace {

using kernels::HistogramPath;
using Count = unsigned long long;

// No multiple of 2^31 or 2^32 is within kEnds of a multiple of the period. If an index is too small
// by either, its element has another place in the period.
constexpr std::int64_t kPeriod = 1'000'003, kElements = (std::int64_t{1} << 32) + 300'007;
constexpr std::int64_t kEnds = 1 << 14;  // elements at either end; more than kBlocks blocks have
constexpr std::uint64_t kBlocks = 8;

std::vector<int> values() {
  std::vector<int> all(kPeriod, 0);
  for (std::int64_t i = 0; i < kEnds; ++i) {
    all[static_cast<std::size_t>(i)] = 1;
    all[static_cast<std::size_t>((kElements - 1 - i) % kPeriod)] = 1;
  }
  return all;
}

}  // namespace

void ManyPeriodsCase::fields(ManyPeriodsCase& c, FieldVisitor& field) {
  field("block", c.block, one_of<int>({256, 1024, 96}));
}

void counts_many_periods(const Histogram& histogram, const ManyPeriodsCase& c) {
  const SampledBlocks sampled(kBlocks);
  const std::vector<int> period = values();
  Count at_the_ends = 0;
  for (std::int64_t i = 0; i < kPeriod; ++i) {
    if (period[static_cast<std::size_t>(i)] == 1)
      at_the_ends += static_cast<Count>(kElements / kPeriod + (i < kElements % kPeriod));
  }
  const auto in = DeviceArray<int>::input("values", period, {});
  for (const HistogramPath path :
       {HistogramPath::kGlobal, HistogramPath::kShared, HistogramPath::kCluster}) {
    if (path == HistogramPath::kCluster && device_properties().max_cluster_blocks == 1) continue;
    const auto out = DeviceArray<Count>::output("counts", 2, {});
    kernels::HistogramShape shape = {.block = c.block};
    shape.max_blocks = std::numeric_limits<int>::max();
    shape.period = kPeriod;
    REQUIRE_CUDA(histogram(path, in.data(), kElements, out.data(), 2, shape, nullptr, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    const std::vector<Count> counts = out.fetch();
    const int which = static_cast<int>(path);
    if (is_simulator()) {
      REQUIRE_LAW(counts[0] == 0, "path {}: of the first and the last elements {} count as others",
                  which, counts[0]);
      REQUIRE_LAW(counts[1] >= static_cast<Count>(c.block) && counts[1] <= 2 * kEnds,
                  "path {}: the first and the last blocks count {} elements", which, counts[1]);
    } else {
      REQUIRE_LAW(counts[1] == at_the_ends && counts[0] + counts[1] == kElements,
                  "path {}: {} and {} elements, not {} and {}", which, counts[0], counts[1],
                  kElements - at_the_ends, at_the_ends);
    }
  }
}

void counts_at_far_ends(const Histogram& histogram, const ManyPeriodsCase& c) {
  require_capability({Capability::kSimulator});
  constexpr int kFirst = 1, kLast = 2, kBins = 3, kLeft = 5;
  const SampledBlocks sampled(2);
  for (const HistogramPath path :
       {HistogramPath::kGlobal, HistogramPath::kShared, HistogramPath::kCluster}) {
    if (path == HistogramPath::kCluster && device_properties().max_cluster_blocks == 1) continue;
    const std::int64_t unit = std::int64_t{c.block} * (path == HistogramPath::kCluster ? 2 : 1);
    for (const int bits : {31, 32}) {
      // Whole units, and a last one of few elements.
      const std::int64_t n = ((std::int64_t{1} << bits) / unit + 1) * unit + kLeft;
      const auto bytes = static_cast<std::uint64_t>(n) * sizeof(int),
                 window = static_cast<std::uint64_t>(2 * unit) * sizeof(int);
      FarArray values("values", {{0, window}, {bytes - window, window}});
      const auto fill = [&](std::uint64_t at, int value) {
        const std::vector<int> all(static_cast<std::size_t>(2 * unit), value);
        values.write(at, reinterpret_cast<const unsigned char*>(all.data()), window);
      };
      fill(0, kFirst), fill(bytes - window, kLast);
      const auto out = DeviceArray<Count>::output("counts", kBins, {});
      kernels::HistogramShape shape = {.block = c.block, .cluster = 2};
      shape.max_blocks = std::numeric_limits<int>::max();
      REQUIRE_CUDA(histogram(path, reinterpret_cast<const int*>(values.data()), n, out.data(),
                             kBins, shape, nullptr, nullptr));
      REQUIRE_CUDA(cudaDeviceSynchronize());
      REQUIRE_BITWISE_EQUAL(out, (std::vector<Count>{0, static_cast<Count>(unit), kLeft}));
    }
  }
}

}  // namespace lockstep::properties
