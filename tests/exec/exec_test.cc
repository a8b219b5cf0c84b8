// `lockstep exec` and `lockstep counters` as people use them: programs that nvcc built, run unmodified.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace lockstep {
namespace {

using nlohmann::json;

struct Outcome {
  int status = -1;
  std::string out, err;
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string scratch(const std::string& name) { return testing::TempDir() + "/" + name; }
std::string program(const std::string& name) { return "tests/exec/" + name; }

// Runs lockstep-exec with these words, through a shell.
Outcome run(const std::string& words, const std::string& environment = "") {
  const char* tool = std::getenv("LOCKSTEP_EXEC");
  EXPECT_NE(tool, nullptr);
  const std::string out = scratch("out"), err = scratch("err");
  const std::string command = environment + " " + tool + " " + words + " >" + out + " 2>" + err;
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// ---- programs that are right ------------------------------------------------------------------------------------------

class Newcomer : public testing::TestWithParam<const char*> {};

TEST_P(Newcomer, RunsUnmodifiedAndIsRight) {
  const Outcome o = run("exec --require-kernels -- " + program(GetParam()));
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_TRUE(has(o.out, "PASSED\n")) << o.out;
  EXPECT_TRUE(has(o.err, "0 errors, 0 for information, 0 suppressed")) << o.err;
}

INSTANTIATE_TEST_SUITE_P(Exec, Newcomer,
                         testing::Values("vector_add", "reduction", "printf", "streams", "managed", "graph", "dynamic_shared", "algorithms", "linked",
                                         "per_thread_stream", "grid_sync", "textures"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Exec, HoldsUnderOtherSchedulesAndDevices) {
  for (const char* options : {"--schedule=1", "--schedule=77 --threads=1", "--device=sm_120", "--check=none"}) {
    const Outcome o = run(std::string("exec ") + options + " -- " + program("reduction"));
    EXPECT_EQ(o.status, 0) << options << "\n" << o.out << o.err;
    EXPECT_TRUE(has(o.out, "sum 2398830\nPASSED\n")) << options << "\n" << o.out;
  }
}

// Tiles that look back at those before them: in whatever order blocks begin, and whichever host threads run them.
TEST(Exec, LooksBackUnderOtherSchedulesAndOnSeveralHostThreads) {
  for (const char* options : {"--threads=2 --check=none", "--threads=8 --check=none", "--threads=2", "--threads=1 --schedule=5", "--threads=3 --schedule=6"}) {
    const Outcome o = run(std::string("exec ") + options + " -- " + program("segments") + " 2");
    EXPECT_EQ(o.status, 0) << options << "\n" << o.out << o.err;
    EXPECT_TRUE(has(o.out, "PASSED\n")) << options << "\n" << o.out;
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

// ---- findings ---------------------------------------------------------------------------------------------------------

TEST(Findings, AreReportedInEveryForm) {
  const std::string j = scratch("report.json"), s = scratch("report.sarif"), t = scratch("report.txt");
  const Outcome o = run("exec --report=" + j + " --report=" + s + " --report=" + t + " -- " + program("faulty") + " malloc out-of-bounds sync");
  EXPECT_EQ(o.status, 86);
  EXPECT_EQ(o.out, "cudaErrorIllegalAddress\n");
  const json report = json::parse(contents(j));
  EXPECT_EQ(report["exit_status"], 86);
  EXPECT_EQ(report["command"].back(), "sync");
  ASSERT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["findings"][0]["kind"], "out-of-bounds");
  EXPECT_EQ(report["findings"][0]["line"], 9);
  EXPECT_EQ(report["kernels"][0]["name"], "store(int*, int)");
  EXPECT_EQ(report["kernels"][0]["launches"], 1);
  const json result = json::parse(contents(s))["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "out-of-bounds");
  EXPECT_TRUE(has(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "faulty.cu"));
  EXPECT_TRUE(has(contents(t), "1 kernel launched on a simulated sm_90: 1 error"));
  EXPECT_TRUE(has(contents(t), "faulty.cu:9"));
}

TEST(Findings, OfAKernelThatWaitsForItsHostSayThatTheSimulatedGpuCannot) {
  const std::string j = scratch("waits.json");
  const Outcome o = run("exec --report=" + j + " -- " + program("waits_for_host"));
  EXPECT_EQ(o.status, 1) << "the program's own, which looks at the error: " << o.err;
  EXPECT_TRUE(has(o.out, "cudaErrorNotSupported")) << o.out;
  const json report = json::parse(contents(j));
  ASSERT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["findings"][0]["kind"], "unsupported");
  EXPECT_EQ(report["findings"][0]["line"], 5);
  EXPECT_TRUE(has(report["findings"][0]["where"], "the kernel waits for host memory to change: 0 bytes into (8 bytes, managed memory #1)")) << report["findings"][0];
}

TEST(Findings, OfACrashedProgramAreKept) {
  const std::string j = scratch("crash.json");
  const Outcome o = run("exec --report=" + j + " -- " + program("faulty") + " malloc out-of-bounds abort");
  EXPECT_EQ(o.status, 128 + SIGABRT);
  const json report = json::parse(contents(j));
  EXPECT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["exit_status"], 128 + SIGABRT);
  EXPECT_FALSE(report["kernels"][0].contains("launches"));
}

TEST(Findings, CountInWhateverTheProgramStarts) {
  EXPECT_EQ(run("exec -- sh -c '" + program("faulty") + " malloc out-of-bounds; true'").status, 86);
  EXPECT_EQ(run("exec -- sh -c '" + program("faulty") + " malloc store; true'").status, 0);
}

TEST(Findings, CanBeSuppressed) {
  const std::string file = scratch("suppressions");
  std::ofstream(file) << "# known\nrace   race(*\n";
  const std::string words = " -- " + program("faulty") + " malloc race sync";
  EXPECT_EQ(run("exec" + words).status, 86);
  const Outcome suppressed = run("exec --suppressions=" + file + words);
  EXPECT_EQ(suppressed.status, 0) << suppressed.err;
  EXPECT_EQ(suppressed.out, "cudaSuccess\n") << "the kernel goes on";
  std::ofstream(file) << "out-of-bounds  store(*\n";
  EXPECT_EQ(run("exec --suppressions=" + file + words).status, 86) << "another kind in another kernel";
  const std::string j = scratch("suppressed.json");
  const Outcome ended = run("exec --suppressions=" + file + " --report=" + j + " -- " + program("faulty") + " malloc out-of-bounds sync");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "cudaErrorIllegalAddress\n") << "no kernel survives a bad address";
  EXPECT_FALSE(has(ended.err, "out-of-bounds:")) << ended.err;
  EXPECT_EQ(json::parse(contents(j))["suppressed"].size(), 1u);
}

TEST(Findings, DependOnTheChecks) {
  EXPECT_EQ(run("exec --check=-races -- " + program("faulty") + " malloc race").status, 0);
  EXPECT_EQ(run("exec --check=races -- " + program("faulty") + " malloc race").status, 86);
}

// ---- exit statuses ----------------------------------------------------------------------------------------------------

TEST(ExitStatus, IsTheProgramsOwnUnlessItIsZero) {
  EXPECT_EQ(run("exec -- " + program("faulty") + " malloc out-of-bounds exit3").status, 3);
  EXPECT_EQ(run("exec -- " + program("faulty") + " exit3").status, 3);
  EXPECT_EQ(run("exec -- " + program("faulty") + " malloc store").status, 0);
}

TEST(ExitStatus, NoKernelIsAFailureOnRequest) {
  EXPECT_EQ(run("exec -- " + program("faulty") + " malloc").status, 0);
  const Outcome o = run("exec --require-kernels -- " + program("faulty") + " malloc");
  EXPECT_EQ(o.status, 87);
  EXPECT_TRUE(has(o.err, "no kernel")) << o.err;
  EXPECT_EQ(run("exec --require-kernels -- true").status, 87);
}

TEST(ExitStatus, WrongUsageRunsNothing) {
  for (const char* words : {"", "exec", "exec --", "exec --device=sm90 -- ", "exec --check=everything -- ", "exec --no-such-option -- ",
                            "exec --suppressions=/nonexistent -- ", "execute -- "}) {
    const std::string text = words;
    const Outcome o = run(text.ends_with(" ") ? text + program("vector_add") : text);
    EXPECT_EQ(o.status, 2) << words << "\n" << o.err;
    EXPECT_FALSE(has(o.out, "PASSED")) << words;
  }
}

TEST(ExitStatus, AReportThatCannotBeWrittenIsNoSuccess) {
  EXPECT_EQ(run("exec --report=/nonexistent/r.json -- " + program("vector_add")).status, 88);
}

TEST(ExitStatus, QuietSaysNothing) {
  const Outcome o = run("exec --quiet -- " + program("faulty") + " malloc out-of-bounds");
  EXPECT_EQ(o.status, 86);
  EXPECT_FALSE(has(o.err, "out-of-bounds")) << o.err;
}

// ---- programs that cannot be simulated --------------------------------------------------------------------------------

void expect_refused(const std::string& name, const std::string& what_to_do) {
  const Outcome o = run("exec -- " + program(name) + " count");
  EXPECT_EQ(o.status, 126) << o.err;
  EXPECT_EQ(o.out, "") << "it was not run";
  EXPECT_TRUE(has(o.err, what_to_do)) << o.err;
}

TEST(Refused, AStaticRuntime) { expect_refused("faulty_static", "-cudart shared"); }
TEST(Refused, MachineCodeAlone) { expect_refused("faulty_machine_code", "compute_90"); }
TEST(Refused, AVendorsLibraryThatIsNotThere) { expect_refused("needs_cutensor_unheard", "NVIDIA's libraries reach the driver by themselves"); }
TEST(Refused, AnotherLibraryThatIsNotThere) { expect_refused("needs_unheard", "LD_LIBRARY_PATH"); }

TEST(Refused, PtxForANewerDevice) {
  const Outcome o = run("exec --device=sm_80 -- " + program("faulty") + " count");
  EXPECT_EQ(o.status, 126) << o.err;
  EXPECT_TRUE(has(o.err, "sm_80") || has(o.err, "8.0") || has(o.err, "compute_80")) << o.err;
}

TEST(Refused, WhatIsNotThere) { EXPECT_EQ(run("exec -- " + program("nonexistent")).status, 127); }

// ---- settings and counters --------------------------------------------------------------------------------------------

TEST(Settings, OptionsWinOverTheEnvironment) {
  EXPECT_EQ(run("exec --devices=3 -- " + program("faulty") + " count", "LOCKSTEP_DEVICES=2").out, "3 devices\n");
  EXPECT_EQ(run("exec -- " + program("faulty") + " count", "LOCKSTEP_DEVICES=2").out, "2 devices\n");
}

TEST(Counters, AreALineAKernel) {
  const Outcome o = run("counters -- " + program("vector_add"));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(has(o.out, "ld sectors/req")) << o.out;
  EXPECT_TRUE(has(o.out, "add(float const*, float const*, float*, int)\n")) << o.out;
  EXPECT_TRUE(has(o.out, "  4.00  ")) << "neighbours read neighbours: four sectors for 32 floats\n" << o.out;
}

TEST(Counters, LookForNothingUnlessAsked) {
  EXPECT_EQ(run("counters -- " + program("faulty") + " malloc race").status, 0);
  EXPECT_EQ(run("counters --check=races -- " + program("faulty") + " malloc race").status, 86);
}

}  // namespace
}  // namespace lockstep
