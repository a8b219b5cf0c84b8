// Times the histogram's three paths by the number of bins: shared memory of a block, of a cluster,
// and global memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/device/device.h"
#include "harness/ledger/session.h"
#include "kernels/histogram.h"
#include "tests/timing/timing.h"

namespace lockstep::timing {
namespace {

using kernels::HistogramPath;

constexpr std::int64_t kElements = 1 << 25;

class HistogramTiming : public Timing {
 protected:
  // A grid that fills the GPU a few times: each block clears and adds its bins once.
  kernels::HistogramShape shape() const {
    return {.block = 512, .max_blocks = 8 * device_properties().sms};
  }

  void against_global(const std::string& name, HistogramPath path, int bins) {
    DeviceMemory values(kElements * sizeof(int)), global(bins * sizeof(unsigned long long)),
        other(global.bytes());
    values.write(scattered_integers(kElements, bins).data(), values.bytes());
    const auto contestant = [&](const std::string& who, HistogramPath which,
                                const DeviceMemory& counts) -> Contestant {
      return {who, [=, this, &values, &counts](cudaStream_t stream) {
                return text(kernels::histogram(which, values.as<const int>(), kElements,
                                               counts.as<unsigned long long>(), bins, shape(),
                                               nullptr, stream));
              }};
    };
    compare(fmt::format("histogram, {} elements, {} bins", kElements, bins),
            contestant("global", HistogramPath::kGlobal, global), contestant(name, path, other));
    EXPECT_EQ(global.read<std::uint64_t>(), other.read<std::uint64_t>());
  }

  static std::int64_t capacity(HistogramPath path, int cluster) {
    std::int64_t bins = 0;
    const kernels::LaunchStatus status = kernels::histogram_capacity(path, cluster, bins);
    EXPECT_TRUE(status.ok()) << status.message;
    return bins;
  }
};

TEST_F(HistogramTiming, SharedAgainstGlobalByBins) {
  for (const int bins : {64, 256, 1024, 8192})
    against_global("shared", HistogramPath::kShared, bins);
}

TEST_F(HistogramTiming, ClusterAgainstGlobalByBins) {
  if (capacity(HistogramPath::kCluster, 8) == 0) {
    current_record().verdict = Verdict::kNotApplicable;
    current_record().reason =
        "needs thread-block clusters (compute capability 9.0); the device has none";
    GTEST_SKIP() << current_record().reason;
  }
  for (const int bins : {65536, 131072, 262144}) {
    if (bins <= capacity(HistogramPath::kCluster, 8))
      against_global("cluster", HistogramPath::kCluster, bins);
  }
}

}  // namespace
}  // namespace lockstep::timing
