#include "properties/histogram.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "harness/device/device.h"
#include "harness/property/schedule.h"
#include "properties/contract_laws.h"
#include "properties/far_bins.h"
#include "properties/many_periods.h"
#include "properties/no_launch.h"
#include "properties/streams.h"
#include "reference/histogram.h"

namespace lockstep::properties {
namespace {

using kernels::HistogramPath;
using kernels::HistogramPlan;
using kernels::HistogramShape;
using Count = unsigned long long;

// The bins that the shared memory of one block can hold, by the device's properties: 32 bits per
// bin.
std::int64_t bins_a_block() {
  return static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin /
                                   sizeof(unsigned));
}

constexpr int kPortableCluster = 8, kMaxCluster = 16;  // blocks

// The distribution of the elements relative to the bins.
enum class Spread : std::uint8_t {
  kUniform,  // in range and slightly outside, uniform
  kInRange,  // in range, uniform
  kSkewed,   // in range, the first bins far more often
  kOneBin,   // all equal
  kBelow,    // all below 0, down to the least int
  kAbove,    // all past the last bin, up to the greatest int
  kEdges,    // -1, 0, bins - 1 and bins, equally often
};

struct HistogramCase {
  std::int64_t n = 0;
  std::int64_t bins = 1;
  int block = 32;
  int max_blocks = 1 << 16;
  HistogramPath path = HistogramPath::kGlobal;
  int cluster = 0;
  std::int64_t flush_after = kernels::kHistogramFlushAfter;
  int values_offset = 0, counts_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Spread spread = Spread::kUniform;
  std::uint64_t seed = 0;

  static void fields(HistogramCase& c, FieldVisitor& field) {
    using enum HistogramPath;
    fields_of(c, field, {{"global", kGlobal}, {"shared", kShared}, {"automatic", kAutomatic}}, 4096,
              kMax);
  }
  // Limits the case to the capacity of its path; another case type tests its excess.
  void normalise() {
    if (n > 1 << 13)
      max_blocks = 1 << 16;  // for one block, a thousand elements test as much as ten thousand
    if (n > 1 << 13 && block < 32) block = 32;
    if (path == HistogramPath::kGlobal || steps() <= kMaxSteps) return;
    block = std::max(block, 33);  // a single thread clears and flushes thousands of bins one by one
    if (steps() > kMaxSteps) max_blocks = std::min(max_blocks, 5);
  }
  // The rounds of a block's threads over its bins, summed over blocks: each block clears its bins
  // once and flushes them at least once.
  std::int64_t steps() const {
    const std::int64_t blocks = std::clamp<std::int64_t>((n - 1) / block + 1, 1, max_blocks),
                       handed_over = n / blocks / std::max<std::int64_t>(flush_after, block) + 1;
    return blocks * (bins / block + 1) * (1 + handed_over);
  }
  // The steps of threads over elements, and over bins in shared and in global memory.
  std::int64_t work() const {
    constexpr std::int64_t kStepsOfAnElement = 4;
    const std::int64_t in_shared = path == HistogramPath::kGlobal ? 0 : steps() * block;
    return n * kStepsOfAnElement + in_shared + bins;
  }

  std::vector<int> values() const {
    constexpr std::int64_t kLow = std::numeric_limits<int>::min(),
                           kHigh = std::numeric_limits<int>::max();
    std::vector<int> v(n);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t r = mix(mix(seed) + static_cast<std::uint64_t>(i));  // independent of n
      const auto within = [&](std::int64_t low, std::int64_t high) {
        return static_cast<int>(
            low + static_cast<std::int64_t>(r % static_cast<std::uint64_t>(high - low + 1)));
      };
      switch (spread) {
        case Spread::kUniform: v[i] = within(-bins / 4 - 1, bins + bins / 4); break;
        case Spread::kInRange: v[i] = within(0, bins - 1); break;
        case Spread::kSkewed:
          v[i] = static_cast<int>((r % static_cast<std::uint64_t>(bins)) >> (r >> 59));
          break;
        case Spread::kOneBin:
          v[i] = static_cast<int>(mix(seed) % static_cast<std::uint64_t>(bins));
          break;
        case Spread::kBelow: v[i] = within(kLow, -1); break;
        case Spread::kAbove: v[i] = within(bins, kHigh); break;
        case Spread::kEdges:
          v[i] = static_cast<int>(r % 4 == 0 ? -1 : r % 4 == 1 ? 0 : r % 4 == 2 ? bins - 1 : bins);
          break;
      }
    }
    return v;
  }

  // Launches the implementation on device memory under the case's contract.
  std::vector<Count> launch(const Histogram& histogram, const std::vector<int>& values) const;
  std::vector<Count> launch(const Histogram& histogram) const {
    return launch(histogram, values());
  }

