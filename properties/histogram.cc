#include "properties/histogram.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "harness/device.h"
#include "harness/property.h"
#include "harness/refusal.h"
#include "properties/no_launch.h"
#include "reference/histogram.h"

namespace lockstep::properties {
namespace {

using kernels::HistogramPath;
using kernels::HistogramPlan;
using kernels::HistogramShape;
using Count = unsigned long long;

std::vector<Count> expected(const std::vector<int>& values, std::int64_t bins) {
  const reference::Counts counts = reference::histogram(values, bins);
  return {counts.begin(), counts.end()};
}

// Bins that the shared memory of one block can hold on the device, by its own account: 32 bits a bin.
std::int64_t bins_a_block() {
  return static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin / sizeof(unsigned));
}

// Room for counts that a failed launch would leave unwritten, without a comparison.
DeviceArray<Count> room_for(const HistogramCase& c) {
  return DeviceArray<Count>::output("counts", c.bins, {.misalignment = c.counts_offset, .poison = c.poison});
}

HistogramShape shape_of(const HistogramCase& c) {
  return {.block = c.block, .cluster = c.cluster, .max_blocks = c.max_blocks};
}

void judge(const Histogram& histogram, const HistogramCase& c) {
  const std::vector<int> values = c.values();
  REQUIRE_BITWISE_EQUAL(c.launch(histogram, values), expected(values, c.bins));
}

}  // namespace

void HistogramCase::fields(HistogramCase& c, FieldVisitor& field) {
  using enum kernels::HistogramPath;
  fields_of(c, field, {{"global", kGlobal}, {"shared", kShared}, {"automatic", kAutomatic}}, 4096, kMost);
}

void HistogramCase::fields_of(HistogramCase& c, FieldVisitor& field, const Paths& paths, std::int64_t most_bins,
                              std::int64_t most) {
  using enum Spread;
  field("n", c.n, sizes(0, most));
  field("bins", c.bins, sizes(1, most_bins));
  field("block", c.block, one_of<int>({32, 64, 128, 256, 512, 1024, 96, 1, 31, 33, 1000}));
  field("max_blocks", c.max_blocks, one_of<int>({1 << 16, 1, 2, 3, 5}));
  field("path", c.path, choice<kernels::HistogramPath>(paths));
  field("cluster", c.cluster, one_of<int>({0, 2, 4, 8, 16}));
  field("values_offset", c.values_offset, range(0, 31));
  field("counts_offset", c.counts_offset, range(0, 31));
  field("poison", c.poison, poisons());
  field("spread", c.spread,
        choice<Spread>({{"uniform", kUniform},
                        {"in_range", kInRange},
                        {"skewed", kSkewed},
                        {"one_bin", kOneBin},
                        {"below", kBelow},
                        {"above", kAbove},
                        {"edges", kEdges}}));
  field("seed", c.seed, seeds());
}

void ClusterHistogramCase::fields(ClusterHistogramCase& c, FieldVisitor& field) {
  fields_of(c, field, {{"cluster", kernels::HistogramPath::kCluster}}, 4096, 1 << 14);
}

void CapacityHistogramCase::fields(CapacityHistogramCase& c, FieldVisitor& field) {
  using enum kernels::HistogramPath;
  fields_of(c, field, {{"automatic", kAutomatic}, {"shared", kShared}, {"cluster", kCluster}, {"global", kGlobal}},
            1 << 20, 4096);
  field("around", c.around, one_of<int>({0, 1, 2, 4, 8, 16}));
  field("excess", c.excess, range(-3, 3));
}

void ScheduledHistogramCase::fields(ScheduledHistogramCase& c, FieldVisitor& field) {
  using enum kernels::HistogramPath;
  fields_of(c, field, {{"global", kGlobal}, {"shared", kShared}}, 300, 1 << 11);
}

void SplitHistogramCase::fields(SplitHistogramCase& c, FieldVisitor& field) {
  HistogramCase::fields(c, field);
  field("first", c.first, sizes(0, kMost));
}

