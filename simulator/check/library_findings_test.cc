#include "simulator/check/library_findings.h"

#include <gtest/gtest.h>

namespace lockstep::check {
namespace library_findings_test {

constexpr const char* kSelect =
    "void "
    "cub::CUB_300001_SM_900::detail::select::DeviceSelectSweepKernel<cub::CUB_300001_SM_900::"
    "detail::select::policy_hub<int>::Policy1000, int*>(int*, "
    "int)";
constexpr const char* kSetOperation =
    "void "
    "thrust::THRUST_300001_SM_900_NS::cuda_cub::core::detail::_kernel_agent<thrust::THRUST_300001_"
    "SM_900_NS::cuda_cub::__set_operations::SetOpAgent<int*>, "
    "int>(int)";
constexpr const char* kScanByKey =
    "void cub::CUB_300001_SM_900::detail::scan_by_key::DeviceScanByKeyKernel<int>(int*)";
constexpr const char* kAssign =
    "/usr/local/cuda/include/cccl/thrust/system/cuda/detail/assign_value.h";
constexpr const char* kSetFile =
    "/usr/local/cuda/include/cccl/thrust/system/cuda/detail/set_operations.h";

Site at(const std::string& file, const std::string& instruction = "st.global.u32") {
  return {file, 55, "", 900, instruction};
}

Finding race(const char* kernel, const std::string& mine, const std::string& theirs) {
  Finding f;
  f.kind = Kind::kRace;
  f.kernel = kernel;
  f.access.site = at(mine);
  f.other = Access{};
  f.other->site = at(theirs, "ld.global.u32");
  return f;
}

TEST(LibraryFindings, ALaterTileMayOverwriteWhatAnEarlierOneHasRead) {
  const char* const why =
      known_in_library(race(kSelect, kAssign, kAssign), RaceShape::kLaterBlockWrites);
  ASSERT_NE(why, nullptr);
  EXPECT_NE(std::string(why).find("cub/agent/agent_select_if.cuh:"), std::string::npos)
      << "the library's lines";
  EXPECT_NE(known_in_library(race(kSelect, "", ""), RaceShape::kLaterBlockWrites), nullptr)
      << "a program without line information";
}

TEST(LibraryFindings, CutlassHasNoFencesOfTensorMemory) {
  const char *const load = "/home/user/cutlass/include/cute/arch/copy_sm100.hpp",
                    *const multiply = "/home/user/cutlass/include/cute/arch/mma_sm100_umma.hpp";
  const auto missing = [](const char* mine, const char* theirs, const char* what) {
    Finding f = race("void gemm<int>(int)", mine, theirs);
    f.kind = Kind::kAsyncOrder;
    f.where = what;
    return f;
  };
  constexpr const char* kFence = "is separated by no fence::after_thread_sync";
  EXPECT_NE(known_in_library(missing(load, multiply, kFence)), nullptr);
  EXPECT_EQ(known_in_library(missing(load, multiply, "may be under way")), nullptr)
      << "a wait that is missing";
  EXPECT_EQ(known_in_library(missing("user.cu", multiply, kFence)), nullptr);
  EXPECT_EQ(known_in_library(missing("", "", kFence)), nullptr) << "without line information";
}

TEST(LibraryFindings, CutlassSetsRegistersInTheBranchOfEachRole) {
  Finding f;
  f.kind = Kind::kBarrierDivergence;
  f.kernel = "void gemm<int>(int)";
  f.access.site = at("/x/include/cutlass/arch/reg_reconfig.h", "setmaxnreg.dec.sync.aligned.u32");
  f.where = "another warp of its warpgroup executes it as change 1, with the same count";
  EXPECT_EQ(known_in_library(f), nullptr) << "called from nowhere in CUTLASS";
  f.access.site.through = {"/x/include/cutlass/gemm/kernel/sm100_gemm_tma_warpspecialized.hpp"};
  EXPECT_NE(known_in_library(f), nullptr);
  f.access.site.through = {"/x/user.cu"};
  EXPECT_EQ(known_in_library(f), nullptr) << "a kernel of the user's";
  f.access.site.through = {"/x/include/cutlass/gemm/kernel/sm100_gemm_tma_warpspecialized.hpp"};
  f.where = "another warp of its warpgroup executes it as change 1";
  EXPECT_EQ(known_in_library(f), nullptr) << "another count";
}

TEST(LibraryFindings, NothingElseInTheKernelIsKnown) {
  EXPECT_EQ(known_in_library(race(kSelect, kAssign, kAssign), RaceShape::kOther), nullptr)
      << "an earlier tile that overwrites what a later one reads";
  EXPECT_EQ(known_in_library(race(kSelect, kAssign, kAssign), RaceShape::kWritesOfABlock), nullptr);
  EXPECT_EQ(known_in_library(race(kSelect, "user.cu", kAssign), RaceShape::kLaterBlockWrites),
            nullptr)
      << "a functor of the user's";
  EXPECT_EQ(known_in_library(race(kSelect, kAssign, "user.cu"), RaceShape::kLaterBlockWrites),
            nullptr);
  EXPECT_EQ(known_in_library(race("void mine::DeviceSelectSweepKernel<int>(int)", kAssign, kAssign),
                             RaceShape::kLaterBlockWrites),
            nullptr);
  EXPECT_EQ(known_in_library(
                race("void user<cub::X::DeviceSelectSweepKernel<int> >(int)", kAssign, kAssign),
                RaceShape::kLaterBlockWrites),
            nullptr);
  Finding other = race(kSelect, kAssign, kAssign);
  other.kind = Kind::kOutOfBounds;
  EXPECT_EQ(known_in_library(other, RaceShape::kLaterBlockWrites), nullptr);
}

TEST(LibraryFindings, TheLastWarpOfATileReadsWhatTheOthersWrote) {
  constexpr const char* kReduce =
      "/usr/local/cuda/include/cooperative_groups/details/coalesced_reduce.h";
  Finding f = race("void user(int*)", kReduce, kReduce);
  f.where = "56 bytes into 'the system's shared memory'";
  EXPECT_NE(known_in_library(f, RaceShape::kWarpsOfABlock), nullptr);
  EXPECT_EQ(known_in_library(f, RaceShape::kOther), nullptr) << "two lanes of one warp";
  f.access.site = at("user.cu");
  EXPECT_EQ(known_in_library(f, RaceShape::kWarpsOfABlock), nullptr) << "the user's own access";
  f = race("void user(int*)", "", "");
  EXPECT_EQ(known_in_library(f, RaceShape::kWarpsOfABlock), nullptr) << "the user's shared memory";
}

TEST(LibraryFindings, TheLastToLeaveAPipelineDestroysItsBarriers) {
  constexpr const char* kBarrier =
      "/usr/local/cuda/include/cccl/cuda/__barrier/barrier_block_scope.h";
  Finding f = race("user(int*)", kBarrier, kBarrier);
  EXPECT_EQ(known_in_library(f, RaceShape::kBarrierEnds), nullptr) << "the user destroys a barrier";
  f.access.site.through = {"/usr/local/cuda/include/cccl/cuda/pipeline"};
  EXPECT_NE(known_in_library(f, RaceShape::kBarrierEnds), nullptr);
  EXPECT_EQ(known_in_library(f, RaceShape::kWarpsOfABlock), nullptr);
  f.other->site.file = "user.cu";
  EXPECT_EQ(known_in_library(f, RaceShape::kBarrierEnds), nullptr) << "the user reads the bytes";
}

TEST(LibraryFindings, WhatTheScanOfASegmentedSortSubtractsAgain) {
  Finding f;
  f.kind = Kind::kUninitialised;
  f.kernel =
      "void cub::CUB_300001_SM_900::detail::radix_sort::DeviceSegmentedRadixSortKernel<int>(int*)";
  f.access.site = at("", "bar.red.and.pred");
  EXPECT_EQ(known_in_library(f), nullptr) << "a register";
  f.origin = at("/usr/local/cuda/include/cccl/cub/thread/thread_load.cuh", "ld.shared.u32");
  EXPECT_NE(known_in_library(f), nullptr);
  f.origin = at("", "ld.global.u32");
  EXPECT_EQ(known_in_library(f), nullptr) << "keys that the user has not written";
  f.origin = at("user.cu", "ld.shared.u32");
  EXPECT_EQ(known_in_library(f), nullptr);
}

TEST(LibraryFindings, ValuesThatAreDropped) {
  Finding f;
  f.kind = Kind::kUninitialised;
  f.kernel = kScanByKey;
  f.access.site = at("user.cu", "bra");
  EXPECT_NE(known_in_library(f), nullptr) << "a functor that is given what nobody assigned";
  f.origin = at(kAssign, "ld.global.u32");
  EXPECT_EQ(known_in_library(f), nullptr) << "a value that the user has not written";
  f.kernel = kSetOperation;
  EXPECT_EQ(known_in_library(f), nullptr);
  f.origin = at(kSetFile, "ld.shared.u32");
  EXPECT_NE(known_in_library(f), nullptr);
  f.origin = at(kSetFile, "ld.u64");
  EXPECT_NE(known_in_library(f), nullptr) << "through a generic address";
  std::string in_global_memory = kSetOperation;
  f.kernel = in_global_memory.replace(in_global_memory.find("_kernel_agent<"), 14,
                                      "_kernel_agent_vshmem<");
  EXPECT_NE(known_in_library(f), nullptr)
      << "whose temporary storage is too large for shared memory";
  f.kernel = kSetOperation;
  f.origin = at(kSetFile, "ld.global.u32");
  EXPECT_EQ(known_in_library(f), nullptr);
  f.origin = at("user.cu", "ld.shared.u32");
  EXPECT_EQ(known_in_library(f), nullptr);
}

}  // namespace library_findings_test
}  // namespace lockstep::check
