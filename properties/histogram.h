// The histogram's cases and laws. A law is a sentence about every case; it takes the implementation that it judges, so
// that a broken or a rewritten kernel can stand in the place of the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/compare.h"
#include "harness/device_array.h"
#include "harness/field.h"
#include "kernels/histogram.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/histogram.h).
using Histogram = std::function<kernels::LaunchStatus(
    kernels::HistogramPath, const int* values, std::int64_t n, unsigned long long* counts, std::int64_t bins,
    const kernels::HistogramShape&, kernels::HistogramPlan* used, cudaStream_t)>;

// Where the elements lie, relative to the bins.
enum class Spread : std::uint8_t {
  kUniform,  // in and a little out of range, evenly
  kInRange,  // in range, evenly
  kSkewed,   // in range, the first bins far more often
  kOneBin,   // all equal
  kBelow,    // all below 0, down to the least int
  kAbove,    // all past the last bin, up to the greatest int
  kEdges,    // -1, 0, bins - 1 and bins, evenly
};

struct HistogramCase {
  std::int64_t n = 0;
  std::int64_t bins = 1;
  int block = 32;
  int max_blocks = 1 << 16;
  kernels::HistogramPath path = kernels::HistogramPath::kGlobal;
  int cluster = 0;
  int values_offset = 0, counts_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Spread spread = Spread::kUniform;
  std::uint64_t seed = 0;

  static void fields(HistogramCase& c, FieldVisitor& field);
  // A path is asked for what it can hold; what it cannot hold is another case type's matter.
  void normalise();

  std::vector<int> values() const;

  // Launches the implementation on device memory under the case's contract.
  std::vector<unsigned long long> launch(const Histogram& histogram, const std::vector<int>& values,
                                         kernels::HistogramPlan* used = nullptr) const;
  std::vector<unsigned long long> launch(const Histogram& histogram) const { return launch(histogram, values()); }

 protected:
  static constexpr std::int64_t kMost = 70000;  // past what 16 bits count
  using Paths = std::initializer_list<Named<kernels::HistogramPath>>;
  static void fields_of(HistogramCase& c, FieldVisitor& field, const Paths& paths, std::int64_t most_bins,
                        std::int64_t most);
};

// The cluster path; clusters of 16 blocks have a law of their own, since not every device lets them be.
struct ClusterHistogramCase : HistogramCase {
  static void fields(ClusterHistogramCase& c, FieldVisitor& field);
  void normalise();
};

// Numbers of bins around what each path can hold.
struct CapacityHistogramCase : HistogramCase {
  static void fields(CapacityHistogramCase& c, FieldVisitor& field);
  void normalise();
  int around = 0;  // bins is what a cluster of this many blocks holds, plus excess; 0: bins stays as it was drawn
  int excess = 0;
};

// A case of moderate size, since it runs once a schedule.
struct ScheduledHistogramCase : HistogramCase {
  static void fields(ScheduledHistogramCase& c, FieldVisitor& field);
};

// Two inputs, one after the other.
struct SplitHistogramCase : HistogramCase {
  std::int64_t first = 0;
  static void fields(SplitHistogramCase& c, FieldVisitor& field);
  void normalise();
};

// Elements that repeat: memory holds one period of them, so that there can be more than memory holds.
struct PeriodicHistogramCase : HistogramCase {
  std::int64_t period = 1;
  static void fields(PeriodicHistogramCase& c, FieldVisitor& field);
};

// More elements than 31 bits count.
struct HugeHistogramCase : PeriodicHistogramCase {
  static void fields(HugeHistogramCase& c, FieldVisitor& field);
  void normalise() {}
};

// A legal case with one argument made illegal.
struct RefusedHistogramCase : HistogramCase {
  enum class Mistake {
    kNegativeSize,
    kHugeSize,
    kNoBins,
    kNegativeBins,
    kNoThreads,
    kTooManyThreads,
    kNoBlocks,
    kNullValues,
    kNullCounts,
    kMisalignedValues,
    kMisalignedCounts,
    kOverlap,
    kOddCluster,
    kTooManyBinsForShared,
    kNegativePeriod,
    kUnknownPath
  };
  Mistake mistake = Mistake::kNegativeSize;
  static void fields(RefusedHistogramCase& c, FieldVisitor& field);
  void normalise();
};

void histogram_matches_its_reference(const Histogram& histogram, const HistogramCase& c);
void histogram_in_clusters_matches_its_reference(const Histogram& histogram, const ClusterHistogramCase& c);
void histogram_in_clusters_of_16_matches_its_reference(const Histogram& histogram, const ClusterHistogramCase& c);
void histogram_bins_sum_to_n(const Histogram& histogram, const HistogramCase& c);
void histogram_does_not_depend_on_order(const Histogram& histogram, const HistogramCase& c);
void histogram_of_a_concatenation_adds(const Histogram& histogram, const SplitHistogramCase& c);
void histogram_paths_agree(const Histogram& histogram, const HistogramCase& c);
// Not among histogram_laws(): suspects take whole arrays.
void histogram_of_a_period_repeated_multiplies(const Histogram& histogram, const PeriodicHistogramCase& c);
// For the same, with as many elements as a 32-bit index cannot count; minutes on the simulated GPU.
void histogram_counts_past_31_bits(const Histogram& histogram, const HugeHistogramCase& c);
void histogram_counts_past_31_bits_in_clusters(const Histogram& histogram, const HugeHistogramCase& c);
void histogram_takes_the_first_path_that_holds_the_bins(const Histogram& histogram, const CapacityHistogramCase& c);
void histogram_is_deterministic(const Histogram& histogram, const ScheduledHistogramCase& c);
void histogram_in_clusters_is_deterministic(const Histogram& histogram, const ScheduledHistogramCase& c);
void histogram_refuses_bad_arguments(const Histogram& histogram, const RefusedHistogramCase& c);
void histogram_of_nothing_is_zero_without_a_launch(const Histogram& histogram, const HistogramCase& c);

// All of them, in the order in which a suspect kernel meets them.
const std::vector<Law<Histogram>>& histogram_laws();

}  // namespace lockstep::properties