void PeriodicHistogramCase::fields(PeriodicHistogramCase& c, FieldVisitor& field) {
  HistogramCase::fields(c, field);
  field("period", c.period, sizes(1, 3000));
}

void HugeHistogramCase::fields(HugeHistogramCase& c, FieldVisitor& field) {
  using enum kernels::HistogramPath;
  constexpr std::int64_t kPastInt = std::int64_t{1} << 31;
  field("n", c.n, one_of<std::int64_t>({kPastInt + 1, kPastInt, kPastInt + 1000003}));
  field("bins", c.bins, sizes(1, 4096));
  field("block", c.block, one_of<int>({1024, 1000, 256}));
  field("max_blocks", c.max_blocks, one_of<int>({1 << 16, 3, 1}));
  field("path", c.path, choice<kernels::HistogramPath>({{"shared", kShared}, {"global", kGlobal}}));
  field("seed", c.seed, seeds());
  field("period", c.period, sizes(1, 3000));
}

void RefusedHistogramCase::fields(RefusedHistogramCase& c, FieldVisitor& field) {
  using enum Mistake;
  using enum kernels::HistogramPath;
  fields_of(c, field, {{"global", kGlobal}, {"shared", kShared}, {"automatic", kAutomatic}}, 300, 1 << 10);
  field("mistake", c.mistake,
        choice<Mistake>({{"negative_size", kNegativeSize},
                         {"huge_size", kHugeSize},
                         {"no_bins", kNoBins},
                         {"negative_bins", kNegativeBins},
                         {"no_threads", kNoThreads},
                         {"too_many_threads", kTooManyThreads},
                         {"no_blocks", kNoBlocks},
                         {"null_values", kNullValues},
                         {"null_counts", kNullCounts},
                         {"misaligned_values", kMisalignedValues},
                         {"misaligned_counts", kMisalignedCounts},
                         {"overlap", kOverlap},
                         {"odd_cluster", kOddCluster},
                         {"too_many_bins_for_shared", kTooManyBinsForShared},
                         {"negative_period", kNegativePeriod},
                         {"unknown_path", kUnknownPath}}));
}

void HistogramCase::normalise() {
  if (n > 1 << 13) max_blocks = 1 << 16;  // one block and ten thousand elements show nothing that a thousand do not
  if (n > 1 << 13 && block < 32) block = 32;
}

void ClusterHistogramCase::normalise() {
  if (cluster == 0) cluster = 2;
  if (cluster == 16) cluster = 8;
  HistogramCase::normalise();
}

void CapacityHistogramCase::normalise() {
  constexpr std::int64_t kLeast = 1;
  if (around > 0) bins = std::max(bins_a_block() * around + excess, kLeast);
  if (around == 0) excess = 0;
  if (around > 0 && cluster != 0) cluster = 0;
  HistogramCase::normalise();
}

void SplitHistogramCase::normalise() {
  first = std::min(first, n);
  HistogramCase::normalise();
}

void RefusedHistogramCase::normalise() {
  n = std::max<std::int64_t>(n, 1);
  if (mistake == Mistake::kTooManyBinsForShared) path = HistogramPath::kShared;
  HistogramCase::normalise();
}

std::vector<int> HistogramCase::values() const {
  constexpr std::int64_t kLow = std::numeric_limits<int>::min(), kHigh = std::numeric_limits<int>::max();
  std::vector<int> v(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t r = mix(mix(seed) + static_cast<std::uint64_t>(i));  // element i does not depend on n
    const auto within = [&](std::int64_t low, std::int64_t high) {
      return static_cast<int>(low + static_cast<std::int64_t>(r % static_cast<std::uint64_t>(high - low + 1)));
    };
    switch (spread) {
      case Spread::kUniform:
        v[i] = within(-bins / 4 - 1, bins + bins / 4);
        break;
      case Spread::kInRange:
        v[i] = within(0, bins - 1);
        break;
      case Spread::kSkewed:
        v[i] = static_cast<int>((r % static_cast<std::uint64_t>(bins)) >> (r >> 59));
        break;
      case Spread::kOneBin:
        v[i] = static_cast<int>(mix(seed) % static_cast<std::uint64_t>(bins));
        break;
      case Spread::kBelow:
        v[i] = within(kLow, -1);
        break;
      case Spread::kAbove:
        v[i] = within(bins, kHigh);
        break;
      case Spread::kEdges:
        v[i] = static_cast<int>(r % 4 == 0 ? -1 : r % 4 == 1 ? 0 : r % 4 == 2 ? bins - 1 : bins);
        break;
    }
  }
  return v;
}