  static constexpr std::int64_t kMax = 70000;  // more than 16 bits count
  static constexpr std::int64_t kMaxSteps = 1 << 14;
  using Paths = std::initializer_list<Named<HistogramPath>>;
  static void fields_of(HistogramCase& c, FieldVisitor& field, const Paths& paths,
                        std::int64_t most_bins, std::int64_t most) {
    using enum Spread;
    field("n", c.n, sizes(0, most));
    field("bins", c.bins, sizes(1, most_bins));
    field("block", c.block, one_of<int>({32, 64, 128, 256, 512, 1024, 96, 1, 31, 33, 1000}));
    field("max_blocks", c.max_blocks, one_of<int>({1 << 16, 1, 2, 3, 5}));
    field("path", c.path, choice<HistogramPath>(paths));
    field("cluster", c.cluster, one_of<int>({0, 2, 4, 8, 16}));
    field(
        "flush_after", c.flush_after,
        one_of<std::int64_t>({kernels::kHistogramFlushAfter, 1, 33, 256, 1000, 4096, 0xffffffff}));
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
};

// The cluster path. Clusters of 16 blocks have a separate law, because not every device allows
// them.
struct ClusterHistogramCase : HistogramCase {
  static void fields(ClusterHistogramCase& c, FieldVisitor& field) {
    fields_of(c, field, {{"cluster", HistogramPath::kCluster}}, 4096, 1 << 14);
  }
  void normalise() {
    if (cluster == 0) cluster = 2;
    if (cluster == 16) cluster = 8;
    HistogramCase::normalise();
  }
};

// Numbers of bins near the capacity of each path.
struct CapacityHistogramCase : HistogramCase {
  static void fields(CapacityHistogramCase& c, FieldVisitor& field) {
    using enum HistogramPath;
    fields_of(c, field,
              {{"automatic", kAutomatic},
               {"shared", kShared},
               {"cluster", kCluster},
               {"global", kGlobal}},
              1 << 20, 4096);
    field("around", c.around, one_of<int>({0, 1, 2, 4, 8, 16}));
    field("excess", c.excess, range(-3, 3));
  }
  void normalise() {
    constexpr std::int64_t kMin = 1;
    if (around > 0) bins = std::max(bins_a_block() * around + excess, kMin);
    if (around == 0) excess = 0;
    if (around > 0 && cluster != 0) cluster = 0;
    HistogramCase::normalise();
  }
  // bins becomes the capacity of a cluster of this many blocks, plus excess; 0: bins stays as drawn
  int around = 0;
  int excess = 0;
};

// A case of moderate size, because it runs once per schedule.
struct ScheduledHistogramCase : HistogramCase {
  static void fields(ScheduledHistogramCase& c, FieldVisitor& field) {
    using enum HistogramPath;
    fields_of(c, field, {{"global", kGlobal}, {"shared", kShared}}, 300, 1 << 11);
  }
};

// The cases of the batteries: every path of the device, fewer and more bins than 48 KB of a block's
// shared memory hold, and elements that repeat.
struct LaunchedHistogramCase : HistogramCase {
  int more_bins = 0;
  std::int64_t period = 0;
  static void fields(LaunchedHistogramCase& c, FieldVisitor& field) {
    using enum HistogramPath;
    fields_of(c, field,
              {{"global", kGlobal},
               {"shared", kShared},
               {"cluster", kCluster},
               {"automatic", kAutomatic}},
              300, 1 << 11);
    field("more_bins", c.more_bins, one_of({0, kBinsOf48KB, 2 * kBinsOf48KB, 0}));
    field("period", c.period, one_of<std::int64_t>({0, 1, 33, 0, 2000}));
  }
  void normalise() {
    if (path == HistogramPath::kCluster && device_properties().max_cluster_blocks < 2)
      path = HistogramPath::kShared;
    if (path == HistogramPath::kCluster && cluster == 16)
      cluster = 8;  // which not every device allows
    // A value of the field's domain, so that the case can be replayed.
    while (path == HistogramPath::kShared && more_bins > bins_a_block() - 300)
      more_bins -= kBinsOf48KB;
    if (more_bins > 0) n = std::min<std::int64_t>(n, 300);
    const std::int64_t few = bins;
    bins += more_bins;
    HistogramCase::normalise();
    bins = few;
  }
  std::int64_t work() const { return 0; }  // few cases, with many bins by intention
  static constexpr int kBinsOf48KB = (48 << 10) / sizeof(unsigned);
};

// Two inputs, one after the other.
struct SplitHistogramCase : HistogramCase {
  std::int64_t first = 0;
  static void fields(SplitHistogramCase& c, FieldVisitor& field) {
    HistogramCase::fields(c, field);
    field("first", c.first, sizes(0, kMax));
  }
  void normalise() {
    first = std::min(first, n);
    HistogramCase::normalise();
  }
};

// Elements that repeat: memory holds one period of them, so that their number can exceed memory.
struct PeriodicHistogramCase : HistogramCase {
  std::int64_t period = 1;
  static void fields(PeriodicHistogramCase& c, FieldVisitor& field) {
    HistogramCase::fields(c, field);
    field("period", c.period, sizes(1, 3000));
  }
};

// More elements than 31 bits count.
struct HugeHistogramCase : PeriodicHistogramCase {
  static void fields(HugeHistogramCase& c, FieldVisitor& field) {
    using enum HistogramPath;
    constexpr std::int64_t kPastInt = std::int64_t{1} << 31;
    field("n", c.n, one_of<std::int64_t>({kPastInt + 1, kPastInt, kPastInt + 1000003}));
    field("bins", c.bins, sizes(1, 4096));
    field("block", c.block, one_of<int>({1024, 1000, 256}));
    field("max_blocks", c.max_blocks, one_of<int>({1 << 16, 3, 1}));
    field("path", c.path, choice<HistogramPath>({{"shared", kShared}, {"global", kGlobal}}));
    field("seed", c.seed, seeds());
    field("period", c.period, sizes(1, 3000));
  }
  void normalise() {}
};

std::vector<Count> expected(const std::vector<int>& values, std::int64_t bins) {
  const reference::Counts counts = reference::histogram(values, bins);
  return {counts.begin(), counts.end()};
}

// The launcher's call for the case, with its contract. `contents` are those of values; with a
// period, `n` may be larger.
Call<Histogram> call_with(const HistogramCase& c, std::int64_t elements,
                          std::function<std::vector<int>()> contents,
                          std::int64_t repeats_after = 0, HistogramPlan* plan = nullptr) {
  Call<Histogram> call("histogram");
  auto& [path, values, n, counts, bins, shape, used] =
      call.arguments(c.path, nullptr, elements, nullptr, c.bins,
                     HistogramShape{.block = c.block,
                                    .cluster = c.cluster,
                                    .max_blocks = c.max_blocks,
                                    .period = repeats_after,
                                    .flush_after = c.flush_after},
                     plan);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 8;
  call.choice("path", HistogramPath::kGlobal, path);
  call.reads(cudaDevAttrComputeCapabilityMajor);
  call.reads(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  call.reads(cudaDevAttrMultiProcessorCount);  // which may or may not hold a cluster
  call.integer("n", {0, kMax}, n);
  if (repeats_after > 0 && repeats_after <= elements) call.reaches_no_further("n");
  if (c.path == HistogramPath::kCluster) {
    // Only the device decides whether the largest clusters can be resident.
    const Whole a_block = bins_a_block();
    call.integer("bins",
                 {.least = 1,
                  .most = a_block * (c.cluster == 0 ? kMaxCluster : c.cluster),
                  .here = {1, a_block * (c.cluster == 0 ? kPortableCluster : c.cluster)}},
                 bins);
    call.integer("cluster", {.only = {0, 2, 4, 8, 16}, .here = {c.cluster, kPortableCluster}},
                 shape.cluster);
  } else {
    call.integer("bins", {1, c.path == HistogramPath::kShared ? bins_a_block() : kMax}, bins);
    call.integer("cluster", {.only = {0, 2, 4, 8, 16}}, shape.cluster);
  }
  call.integer("block", {1, 1024}, shape.block);
  call.integer("max_blocks", {1, std::numeric_limits<int>::max()}, shape.max_blocks);
  call.grid({.threads = c.block, .most_blocks = c.max_blocks});
  call.integer("flush_after", {1, std::numeric_limits<unsigned>::max()}, shape.flush_after);
  constexpr Whole kLongest = std::numeric_limits<std::int64_t>::max();
  Range periods = {0, kLongest};
  if (repeats_after > 0)
    periods.here = {repeats_after, kLongest};  // there are no more elements than in a period
  call.integer("period", periods, shape.period);
  call.input("values", values,
             {.count = repeats_after > 0 ? std::min(repeats_after, elements) : elements},
             {c.values_offset, c.poison}, std::move(contents));
  call.output<Count>("counts", counts, {.count = c.bins}, {c.counts_offset, c.poison});
  call.apart("counts", "values");
  // Values with which a call takes no longer than the case.
  constexpr Whole kBit = 1;
  std::vector<Whole> paths = {0, static_cast<Whole>(HistogramPath::kGlobal)};
  if (c.bins <= bins_a_block()) paths.push_back(static_cast<Whole>(HistogramPath::kShared));
  // Bins that fit one block fit any cluster.
  if (c.bins <= bins_a_block() && device_properties().max_cluster_blocks >= kPortableCluster)
    paths.push_back(static_cast<Whole>(HistogramPath::kCluster));
  call.immaterial("path", paths);
  if (c.path == HistogramPath::kCluster)
    call.immaterial("cluster");
  else
    call.immaterial("cluster", {0, 2, 4, 8});
  call.immaterial("block", {c.block, 1024});
  call.immaterial("max_blocks", {c.max_blocks, kBit << 16, (kBit << 31) - 1});
  call.immaterial("flush_after", {c.flush_after, kBit << 31, (kBit << 32) - 1});
  if (repeats_after == 0 || repeats_after >= elements) {
    const Whole n = std::max<std::int64_t>(elements, 1);
    call.immaterial("period", {0, n, n + 1, kBit << 31, kBit << 32, (kBit << 32) + 1,
                               (kBit << 33) + 3, kBit << 60, kLongest});
  }
  call.reports<HistogramPlan>("used", used, [](const HistogramPlan& p) {
    return fmt::format("path {}, cluster {}", static_cast<int>(p.path), p.cluster);
  });
  return call;
}

Call<Histogram> call_of(const HistogramCase& c) {
  return call_with(c, c.n, [&c] { return c.values(); });
}

Call<Histogram> launched_call_of(const LaunchedHistogramCase& c) {
  HistogramCase whole = c;
  whole.bins += c.more_bins;
  const std::int64_t elements = c.n;
  if (c.period > 0) whole.n = std::min(c.n, c.period);
  return call_with(
      whole, elements, [whole] { return whole.values(); }, c.period);
}

void judge(const Histogram& histogram, const HistogramCase& c) {
  const std::vector<int> values = c.values();
  REQUIRE_BITWISE_EQUAL(c.launch(histogram, values), expected(values, c.bins));
}

std::vector<Count> HistogramCase::launch(const Histogram& histogram,
                                         const std::vector<int>& values) const {
  const auto contents = [&] { return values; };
  const auto out = call_with(*this, static_cast<std::int64_t>(values.size()), contents)
                       .run(histogram)
                       .take<Count>("counts");
  const std::vector<Count> counts = out.fetch();
  if (out.poison_is_proof()) {
    for (std::size_t b = 0; b < counts.size(); ++b) {
      if (out.holds_poison(b, counts[b]))
        fail_case({Reason::kUnwritten, "",
                   fmt::format("bin {} was never written: it holds its poison", b)});
    }
  }
  return counts;
}

void matches_its_reference(const Histogram& histogram, const HistogramCase& c) {
  judge(histogram, c);
}

void in_clusters_matches_its_reference(const Histogram& histogram, const ClusterHistogramCase& c) {
  require_capability({Capability::kClusters});
  judge(histogram, c);
}

void in_clusters_of_16_matches_its_reference(const Histogram& histogram,
                                             const ClusterHistogramCase& c) {
  require_capability({Capability::kClusterSize16});
  ClusterHistogramCase widest = c;
  widest.cluster = 16;
  judge(histogram, widest);
}

void bins_sum_to_n(const Histogram& histogram, const HistogramCase& c) {
  const std::vector<Count> counts = c.launch(histogram);
  const Count sum = std::accumulate(counts.begin(), counts.end(), Count{0});
  REQUIRE_LAW(sum == static_cast<Count>(c.n), "the bins sum to {}, but there are {} elements", sum,
              c.n);
}

void does_not_depend_on_order(const Histogram& histogram, const HistogramCase& c) {
  std::vector<int> values = c.values();
  const std::vector<Count> before = c.launch(histogram, values);
  Bits bits(c.seed);
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[bits.below(i)]);
  REQUIRE_BITWISE_EQUAL(c.launch(histogram, values), before);
}

void of_a_concatenation_adds(const Histogram& histogram, const SplitHistogramCase& c) {
  const std::vector<int> values = c.values(), front(values.begin(), values.begin() + c.first),
                         back(values.begin() + c.first, values.end());
  std::vector<Count> sum = c.launch(histogram, front);
  const std::vector<Count> rest = c.launch(histogram, back);
  std::ranges::transform(sum, rest, sum.begin(), std::plus<>());
  REQUIRE_BITWISE_EQUAL(c.launch(histogram, values), sum);
}

void paths_agree(const Histogram& histogram, const HistogramCase& c) {
  HistogramCase other = c;
  other.path = HistogramPath::kGlobal;
  const std::vector<Count> first = other.launch(histogram);
  for (const HistogramPath path : {HistogramPath::kShared, HistogramPath::kAutomatic}) {
    other.path = path;
    REQUIRE_BITWISE_EQUAL(other.launch(histogram), first);
  }
}

// Element i is values[i mod period]: whole periods, and a part of one.
void of_a_period_repeated_multiplies(const Histogram& histogram, const PeriodicHistogramCase& c) {
  PeriodicHistogramCase one = c;
  one.n = c.period;
  const std::vector<int> values = one.values();
  const std::int64_t whole = c.n / c.period, rest = c.n % c.period;
  const std::vector<Count> period = expected(values, c.bins),
                           part = expected({values.begin(), values.begin() + rest}, c.bins);
  std::vector<Count> counts(c.bins);
  for (std::int64_t b = 0; b < c.bins; ++b)
    counts[b] = static_cast<Count>(whole) * period[b] + part[b];
  const auto contents = [&] { return values; };
  REQUIRE_BITWISE_EQUAL(call_with(c, c.n, contents, c.period).run(histogram).take<Count>("counts"),
                        counts);
}

void of_a_period_in_clusters_multiplies(const Histogram& histogram,
                                        const PeriodicHistogramCase& c) {
  require_capability({Capability::kClusters});
  PeriodicHistogramCase clusters = c;
  clusters.path = HistogramPath::kCluster, clusters.n = c.n % (1 << 14);
  clusters.cluster = c.cluster == 16 ? 8 : std::max(c.cluster, 2);
  of_a_period_repeated_multiplies(histogram, clusters);
}

// One block, or cluster, must not count more elements than allowed before it flushes. With a single
// bin, each flush adds one atomic operation, which the counters show.
void hands_its_counts_over_in_time(const Histogram& histogram, const PeriodicHistogramCase& c) {
  require_capability({Capability::kSimulator});
  const ScheduleScope in_order(0);  // others may execute an instruction separately for some lanes
  PeriodicHistogramCase one = c;
  one.n = c.n % 4096 + 1, one.bins = 1, one.max_blocks = 1, one.cluster = 2;
  for (const HistogramPath path : {HistogramPath::kShared, HistogramPath::kCluster}) {
    if (path == HistogramPath::kCluster && device_properties().max_cluster_blocks < 2) continue;
    one.path = path;
    const std::int64_t threads = one.block * (path == HistogramPath::kCluster ? 2 : 1),
                       after = std::clamp<std::int64_t>(one.n / 3, 1, c.flush_after),
                       at_most = std::max(after, threads), rounds = (one.n - 1) / threads + 1,
                       needed = (rounds - 1) / (at_most / threads) + 1;
    for (const std::int64_t period : {std::int64_t{0}, c.period}) {
      const auto atomics = [&](std::int64_t flush_after) {
        PeriodicHistogramCase flushing = one;
        flushing.flush_after = flush_after;
        const auto contents = [&] {
          PeriodicHistogramCase values = flushing;
          if (period > 0) values.n = period;
          return values.values();
        };
        return counters_of([&] { call_with(flushing, one.n, contents, period).run(histogram); })
            .atomics;
      };
      const std::uint64_t more = atomics(after) - atomics(kernels::kHistogramFlushAfter);
      REQUIRE_LAW(more + 1 >= static_cast<std::uint64_t>(needed),
                  "{} elements are handed over {} times, at most {} at a time", one.n, more + 1,
                  at_most);
    }
  }
}

// A block, or a cluster, that counts more elements in a bin than 16 bits hold, and processes
// elements with such indices. A period of 0 elements means none.
void counts_past_16_bits(const Histogram& histogram, const HistogramCase& c, bool periodic) {
  constexpr std::size_t kPast16Bits = (1 << 16) + 100;
  HistogramCase one = c;
  one.bins = 2, one.block = 1024, one.max_blocks = 1, one.cluster = 2,
  one.flush_after = kernels::kHistogramFlushAfter;
  std::vector<int> values(kPast16Bits);
  values.resize(kPast16Bits + 1000, 1);
  const auto n = static_cast<std::int64_t>(values.size());
  const auto contents = [&] { return values; };
  for (const HistogramPath path :
       {HistogramPath::kGlobal, HistogramPath::kShared, HistogramPath::kCluster}) {
    if (path == HistogramPath::kCluster && device_properties().max_cluster_blocks < 2) continue;
    one.path = path;
    REQUIRE_BITWISE_EQUAL(
        call_with(one, n, contents, periodic ? n : 0).run(histogram).take<Count>("counts"),
        expected(values, one.bins));
  }
}

void counts_past_16_bits_in_a_block(const Histogram& histogram, const HistogramCase& c) {
  counts_past_16_bits(histogram, c, false);
}

void counts_a_period_past_16_bits(const Histogram& histogram, const PeriodicHistogramCase& c) {
  counts_past_16_bits(histogram, c, true);
}

// Checks the capacity that the launcher returns for each path, with clusters and without.
void capacity_is_what_paths_hold(const Histogram&, const NoFields&) {
  const auto capacity = [](HistogramPath path, int cluster) {
    std::int64_t bins = -1;
    const kernels::LaunchStatus status = kernels::histogram_capacity(path, cluster, bins);
    REQUIRE_LAW(status.ok(), "path {}: {}", int(path), status.message);
    return bins;
  };
  for (const int cluster : {2, 4, 8, 16}) {
    const bool has = device_properties().max_cluster_blocks > 1;
    const std::int64_t wanted = has ? bins_a_block() * cluster : 0,
                       said = capacity(HistogramPath::kCluster, cluster);
    REQUIRE_LAW(said == wanted, "clusters of {} are said to hold {} bins, not {}", cluster, said,
                wanted);
  }
  REQUIRE_LAW(capacity(HistogramPath::kShared, 1) == bins_a_block(), "a block holds {} bins",
              bins_a_block());
  for (const HistogramPath path : {HistogramPath::kGlobal, HistogramPath::kAutomatic})
    REQUIRE_LAW(capacity(path, 1) >= std::int64_t{1} << 40, "path {} holds any number", int(path));
}

// The launcher must query the device in each call. If the device reports less memory, or no
// clusters, the call must use that.
void asks_the_device_in_each_call(const Histogram& histogram, const NoFields&) {
  require_capability({Capability::kSimulator});
  const auto counts = DeviceArray<Count>::output("counts", 100, {});
  const auto fits = [&](HistogramPath path, std::int64_t bins) {
    kernels::HistogramShape shape;
    kernels::HistogramPlan plan;
    return histogram(path, nullptr, 0, counts.data(), bins, shape, &plan, nullptr).ok();
  };
  constexpr std::int64_t kBins = 100;
  const auto require = [&](const char* what, bool shared, bool clusters) {
    REQUIRE_LAW(fits(HistogramPath::kShared, kBins) == shared,
                "{}: {} bins in a block must {}be taken", what, kBins, shared ? "" : "not ");
    REQUIRE_LAW(fits(HistogramPath::kCluster, kBins) == clusters,
                "{}: {} bins in a cluster must {}be taken", what, kBins, clusters ? "" : "not ");
    std::int64_t in_clusters = -1;
    const auto s = kernels::histogram_capacity(HistogramPath::kCluster, 2, in_clusters);
    REQUIRE_LAW(s.ok() && (in_clusters >= kBins) == clusters, "{}: clusters are said to hold {}",
                what, in_clusters);
  };
  const bool has = device_properties().max_cluster_blocks > 1;
  require("as it is", true, has);
  {
    const OtherProperty little(cudaDevAttrMaxSharedMemoryPerBlockOptin, 99 * sizeof(unsigned));
    require("where a block has less", false, has);
  }
  {
    const OtherProperty old(cudaDevAttrComputeCapabilityMajor, 8);
    require("before 9.0", true, false);
  }
  require("as it was", true, has);
}

void counts_past_31_bits(const Histogram& histogram, const HugeHistogramCase& c) {
  of_a_period_repeated_multiplies(histogram, c);
}

// All elements in one bin: more than 32 bits count in the result and, without flushes, in a block.
void counts_past_32_bits_in_one_bin(const Histogram& histogram, const HugeHistogramCase& c) {
  HugeHistogramCase one = c;
  one.n = (std::int64_t{1} << 32) + 1000003, one.period = 1,
  one.bins = std::min<std::int64_t>(c.bins, 3);
  for (const auto& [path, blocks] :
       {std::pair{HistogramPath::kShared, 1}, {HistogramPath::kGlobal, 1 << 16}}) {
    one.path = path, one.max_blocks = blocks;
    of_a_period_repeated_multiplies(histogram, one);
  }
}

void counts_past_31_bits_in_clusters(const Histogram& histogram, const HugeHistogramCase& c) {
  require_capability({Capability::kClusters});
  HugeHistogramCase clusters = c;
  clusters.path = HistogramPath::kCluster;
  of_a_period_repeated_multiplies(histogram, clusters);
}

void takes_the_first_path_that_holds_the_bins(const Histogram& histogram,
                                              const CapacityHistogramCase& c) {
  const std::int64_t a_block = bins_a_block();
  const auto fits = [&](HistogramPath path) {
    const int cluster = c.cluster == 0
                            ? device_properties().max_cluster_blocks
                            : std::min(c.cluster, device_properties().max_cluster_blocks);
    return path == HistogramPath::kGlobal ||
           (path == HistogramPath::kShared && c.bins <= a_block) ||
           (path == HistogramPath::kCluster && cluster > 1 && c.bins <= a_block * cluster);
  };
  // Only the device decides whether the largest clusters can be resident with all their memory. If
  // they cannot, a refusal or the next path is correct, too.
  const bool certain =
      c.bins <= a_block * std::min(device_properties().max_cluster_blocks, 8) && c.cluster != 16;
  HistogramPlan plan;
  const auto contents = [&] { return c.values(); };
  auto call = call_with(c, c.n, contents, 0, &plan);
  call.allocate();
  const Answer status = call.launch(histogram, nullptr);
  REQUIRE_CUDA(cudaDeviceSynchronize());
  if (!status.ok()) {
    REQUIRE_LAW(c.path != HistogramPath::kAutomatic, "the automatic path refuses {} bins: {}",
                c.bins, status.message);
    REQUIRE_LAW(!fits(c.path) || !certain, "refused although {} bins fit: {}", c.bins,
                status.message);
    REQUIRE_LAW(status.error == cudaErrorInvalidValue && !status.message.empty(),
                "refused with {} ({})", cudaGetErrorName(status.error), status.message);
    return;
  }
  REQUIRE_LAW(fits(plan.path), "{} bins do not fit the path that was taken, {}", c.bins,
              int(plan.path));
  if (c.path != HistogramPath::kAutomatic) {
    REQUIRE_LAW(plan.path == c.path, "asked for path {}, took {}", int(c.path), int(plan.path));
  } else if (certain) {
    const HistogramPath first = fits(HistogramPath::kShared)    ? HistogramPath::kShared
                                : fits(HistogramPath::kCluster) ? HistogramPath::kCluster
                                                                : HistogramPath::kGlobal;
    REQUIRE_LAW(plan.path == first, "{} bins: path {} holds them, but {} was taken", c.bins,
                int(first), int(plan.path));
  }
  if (plan.path == HistogramPath::kCluster && (certain || c.cluster != 0)) {
    int smallest = c.cluster == 0 ? 2 : c.cluster;
    while (c.cluster == 0 && a_block * smallest < c.bins) smallest *= 2;
    REQUIRE_LAW(plan.cluster == smallest,
                "{} bins: a cluster of {} holds them, but one of {} was taken", c.bins, smallest,
                plan.cluster);
  }
  REQUIRE_LAW(plan.path == HistogramPath::kCluster || plan.cluster == 1,
              "a cluster of {} on path {}", plan.cluster, int(plan.path));
  REQUIRE_BITWISE_EQUAL(call.take<Count>("counts"), expected(c.values(), c.bins));
}

// Every plan that the device supports must be chosen, by the least and by the greatest number of
// bins for it. Without elements, a call only makes a plan. Only the device decides whether the
// largest clusters can be resident: kAutomatic must choose them exactly if an explicit request
// succeeds.
void chooses_each_plan(const Histogram& histogram, const ScheduledHistogramCase& c) {
  const std::int64_t a_block = bins_a_block();
  const auto planned = [&](HistogramPath path, int cluster, std::int64_t bins,
                           HistogramPlan& plan) {
    // The full number of bins; their memory is never accessed.
    const Stream stream;
    auto* const counts = reinterpret_cast<Count*>(std::uintptr_t{1} << 44);
    Answer answer;
    const Captured captured(stream, cudaStreamCaptureModeRelaxed, [&](cudaStream_t s) {
      const HistogramShape shape = {.block = c.block, .cluster = cluster};
      const auto status = histogram(path, nullptr, 0, counts, bins, shape, &plan, s);
      return answer = {status.error, status.message, status.of_cuda};
    });
    return answer;
  };
  const auto require_plan = [&](std::int64_t bins, const HistogramPlan& wanted) {
    HistogramPlan plan = {static_cast<HistogramPath>(99), -1};
    const Answer answer = planned(HistogramPath::kAutomatic, 0, bins, plan);
    REQUIRE_LAW(answer.ok(), "{} bins: {}", bins, answer.message);
    REQUIRE_LAW(plan.path == wanted.path && plan.cluster == wanted.cluster,
                "{} bins: path {} in clusters of {} was chosen, not {} in clusters of {}", bins,
                int(plan.path), plan.cluster, int(wanted.path), wanted.cluster);
  };
  require_plan(1, {HistogramPath::kShared, 1}), require_plan(a_block, {HistogramPath::kShared, 1});
  std::int64_t held = a_block;
  for (const int cluster : {2, 4, 8, 16}) {
    HistogramPlan asked;
    const std::int64_t most = a_block * cluster;
    const Answer granted = planned(HistogramPath::kCluster, cluster, most, asked);
    const bool promised =
        cluster <= std::min(device_properties().max_cluster_blocks, kPortableCluster);
    REQUIRE_LAW(granted.ok() || !promised, "a cluster of {} is refused: {}", cluster,
                granted.message);
    if (!granted.ok()) continue;
    require_plan(held + 1, {HistogramPath::kCluster, cluster});
    require_plan(most, {HistogramPath::kCluster, cluster});
    held = most;
  }
  require_plan(held + 1, {HistogramPath::kGlobal, 1});
  require_plan(std::int64_t{1} << 33, {HistogramPath::kGlobal, 1});
}

// Bins for a block's whole shared memory, one fewer and one more, and the same for a cluster of 2.
// Each path is requested explicitly, and chosen by the launcher.
void fills_shared_memory_to_the_last_bin(const Histogram& histogram,
                                         const ScheduledHistogramCase& c) {
  CapacityHistogramCase full;
  static_cast<HistogramCase&>(full) = c;
  full.cluster = 0;
  full.max_blocks = 1;  // or one cluster: each more would flush all bins again
  for (const int blocks : {1, 2}) {
    if (blocks > device_properties().max_cluster_blocks)
      continue;  // then the global path takes over
    for (const int excess : {-1, 0, 1}) {
      full.bins = bins_a_block() * blocks + excess;
      for (const HistogramPath path :
           {blocks == 1 ? HistogramPath::kShared : HistogramPath::kCluster,
            HistogramPath::kAutomatic}) {
        full.path = path;
        takes_the_first_path_that_holds_the_bins(histogram, full);
      }
    }
  }
}

void in_clusters_is_deterministic(const Histogram& histogram, const ScheduledHistogramCase& c) {
  require_capability({Capability::kClusters});
  constexpr int kSchedules = 50;
  ScheduledHistogramCase clusters = c;
  clusters.path = HistogramPath::kCluster;
  clusters.cluster = c.cluster == 16 ? 8 : std::max(c.cluster, 2);
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return clusters.launch(histogram); });
}

