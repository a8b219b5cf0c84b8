#include "simulator/check/library_findings.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "simulator/check/suppressions.h"

namespace lockstep::check {
namespace {

// Where the uninitialised value must come from.
enum class From : std::uint8_t {
  kAnywhere,
  kRegister,      // a register that was never assigned
  kSharedMemory,  // a load from shared memory, or through a generic address
  kItself,        // the finding's own place, for findings of one place
};

struct Rule {
  Kind kind;
  RaceShape shape;
  From from;
  const char* kernel;  // the beginning of its demangled name; '*' matches any text
  const char* file;    // the file of each side of a race, or of the load that returned the value;
                       // nullptr: any file of the libraries
  const char* why;
  const char* place = nullptr;  // a part of the finding's place; nullptr: any place
  const char* through =
      nullptr;  // a file of the calls from which the access is inlined; nullptr: any
};

constexpr const char* kLibrary = nullptr;

constexpr const char* kInPlace =
    "A tile overwrites what an earlier one has read, and the flag between them is relaxed. The "
    "library relies on the earlier tile having used all its input "
    "before it "
    "sets the flag: cub/agent/agent_select_if.cuh:214 and 929; the same in "
    "cub/agent/agent_unique_by_key.cuh and thrust/system/cuda/detail/unique.h.";
constexpr const char* kLookBack =
    "In the look-back over tiles, lanes without a valid tile reduce a value that nobody has "
    "assigned, and the result is dropped: "
    "cub/agent/single_pass_scan_operators.cuh:953 (WaitForValid) and 1264 (ProcessWindow).";
constexpr const char* kSetOperation =
    "A thread compares keys past the end of its part, and the result is dropped: "
    "thrust/system/cuda/detail/set_operations.h:808 to 832 and the like of the "
    "other "
    "operations.";
constexpr const char* kDiscarded =
    "Items that are no heads of runs all go to one place that nobody reads: "
    "cub/agent/agent_rle.cuh:814 and 921, "
    "cub/warp/specializations/warp_exchange_smem.cuh:155.";
constexpr const char* kCancels =
    "Threads without a digit add what they never assigned to a sum from which the scan subtracts "
    "it again: cub/device/dispatch/kernels/radix_sort.cuh:586 (bin_count), "
    "cub/warp/specializations/warp_scan_shfl.cuh:627 (exclusive = inclusive - input).";

constexpr const char* kSystemMemory = "'the system's shared memory'";
constexpr const char* kGroups = "*/cooperative_groups/*";
constexpr const char* kLastWarp =
    "The last warp of a tile learns by a shuffle that the others have arrived, and a shuffle "
    "orders nothing. Its lanes then read what the other warps wrote: "
    "cooperative_groups/details/sync.h:204 (sync_warps_last_releases).";

constexpr const char* kBarriers = "*/cuda/__*";
constexpr const char* kPipeline = "*/cuda/pipeline";
constexpr const char* kLastToQuit =
    "The last thread to leave a pipeline destroys its barriers. A lane that a vote elects has left "
    "for its whole warp, and a vote orders nothing: cuda/pipeline:227 (quit).";

constexpr const char* kTensorMemory = "*/cute/arch/*sm100*";
constexpr const char* kNoTensorFences =
    "CUTLASS orders tensor memory by mbarrier objects alone, and has no tcgen05.fence: "
    "cute/arch/copy_sm100.hpp and cute/arch/mma_sm100_umma.hpp. PTX ISA 9.7.16.6.4 wants both "
    "fences between threads.";

constexpr const char* kRegisterCounts = "*/cutlass/arch/reg_reconfig.h";
constexpr const char* kCutlassKernels = "*/cutlass/*/kernel/*";
constexpr const char* kCountOfEachRole =
    "Each warp of a warpgroup has a role of its own, and sets the same count of registers in its "
    "branch: cutlass/gemm/kernel/sm100_gemm_array_tma_warpspecialized.hpp:927 to 1554. PTX ISA "
    "9.7.19.5 wants setmaxnreg in conditional code only if all threads of the warpgroup evaluate "
    "the condition identically.";

constexpr Rule kRules[] = {
    {Kind::kBarrierDivergence, RaceShape::kOther, From::kItself, "*", kRegisterCounts,
     kCountOfEachRole, "with the same count", kCutlassKernels},
    {Kind::kAsyncOrder, RaceShape::kOther, From::kAnywhere, "*", kTensorMemory, kNoTensorFences,
     "fence::after_thread_sync"},
    {Kind::kAsyncOrder, RaceShape::kOther, From::kAnywhere, "*", kTensorMemory, kNoTensorFences,
     "fence::before_thread_sync"},
    {Kind::kRace, RaceShape::kBarrierEnds, From::kAnywhere, "*", kBarriers, kLastToQuit, nullptr,
     kPipeline},
    {Kind::kRace, RaceShape::kWarpsOfABlock, From::kAnywhere, "*", kGroups, kLastWarp,
     kSystemMemory},
    {Kind::kRace, RaceShape::kWritesOfABlock, From::kAnywhere, "*", kGroups, kLastWarp,
     kSystemMemory},
    {Kind::kRace, RaceShape::kLaterBlockWrites, From::kAnywhere,
     "void cub::*DeviceSelectSweepKernel<*", kLibrary, kInPlace},
    {Kind::kRace, RaceShape::kLaterBlockWrites, From::kAnywhere,
     "void cub::*DeviceUniqueByKeySweepKernel<*", kLibrary, kInPlace},
    {Kind::kRace, RaceShape::kLaterBlockWrites, From::kAnywhere,
     "void thrust::*_kernel_agent*<thrust::*::__unique::UniqueAgent<*", kLibrary, kInPlace},
    {Kind::kRace, RaceShape::kWritesOfABlock, From::kAnywhere, "void cub::*DeviceRleSweepKernel<*",
     "*/cub/warp/specializations/warp_exchange_smem.cuh", kDiscarded},
    {Kind::kUninitialised, RaceShape::kOther, From::kRegister, "void cub::*DeviceScanKernel<*",
     kLibrary, kLookBack},
    {Kind::kUninitialised, RaceShape::kOther, From::kRegister, "void cub::*DeviceScanByKeyKernel<*",
     kLibrary, kLookBack},
    {Kind::kUninitialised, RaceShape::kOther, From::kRegister,
     "void cub::*DeviceReduceByKeyKernel<*", kLibrary, kLookBack},
    {Kind::kUninitialised, RaceShape::kOther, From::kRegister,
     "void thrust::*_kernel_agent*<thrust::*::__reduce_by_key::ReduceByKeyAgent<*", kLibrary,
     kLookBack},
    {Kind::kUninitialised, RaceShape::kOther, From::kSharedMemory,
     "void thrust::*_kernel_agent*<thrust::*::__set_operations::SetOpAgent<*", kLibrary,
     kSetOperation},
    {Kind::kUninitialised, RaceShape::kOther, From::kSharedMemory,
     "void cub::*DeviceSegmentedRadixSortKernel<*", kLibrary, kCancels},
};

// Without line information the file is unknown, and any file fits.
bool lies_in(const Site& site, const char* file) {
  if (site.file.empty()) return true;
  if (file != kLibrary) return fits(file, site.file);
  return fits("*/cub/*", site.file) || fits("*/thrust/*", site.file) || fits("*/cccl/*", site.file);
}

bool may_be_of_shared_memory(std::string_view load) {
  return load.starts_with("ld.") && !load.starts_with("ld.global") &&
         !load.starts_with("ld.local") && !load.starts_with("ld.param") &&
         !load.starts_with("ld.const");
}

bool went_through(const Site& site, const char* file) {
  return std::any_of(site.through.begin(), site.through.end(),
                     [&](const std::string& f) { return fits(file, f); });
}

bool comes_from(const Finding& f, const Rule& rule) {
  // Only the file names show that the code is CUTLASS.
  if (rule.file == kTensorMemory && f.access.site.file.empty()) return false;
  switch (rule.from) {
    case From::kAnywhere:
      return f.other.has_value() && lies_in(f.access.site, rule.file) &&
             lies_in(f.other->site, rule.file);
    case From::kItself: return lies_in(f.access.site, rule.file);
    case From::kRegister: return !f.origin;
    default:
      return f.origin && may_be_of_shared_memory(f.origin->instruction) &&
             lies_in(*f.origin, rule.file);
  }
}

}  // namespace

const char* known_in_library(const Finding& finding, RaceShape shape) {
  for (const Rule& rule : kRules) {
    if (rule.place != nullptr && finding.where.find(rule.place) == std::string::npos) continue;
    if (rule.through != nullptr && !went_through(finding.access.site, rule.through)) continue;
    if (rule.kind == finding.kind && rule.shape == shape && comes_from(finding, rule) &&
        fits(rule.kernel, finding.kernel))
      return rule.why;
  }
  return nullptr;
}

}  // namespace lockstep::check