std::vector<Count> HistogramCase::launch(const Histogram& histogram, const std::vector<int>& values,
                                         HistogramPlan* used) const {
  const auto in = DeviceArray<int>::input("values", values, {.misalignment = values_offset, .poison = poison});
  const auto out = room_for(*this);
  REQUIRE_CUDA(histogram(path, in.data(), static_cast<std::int64_t>(values.size()), out.data(), bins, shape_of(*this),
                         used, nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  const std::vector<Count> counts = out.fetch();
  if (out.poison_is_proof()) {
    for (std::size_t b = 0; b < counts.size(); ++b) {
      if (out.holds_poison(b, counts[b]))
        fail_case({Reason::kUnwritten, "", fmt::format("bin {} was never written: it holds its poison", b)});
    }
  }
  return counts;
}

void histogram_matches_its_reference(const Histogram& histogram, const HistogramCase& c) { judge(histogram, c); }

void histogram_in_clusters_matches_its_reference(const Histogram& histogram, const ClusterHistogramCase& c) {
  require_capability({Capability::kClusters});
  judge(histogram, c);
}

void histogram_in_clusters_of_16_matches_its_reference(const Histogram& histogram, const ClusterHistogramCase& c) {
  require_capability({Capability::kClusterSize16});
  ClusterHistogramCase widest = c;
  widest.cluster = 16;
  judge(histogram, widest);
}

void histogram_bins_sum_to_n(const Histogram& histogram, const HistogramCase& c) {
  const std::vector<Count> counts = c.launch(histogram);
  const Count sum = std::accumulate(counts.begin(), counts.end(), Count{0});
  REQUIRE_LAW(sum == static_cast<Count>(c.n), "the bins sum to {}, but there are {} elements", sum, c.n);
}

void histogram_does_not_depend_on_order(const Histogram& histogram, const HistogramCase& c) {
  std::vector<int> values = c.values();
  const std::vector<Count> before = c.launch(histogram, values);
  Bits bits(c.seed);
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[bits.below(i)]);
  REQUIRE_BITWISE_EQUAL(c.launch(histogram, values), before);
}

void histogram_of_a_concatenation_adds(const Histogram& histogram, const SplitHistogramCase& c) {
  const std::vector<int> values = c.values(), front(values.begin(), values.begin() + c.first),
                         back(values.begin() + c.first, values.end());
  std::vector<Count> sum = c.launch(histogram, front);
  const std::vector<Count> rest = c.launch(histogram, back);
  std::ranges::transform(sum, rest, sum.begin(), std::plus<>());
  REQUIRE_BITWISE_EQUAL(c.launch(histogram, values), sum);
}

void histogram_paths_agree(const Histogram& histogram, const HistogramCase& c) {
  HistogramCase other = c;
  other.path = HistogramPath::kGlobal;
  const std::vector<Count> first = other.launch(histogram);
  for (const HistogramPath path : {HistogramPath::kShared, HistogramPath::kAutomatic}) {
    other.path = path;
    REQUIRE_BITWISE_EQUAL(other.launch(histogram), first);
  }
}

namespace {

// Element i is values[i mod period]: whole periods, and part of one.
void judge_periodic(const Histogram& histogram, const PeriodicHistogramCase& c) {
  PeriodicHistogramCase one = c;
  one.n = c.period;
  const std::vector<int> values = one.values();
  const std::int64_t whole = c.n / c.period, rest = c.n % c.period;
  const std::vector<Count> period = expected(values, c.bins),
                           part = expected({values.begin(), values.begin() + rest}, c.bins);
  std::vector<Count> counts(c.bins);
  for (std::int64_t b = 0; b < c.bins; ++b) counts[b] = static_cast<Count>(whole) * period[b] + part[b];
  const auto in = DeviceArray<int>::input("values", values, {.misalignment = c.values_offset, .poison = c.poison});
  const auto out = room_for(c);
  HistogramShape shape = shape_of(c);
  shape.period = c.period;
  REQUIRE_CUDA(histogram(c.path, in.data(), c.n, out.data(), c.bins, shape, nullptr, nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_BITWISE_EQUAL(out, counts);
}

}  // namespace

void histogram_of_a_period_repeated_multiplies(const Histogram& histogram, const PeriodicHistogramCase& c) {
  judge_periodic(histogram, c);
}

void histogram_counts_past_31_bits(const Histogram& histogram, const HugeHistogramCase& c) {
  judge_periodic(histogram, c);
}

void histogram_counts_past_31_bits_in_clusters(const Histogram& histogram, const HugeHistogramCase& c) {
  require_capability({Capability::kClusters});
  HugeHistogramCase clusters = c;
  clusters.path = HistogramPath::kCluster;
  judge_periodic(histogram, clusters);
}

void histogram_takes_the_first_path_that_holds_the_bins(const Histogram& histogram, const CapacityHistogramCase& c) {
  const std::int64_t a_block = bins_a_block();
  const auto fits = [&](HistogramPath path) {
    const int cluster =
        c.cluster == 0 ? device_properties().max_cluster_blocks : std::min(c.cluster, device_properties().max_cluster_blocks);
    return path == HistogramPath::kGlobal || (path == HistogramPath::kShared && c.bins <= a_block) ||
           (path == HistogramPath::kCluster && cluster > 1 && c.bins <= a_block * cluster);
  };
  // Whether the largest clusters can be resident with all their memory is the device's to say: then a refusal, or the
  // next path, is right too.
  const bool certain = c.bins <= a_block * std::min(device_properties().max_cluster_blocks, 8) && c.cluster != 16;
  const auto in = DeviceArray<int>::input("values", c.values(), {.misalignment = c.values_offset, .poison = c.poison});
  const auto out = room_for(c);
  HistogramPlan plan;
  const auto status = histogram(c.path, in.data(), c.n, out.data(), c.bins, shape_of(c), &plan, nullptr);
  REQUIRE_CUDA(cudaDeviceSynchronize());
  if (!status.ok()) {
    REQUIRE_LAW(c.path != HistogramPath::kAutomatic, "the automatic path refuses {} bins: {}", c.bins, status.message);
    REQUIRE_LAW(!fits(c.path) || !certain, "refused although {} bins fit: {}", c.bins, status.message);
    REQUIRE_LAW(status.error == cudaErrorInvalidValue && !status.message.empty(), "refused with {} ({})",
                cudaGetErrorName(status.error), status.message);
    return;
  }
  REQUIRE_LAW(fits(plan.path), "{} bins do not fit the path that was taken, {}", c.bins, int(plan.path));
  if (c.path != HistogramPath::kAutomatic) {
    REQUIRE_LAW(plan.path == c.path, "asked for path {}, took {}", int(c.path), int(plan.path));
  } else if (certain) {
    const HistogramPath first = fits(HistogramPath::kShared)    ? HistogramPath::kShared
                                : fits(HistogramPath::kCluster) ? HistogramPath::kCluster
                                                                : HistogramPath::kGlobal;
    REQUIRE_LAW(plan.path == first, "{} bins: path {} holds them, but {} was taken", c.bins, int(first),
                int(plan.path));
  }
  REQUIRE_BITWISE_EQUAL(out, expected(c.values(), c.bins));
}

void histogram_is_deterministic(const Histogram& histogram, const ScheduledHistogramCase& c) {
  constexpr int kSchedules = 50;
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return c.launch(histogram); });
}

void histogram_in_clusters_is_deterministic(const Histogram& histogram, const ScheduledHistogramCase& c) {
  require_capability({Capability::kClusters});
  constexpr int kSchedules = 50;
  ScheduledHistogramCase clusters = c;
  clusters.path = HistogramPath::kCluster;
  clusters.cluster = c.cluster == 16 ? 8 : std::max(c.cluster, 2);
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return clusters.launch(histogram); });
}

