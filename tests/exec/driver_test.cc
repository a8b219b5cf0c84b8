// Programs that use the driver API, under `lockstep exec`.
#include <gtest/gtest.h>

#include <string>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

#ifdef WITH_NVRTC

TEST(Nvrtc, WhatIsCompiledWhileTheProgramRunsIsChecked) {
  const Outcome right = run("exec --require-kernels -- tests/exec/nvrtc");
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  EXPECT_EQ(right.out, "PASSED\n");
  EXPECT_TRUE(has(right.err, "1 launch of 1 kernel on a simulated sm_90: 0 errors")) << right.err;
  const Outcome cubin = run("exec --require-kernels -- tests/exec/nvrtc cubin");
  EXPECT_EQ(cubin.status, 0) << cubin.out << cubin.err;
  EXPECT_EQ(cubin.out, "PASSED\n");
  const Outcome planted = run("exec -- tests/exec/nvrtc planted");
  EXPECT_NE(planted.status, 0) << planted.err;
  EXPECT_TRUE(has(planted.err, "out-of-bounds: ")) << planted.err;
  EXPECT_TRUE(has(planted.err, "in kernel void scale<3>(float*, int)")) << planted.err;
  EXPECT_TRUE(has(planted.err, "scale.cu:5")) << planted.err;
}

#else

// A kernel of the driver API and a kernel of the runtime API in one program, with the static and
// with the shared runtime.
class Mixed : public testing::TestWithParam<const char*> {};

TEST_P(Mixed, HasOneGpu) {
  const std::string program = std::string("-- tests/exec/") + GetParam();
  const Outcome planted = run("exec " + program);
  EXPECT_EQ(planted.status, 86) << planted.out << planted.err;
  EXPECT_TRUE(has(planted.err, "race: ")) << planted.err;
  EXPECT_TRUE(has(planted.err, "in kernel shift")) << planted.err;
  const Outcome repaired = run("exec --require-kernels " + program + " repaired");
  EXPECT_EQ(repaired.status, 0) << repaired.out << repaired.err;
  EXPECT_EQ(repaired.out, "PASSED\n");
  EXPECT_TRUE(has(repaired.err, "2 launches of 2 kernels on a simulated sm_90: 0 errors"))
      << repaired.err;
}

INSTANTIATE_TEST_SUITE_P(Driver, Mixed, testing::Values("mixed_static", "mixed_shared"));

// A failed call of the driver API is information: the program sees its result. A refused launch is
// an error, whatever the program does.
TEST(Driver, CallsThatFailAreInformationAndRefusedLaunchesErrors) {
  const Outcome unasked = run("exec --check=none -- tests/exec/mixed_static unasked");
  EXPECT_EQ(unasked.status, 0) << unasked.err;
  EXPECT_TRUE(has(
      unasked.err,
      "cuMemFree answered CUDA_ERROR_INVALID_VALUE (invalid argument): 0x3039 is no allocation"))
      << unasked.err;
  EXPECT_TRUE(has(unasked.err, "0 errors, 1 for information")) << unasked.err;
  const Outcome refused = run("exec --check=none -- tests/exec/mixed_static refused");
  EXPECT_EQ(refused.status, 86) << refused.err;
  EXPECT_TRUE(has(refused.err, "the launch of shift answered CUDA_ERROR_INVALID_VALUE"))
      << refused.err;
}

#endif

}  // namespace
}  // namespace lockstep