void of_nothing_is_zero_without_a_launch(const Histogram& histogram, const HistogramCase& c) {
  HistogramCase nothing = c;
  nothing.n = 0;
  auto call = call_of(nothing);
  call.allocate(/*null_where_empty=*/true);
  require_no_launch([&](cudaStream_t stream) {
    const Answer answer = call.launch(histogram, stream);
    REQUIRE_LAW(answer.ok(), "n = 0 is legal, but the launcher answers: {}", answer.message);
  });
  REQUIRE_BITWISE_EQUAL(call.take<Count>("counts"), std::vector<Count>(c.bins));
}

}  // namespace

Laws<Histogram> histogram_laws() {
  return with_batteries<launched_call_of, LaunchedHistogramCase, Arrays::kContiguous,
                        kSaysImmaterial | kSaysReports>({
      law("OfNothingIsZeroWithoutALaunch", of_nothing_is_zero_without_a_launch,
          {.cases = 100, .cost = 4}),
      refusal_law<launched_call_of, LaunchedHistogramCase>("RefusesBadArguments",
                                                           {.cases = 200, .cost = 4}),
      law("MatchesItsReference", matches_its_reference, {.cases = 1500}),
      law("InClustersMatchesItsReference", in_clusters_matches_its_reference, {.cases = 400}),
      law("InClustersOf16MatchesItsReference", in_clusters_of_16_matches_its_reference,
          {.cases = 100}),
      law("BinsSumToN", bins_sum_to_n, {.cases = 200}),
      law("DoesNotDependOnOrder", does_not_depend_on_order, {.cases = 200}),
      law("OfAConcatenationAdds", of_a_concatenation_adds, {.cases = 200}),
      law("PathsAgree", paths_agree, {.cases = 200}),
      law("TakesTheFirstPathThatHoldsTheBins", takes_the_first_path_that_holds_the_bins,
          {.cases = 100}),
      law("FillsSharedMemoryToTheLastBin", fills_shared_memory_to_the_last_bin,
          {.cases = 1, .cost = 200}),
      law("IsDeterministic", require_same_bits<ScheduledHistogramCase, Histogram>,
          {.cases = 15, .cost = 50}),
      law("CountsPast16BitsInABlock", counts_past_16_bits_in_a_block, {.cases = 1, .cost = 100}),
      law("InClustersIsDeterministic", in_clusters_is_deterministic, {.cases = 8, .cost = 100}),
  });
}