void histogram_refuses_bad_arguments(const Histogram& histogram, const RefusedHistogramCase& c) {
  using enum RefusedHistogramCase::Mistake;
  const auto in = DeviceArray<int>::input("values", c.values(), {.misalignment = c.values_offset, .poison = c.poison});
  const auto out = room_for(c);
  struct {
    HistogramPath path;
    const int* values;
    std::int64_t n;
    Count* counts;
    std::int64_t bins;
    HistogramShape shape;
  } with = {c.path, in.data(), c.n, out.data(), c.bins, shape_of(c)};
  switch (c.mistake) {
    case kNegativeSize:
      with.n = -c.n;
      break;
    case kHugeSize:
      with.n = std::numeric_limits<std::int64_t>::max();
      break;
    case kNoBins:
      with.bins = 0;
      break;
    case kNegativeBins:
      with.bins = -c.bins;
      break;
    case kNoThreads:
      with.shape.block = 0;
      break;
    case kTooManyThreads:
      with.shape.block = 1025;
      break;
    case kNoBlocks:
      with.shape.max_blocks = 0;
      break;
    case kNullValues:
      with.values = nullptr;
      break;
    case kNullCounts:
      with.counts = nullptr;
      break;
    case kMisalignedValues:
      with.values = shifted_by_bytes(with.values, 2);
      break;
    case kMisalignedCounts:
      with.counts = shifted_by_bytes(with.counts, 4);
      break;
    case kOverlap:
      with.values = reinterpret_cast<const int*>(with.counts);
      break;
    case kOddCluster:
      with.shape.cluster = 3;
      break;
    case kTooManyBinsForShared:
      with.bins = bins_a_block() + 1;
      break;
    case kNegativePeriod:
      with.shape.period = -1;
      break;
    case kUnknownPath:
      with.path = static_cast<HistogramPath>(4);
      break;
  }
  REQUIRE_REFUSED(histogram(with.path, with.values, with.n, with.counts, with.bins, with.shape, nullptr, nullptr));
  REQUIRE_UNTOUCHED(out);
}

