// Exports of the simulated libcuda.so.1: every name of golden/exports/libcuda.txt is an entry point
// or is refused by name.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "simulator/driver/tests/driver_test.h"

namespace lockstep::driver {
namespace {

std::set<std::string> listed() {
  std::set<std::string> names;
  std::ifstream file(std::getenv("EXPORTS"));
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') names.insert(line);
  }
  return names;
}

CUDA_TEST(DriverExports, EveryNameOfTheListIsThere) {
  const std::set<std::string> names = listed();
  EXPECT_EQ(names.size(), 637u);
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const std::string& name : names) EXPECT_NE(dlsym(library, name.c_str()), nullptr) << name;
}

CUDA_TEST(DriverExports, EveryEntryPointIsExported) {
  const std::set<std::string> names = listed();
#define ENTRY(name, version, suffix, ...) \
  EXPECT_EQ(names.count(#name #suffix), 1u) << #name #suffix;
#define FORWARD ENTRY
#include "simulator/driver/entry_points.inc"
#undef FORWARD
#undef ENTRY
}

SIMULATED_TEST(DriverExports, WhatIsNotSimulatedIsRefused) {
  GOOD(cuInit(0));
  CUmipmappedArray array = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMipmappedArrayCreate(&array, nullptr, 1));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lockstep: cuMipmappedArrayCreate: the simulated GPU does not support it\n");
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  GOOD(cuGetProcAddress("cuMipmappedArrayCreate", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT,
                        &status));
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

// No other thread can write the value while the host waits.
SIMULATED_TEST(DriverMemoryOperation, GivesUpOnAValueThatNeverComes) {
  start();
  const CUdeviceptr at = words({0});
  GOOD(cuStreamWaitValue32(nullptr, at, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  testing::internal::CaptureStderr();
  EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(nullptr));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("deadlock"), std::string::npos) << said;
  EXPECT_NE(said.find("waits for the value 1 at"), std::string::npos) << said;
}

// Runs without libcudadevrt, which a program on silicon links.
SIMULATED_TEST(DriverGrid, WaitsForItselfByItsHandle) {
  start();
  const CUfunction meet = function(load(R"(
.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 e) cudaCGSynchronize(.param .b64 h, .param .b32 flags);
.extern .func (.param .b32 e) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 h);
.extern .func (.param .b32 e) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 h);
.visible .entry meet(.param .u64 out) {
  .reg .u64 %rd<8>; .reg .b32 %r<12>;
  .local .align 4 .b8 place[16];
  ld.param.u64 %rd0, [out];
  mov.u64 %rd1, place;
  cvta.local.u64 %rd1, %rd1;
  add.u64 %rd2, %rd1, 4;
  { .param .b32 a; .param .b64 b; st.param.b32 [a], 1; call (b), cudaCGGetIntrinsicHandle, (a);
    ld.param.b64 %rd3, [b]; }
  { .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 d; st.param.b64 [a], %rd1;
    st.param.b64 [b], 0; st.param.b64 [c], %rd3;
    call (d), cudaCGGetSize, (a, b, c); ld.param.b32 %r0, [d]; }
  { .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 d; st.param.b64 [a], %rd2;
    st.param.b64 [b], 0; st.param.b64 [c], %rd3;
    call (d), cudaCGGetRank, (a, b, c); ld.param.b32 %r1, [d]; }
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  ld.u32 %r5, [%rd1];
  ld.u32 %r6, [%rd2];
  mul.wide.u32 %rd4, %r2, 4;
  add.u64 %rd4, %rd0, %rd4;
  st.global.u32 [%rd4], %r6;
  { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %rd3; st.param.b32 [b], 0;
    call (c), cudaCGSynchronize, (a, b); ld.param.b32 %r7, [c]; }
  // The rank that the thread at the other end has left, behind the first `size` words; then what
  // the functions answered.
  sub.u32 %r8, %r5, 1;
  sub.u32 %r8, %r8, %r2;
  mul.wide.u32 %rd5, %r8, 4;
  add.u64 %rd5, %rd0, %rd5;
  ld.global.u32 %r9, [%rd5];
  mul.wide.u32 %rd6, %r5, 4;
  add.u64 %rd6, %rd6, %rd4;
  add.u32 %r0, %r0, %r1;
  add.u32 %r0, %r0, %r7;
  add.u32 %r9, %r9, %r0;
  st.global.u32 [%rd6], %r9;
  ret;
})"),
                                   "meet");
  constexpr unsigned kBlocks = 4, kThreads = 64, kAll = kBlocks * kThreads;
  CUdeviceptr out = words(std::vector<unsigned>(2 * kAll, 0xdead));
  void* arguments[] = {&out};
  GOOD(cuLaunchCooperativeKernel(meet, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments));
  GOOD(cuCtxSynchronize());
  const auto found = words_at(out, 2 * kAll);
  for (unsigned i = 0; i < kAll; ++i) {
    EXPECT_EQ(found[i], i);
    EXPECT_EQ(found[kAll + i], kAll - 1 - i);
  }
}

// The handle of a grid that is not cooperative is 0, as on an H100.
SIMULATED_TEST(DriverGrid, OfAnOrdinaryLaunchHasNoHandle) {
  start();
  const CUfunction ask = function(load(R"(
.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 e) cudaCGSynchronize(.param .b64 h, .param .b32 flags);
.visible .entry ask(.param .u64 out) {
  .reg .u64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd0, [out];
  { .param .b32 a; .param .b64 b; st.param.b32 [a], 1; call (b), cudaCGGetIntrinsicHandle, (a);
    ld.param.b64 %rd1, [b]; }
  { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %rd1; st.param.b32 [b], 0;
    call (c), cudaCGSynchronize, (a, b); ld.param.b32 %r1, [c]; }
  st.global.u64 [%rd0], %rd1;
  st.global.u32 [%rd0+8], %r1;
  ret;
})"),
                                  "ask");
  CUdeviceptr out = words({1, 1, 1});
  void* arguments[] = {&out};
  GOOD(cuLaunchKernel(ask, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(words_at(out, 3), (std::vector<unsigned>{0, 0, 999}));
}

}  // namespace
}  // namespace lockstep::driver