Laws<Histogram> periodic_histogram_laws() {
  return {law("OfAPeriodRepeatedMultiplies", of_a_period_repeated_multiplies, {.cases = 200}),
          law("OfAPeriodInClustersMultiplies", of_a_period_in_clusters_multiplies, {.cases = 60}),
          law("HandsItsCountsOverInTime", hands_its_counts_over_in_time, {.cases = 40}),
          law("CapacityIsWhatPathsHold", capacity_is_what_paths_hold, {.cases = 1}),
          law("AsksTheDeviceInEachCall", asks_the_device_in_each_call, {.cases = 1}),
          law("CountsInFarBins", counts_in_far_bins, {.cases = 14, .cost = 4}),
          law("CountsManyPeriods", counts_many_periods, {.cases = 3, .cost = 20}),
          law("CountsAtFarEnds", counts_at_far_ends, {.cases = 3, .cost = 20}),
          law("ChoosesEachPlan", chooses_each_plan, {.cases = 2, .cost = 20}),
          law("CountsAPeriodPast16Bits", counts_a_period_past_16_bits, {.cases = 1, .cost = 100})};
}

Laws<Histogram> huge_histogram_laws() {
  return {law("CountsPast31Bits", counts_past_31_bits, {.cases = 2}),
          law("CountsPast32BitsInOneBin", counts_past_32_bits_in_one_bin, {.cases = 1}),
          law("CountsPast31BitsInClusters", counts_past_31_bits_in_clusters, {.cases = 1})};
}

}  // namespace lockstep::properties