void histogram_of_nothing_is_zero_without_a_launch(const Histogram& histogram, const HistogramCase& c) {
  const auto out = room_for(c);
  require_no_launch([&](cudaStream_t stream) {
    const auto status = histogram(c.path, nullptr, 0, out.data(), c.bins, shape_of(c), nullptr, stream);
    REQUIRE_LAW(status.ok(), "n = 0 is legal, but the launcher answers: {}", status.message);
  });
  REQUIRE_BITWISE_EQUAL(out, std::vector<Count>(c.bins));
}

const std::vector<Law<Histogram>>& histogram_laws() {
  static const std::vector<Law<Histogram>> laws = {
      law("OfNothingIsZeroWithoutALaunch", histogram_of_nothing_is_zero_without_a_launch, 4),
      law("RefusesBadArguments", histogram_refuses_bad_arguments, 4),
      law("MatchesItsReference", histogram_matches_its_reference),
      law("InClustersMatchesItsReference", histogram_in_clusters_matches_its_reference),
      law("InClustersOf16MatchesItsReference", histogram_in_clusters_of_16_matches_its_reference),
      law("BinsSumToN", histogram_bins_sum_to_n),
      law("DoesNotDependOnOrder", histogram_does_not_depend_on_order),
      law("OfAConcatenationAdds", histogram_of_a_concatenation_adds),
      law("PathsAgree", histogram_paths_agree),
      law("TakesTheFirstPathThatHoldsTheBins", histogram_takes_the_first_path_that_holds_the_bins),
      law("IsDeterministic", histogram_is_deterministic, 50),
      law("InClustersIsDeterministic", histogram_in_clusters_is_deterministic, 100),
  };
  return laws;
}

}  // namespace lockstep::properties
