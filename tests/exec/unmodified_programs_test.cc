// Correct programs built by nvcc: `lockstep exec` and `lockstep counters` run them unmodified.
#include <gtest/gtest.h>

#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

class Newcomer : public testing::TestWithParam<const char*> {};

TEST_P(Newcomer, RunsUnmodifiedAndIsRight) {
  const Outcome o = run("exec --require-kernels -- " + program(GetParam()));
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_TRUE(has(o.out, "PASSED\n")) << o.out;
  // One program has a launch refused on purpose and checks the error.
  const std::string information = std::string(GetParam()) == "dynamic_shared" ? "1" : "0";
  EXPECT_TRUE(has(o.err, "0 errors, " + information + " for information, 0 suppressed")) << o.err;
}

INSTANTIATE_TEST_SUITE_P(Exec, Newcomer,
                         testing::Values("vector_add", "reduction", "printf", "streams", "managed",
                                         "graph", "dynamic_shared", "linked", "per_thread_stream",
                                         "grid_sync", "textures"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Exec, HoldsUnderOtherSchedulesAndDevices) {
  for (const char* options :
       {"--schedule=1", "--schedule=77 --threads=1", "--device=sm_120", "--check=none"}) {
    const Outcome o = run(std::string("exec ") + options + " -- " + program("reduction"));
    EXPECT_EQ(o.status, 0) << options << "\n" << o.out << o.err;
    EXPECT_TRUE(has(o.out, "sum 2398830\nPASSED\n")) << options << "\n" << o.out;
  }
}

TEST(Exec, HasAsManyDevicesAsAskedFor) {
  for (const char* count : {"1", "3"}) {
    const Outcome o = run(std::string("exec --devices=") + count + " -- " + program("devices"));
    EXPECT_EQ(o.status, 0) << o.out << o.err;
    EXPECT_EQ(o.out, std::string(count) + " devices\nPASSED\n");
  }
}

TEST(Exec, KernelsPrintInOrder) {
  EXPECT_EQ(run("exec -- " + program("printf")).out,
            "hello world from thread 0 of 3:  0.00 a 1234567890 %\n"
            "hello world from thread 1 of 3:  1.50 b 1234567890 %\n"
            "hello world from thread 2 of 3:  3.00 c 1234567890 %\n"
            "PASSED\n");
}

TEST(Settings, OptionsWinOverTheEnvironment) {
  EXPECT_EQ(run("exec --devices=3 -- " + program("faulty") + " count", "LOCKSTEP_DEVICES=2").out,
            "3 devices\n");
  EXPECT_EQ(run("exec -- " + program("faulty") + " count", "LOCKSTEP_DEVICES=2").out,
            "2 devices\n");
}

TEST(Counters, AreALineAKernel) {
  const Outcome o = run("counters -- " + program("vector_add"));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(has(o.out, "ld sectors/req")) << o.out;
  EXPECT_TRUE(has(o.out, "add(float const*, float const*, float*, int)\n")) << o.out;
  EXPECT_TRUE(has(o.out, "  4.00  ")) << "neighbours read neighbours: four sectors for 32 floats\n"
                                      << o.out;
}

TEST(Counters, LookForNothingUnlessAsked) {
  EXPECT_EQ(run("counters -- " + program("faulty") + " malloc race").status, 0);
  EXPECT_EQ(run("counters --check=races -- " + program("faulty") + " malloc race").status, 86);
}

TEST(Settings, AFolderIsNoFile) {
  const Outcome o = run("exec --suppressions=" + scratch("") + " -- " + program("vector_add"));
  EXPECT_EQ(o.status, 2) << o.err;
  EXPECT_TRUE(has(o.err, "is not a file that can be read")) << o.err;
}

}  // namespace
}  // namespace lockstep
