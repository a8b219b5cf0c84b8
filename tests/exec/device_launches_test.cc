// Dynamic parallelism under `lockstep exec`.
#include <gtest/gtest.h>

#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

TEST(DynamicParallelism, GridsComeWhenThoseBeforeThemHaveEnded) {
  for (const char* seed : {"0", "1", "2"}) {
    const Outcome o = run("exec --schedule=" + std::string(seed) + " -- " +
                          program("dynamic_parallelism") + " order");
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(o.out, "1 2 3 4 9 10\ncudaSuccess\n") << o.err;
  }
}

TEST(DynamicParallelism, OfManyGenerations) {
  const Outcome o = run("exec --check=all,leaks -- " + program("dynamic_parallelism") + " sort");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\ncudaSuccess\n");
}

TEST(DynamicParallelism, CopiesAndFillsAreGrids) {
  const Outcome o = run("exec -- " + program("dynamic_parallelism") + " copies");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "1 1 1 1\ncudaSuccess\n") << o.err;
}

TEST(DynamicParallelism, ALaunchThatNoGridHasIsRefusedInTheKernel) {
  const Outcome o = run("exec -- " + program("dynamic_parallelism") + " refused");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "cudaErrorInvalidConfiguration: 9 9 0\ncudaSuccess\n") << o.err;
}

// The same errors as on an H100.
TEST(DynamicParallelism, AThreadHasALastErrorOfItsOwn) {
  const Outcome o = run("exec -- " + program("dynamic_parallelism") + " errors");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "9 0 9 9 9 9 0 1 1 0\ncudaSuccess\n") << o.err;
}

TEST(DynamicParallelism, FindingsNameWhoLaunchedTheGrid) {
  const Outcome o = run("exec -- " + program("dynamic_parallelism") + " outside");
  EXPECT_EQ(o.status, 86) << o.err;
  EXPECT_TRUE(has(o.err, "out-of-bounds")) << o.err;
  EXPECT_TRUE(has(o.err, "in kernel append(Log*, int)")) << o.err;
  EXPECT_TRUE(has(o.err, "Launched by kernel outside(Log*).")) << o.err;
}

TEST(DynamicParallelism, OfOtherCallsTheLineIsNamed) {
  const Outcome o = run("exec -- " + program("dynamic_parallelism") + " queries");
  EXPECT_EQ(o.status, 86) << o.err;
  EXPECT_TRUE(has(o.err, "'__cudaCDP2GetDevice' of the device runtime")) << o.err;
  EXPECT_TRUE(has(o.err, "queries(Log*)")) << o.err;
  EXPECT_TRUE(has(o.err, "dynamic_parallelism.cu:80")) << o.err;
  EXPECT_FALSE(has(o.err, "compute_121")) << o.err;
}

}  // namespace
}  // namespace lockstep
