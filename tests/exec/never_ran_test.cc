// Refused kernels and failed calls: a program whose device code never ran must not pass.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

// The findings of a run by kind, severity and number of occurrences: "refused error 1, api-error
// information 2".
std::string findings_of(const std::string& words, int status, const std::string& options = "") {
  const std::string j = scratch("findings.json");
  const Outcome o = run("exec " + options + " --report=" + j + " -- " + words);
  EXPECT_EQ(o.status, status) << words << "\n" << o.err;
  std::string all;
  const json report = json::parse(contents(j));
  for (const json& f : report["findings"]) {
    all += (all.empty() ? "" : ", ") + f["kind"].get<std::string>() + " " +
           f["severity"].get<std::string>() + " " + f["occurrences"].dump();
  }
  return all;
}

TEST(NeverRan, ARefusedKernelIsAnErrorInEveryReport) {
  const std::string j = scratch("not_simulated.json"), s = scratch("not_simulated.sarif"),
                    t = scratch("not_simulated.txt");
  const std::string reports = "--report=" + j + " --report=" + s + " --report=" + t;
  for (const char* options : {"", "--require-kernels", "--quiet", "--check=none"}) {
    const Outcome o =
        run("exec " + std::string(options) + " " + reports + " -- " + program("not_simulated"));
    EXPECT_EQ(o.status, 86) << options << "\n" << o.err;
    EXPECT_EQ(o.out, "done\n");
  }
  const json report = json::parse(contents(j));
  ASSERT_EQ(report["findings"].size(), 1u);
  const json& f = report["findings"][0];
  EXPECT_EQ(f["kind"], "refused");
  EXPECT_EQ(f["severity"], "error");
  EXPECT_EQ(f["line"], 10);
  EXPECT_TRUE(has(f["text"], "in odd(int*): unknown instruction 'istypep.texref'")) << f["text"];
  EXPECT_TRUE(has(f["text"], "not_simulated.cu:10")) << f["text"];
  EXPECT_TRUE(has(f["text"], "This kernel cannot run: odd(int*)")) << f["text"];
  ASSERT_EQ(report["kernels"].size(), 1u);
  EXPECT_TRUE(has(report["kernels"][0].dump(), "fine(int*)"))
      << "the other kernel of the module runs";
  EXPECT_EQ(report["refused_launches"], 1);
  const json result = json::parse(contents(s))["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "refused");
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 10);
  EXPECT_TRUE(
      has(contents(t),
          "1 launch of 1 kernel on a simulated sm_90 without checks, 1 launch refused: 1 error"))
      << contents(t);
}

TEST(NeverRan, ARefusedModuleBesideOneThatRanIsAnErrorToo) {
  for (const char* options : {"", "--require-kernels", "--quiet"}) {
    const Outcome o = run("exec " + std::string(options) + " -- " + program("partly_simulated"));
    EXPECT_EQ(o.status, 86) << options << "\n" << o.err;
    EXPECT_EQ(o.out, "done\n");
    if (std::string(options) == "--quiet") continue;
    EXPECT_TRUE(has(o.err, "This kernel cannot run: odd(int*)")) << o.err;
    EXPECT_TRUE(has(o.err, "1 launch of 1 kernel on a simulated sm_90, 1 launch refused: 1 error"))
        << o.err;
  }
}

TEST(NeverRan, ARefusedKernelIsOneWhoeverLooksAtErrors) {
  EXPECT_EQ(findings_of(program("not_simulated") + " last", 86), "refused error 1");
}

TEST(NeverRan, AKernelThatNobodyLaunchesIsNoError) {
  const std::string words = program("not_simulated") + " fine";
  EXPECT_EQ(findings_of(words, 0, "--require-kernels"), "");
  const Outcome o = run("exec -- " + words);
  EXPECT_TRUE(has(o.err, "1 launch of 1 kernel on a simulated sm_90: 0 errors")) << o.err;
}

TEST(NeverRan, ARefusedKernelIsLoudWithoutExecToo) {
  const Outcome o = shell("LD_PRELOAD=" + std::string(std::getenv("SIMULATED_RUNTIME")) + " " +
                          program("not_simulated"));
  EXPECT_EQ(o.status, 86) << o.err;
  EXPECT_TRUE(has(o.err, "refused: PTX line")) << o.err;
}

TEST(NeverRan, ARefusedKernelCanBeSuppressed) {
  const std::string file = scratch("refusals"), j = scratch("refusals.json");
  std::ofstream(file) << "refused *\n";
  const Outcome o =
      run("exec --suppressions=" + file + " --report=" + j + " -- " + program("not_simulated"));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(json::parse(contents(j))["suppressed"].size(), 1u);
  EXPECT_EQ(run("exec --require-kernels --suppressions=" + file + " -- " +
                program("not_simulated") + " odd")
                .status,
            87)
      << "and still nothing has run";
}

TEST(NeverRan, ARefusedLaunchIsAnErrorUnlessItIsAskedFor) {
  const std::string faulty = program("faulty");
  EXPECT_EQ(findings_of(faulty + " malloc too-many-threads sync", 86), "refused error 1");
  EXPECT_EQ(findings_of(faulty + " malloc too-much-shared too-many-threads sync", 86),
            "refused error 1, refused error 1");
  EXPECT_EQ(findings_of(faulty + " malloc too-many-threads last sync", 0), "refused information 1");
  EXPECT_EQ(findings_of(faulty + " malloc too-many-threads peek sync", 0), "refused information 1");
  EXPECT_EQ(findings_of(faulty + " malloc last too-many-threads sync", 86), "refused error 1")
      << "asked before";
  EXPECT_EQ(findings_of(faulty + " malloc too-many-threads last too-many-threads sync", 86),
            "refused error 2")
      << "the second time nobody asked";
  EXPECT_EQ(findings_of(faulty + " malloc too-many-threads too-many-threads last", 0),
            "refused information 2");
  const Outcome o = run("exec -- " + faulty + " malloc too-many-threads store");
  EXPECT_TRUE(has(o.err,
                  "refused: the launch of store(int*, int) answered cudaErrorInvalidValue (invalid "
                  "argument): the block {2048, 1, 1} exceeds"))
      << o.err;
  EXPECT_TRUE(has(o.err, "1 launch of 1 kernel on a simulated sm_90, 1 launch refused: 1 error"))
      << o.err;
}

TEST(NeverRan, ARefusedLaunchIsNoKernelThatRan) {
  const std::string words = program("faulty") + " malloc too-many-threads last";
  EXPECT_EQ(run("exec -- " + words).status, 0);
  EXPECT_EQ(run("exec --require-kernels -- " + words).status, 87);
}

TEST(ApiErrors, AreErrorsUnlessTheyAreAskedFor) {
  const std::string faulty = program("faulty");
  EXPECT_EQ(findings_of(faulty + " too-much-memory", 86), "api-error error 1");
  EXPECT_EQ(findings_of(faulty + " too-much-memory last", 0), "api-error information 1");
  EXPECT_EQ(findings_of(faulty + " malloc unsupported", 86), "api-error error 1");
  EXPECT_EQ(findings_of(faulty + " malloc unsupported last too-much-memory", 86),
            "api-error information 1, api-error error 1");
  const Outcome o = run("exec -- " + faulty + " malloc unsupported");
  EXPECT_TRUE(
      has(o.err,
          "api-error: cudaImportExternalMemory answered cudaErrorNotSupported (operation not "
          "supported): the simulated GPU does not support it\n"
          "  by the host, a call at "))
      << o.err;
}

TEST(ApiErrors, AreNotWhatIsAnAnswer) {
  EXPECT_EQ(findings_of(program("faulty") + " peer peer", 0, "--devices=2"), "");
  EXPECT_EQ(findings_of(program("faulty") + " count malloc", 0, "--devices=0"), "");
}

TEST(ApiErrors, AreNotWhatAFindingHasLeftBehind) {
  EXPECT_EQ(findings_of(program("faulty") + " malloc out-of-bounds sync store malloc", 86),
            "out-of-bounds error 1");
}

TEST(ApiErrors, CanBeSuppressedByTheCallsName) {
  const std::string file = scratch("calls");
  std::ofstream(file) << "api-error cudaMalloc\n";
  EXPECT_EQ(findings_of(program("faulty") + " too-much-memory", 0, "--suppressions=" + file), "");
  EXPECT_EQ(findings_of(program("faulty") + " malloc too-much-memory unsupported", 86,
                        "--suppressions=" + file),
            "api-error error 1");
}

TEST(ApiErrors, AreTheFindingsOfExecAlone) {
  const Outcome o = shell("LD_PRELOAD=" + std::string(std::getenv("SIMULATED_RUNTIME")) + " " +
                          program("faulty") + " too-much-memory malloc too-many-threads");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(has(o.err, "lockstep: cudaMalloc: out of memory")) << o.err;
  EXPECT_TRUE(
      has(o.err, "lockstep: cudaLaunchKernel: store(int*, int): the block {2048, 1, 1} exceeds"))
      << o.err;
}

TEST(Inspect, NamesTheKernelsThatCannotRun) {
  const auto inspect = [](const char* name) {
    return shell(std::string(std::getenv("INSPECT")) + " " + program(name));
  };
  const Outcome good = inspect("vector_add");
  EXPECT_EQ(good.status, 0) << good.out;
  EXPECT_TRUE(has(good.out, "which can run its kernel\n")) << good.out;
  const Outcome odd = inspect("not_simulated");
  EXPECT_EQ(odd.status, 1) << odd.out;
  EXPECT_TRUE(has(odd.out, "cannot run the kernel odd(int*)\n")) << odd.out;
  EXPECT_TRUE(has(odd.out, "its other kernels (1) can run\n")) << odd.out;
  EXPECT_TRUE(has(odd.out, "in odd(int*): unknown instruction 'istypep.texref'\n    at "))
      << odd.out;
  EXPECT_TRUE(has(odd.out, "not_simulated.cu:10\n")) << odd.out;
  const Outcome dynamic = inspect("dynamic_parallelism");
  EXPECT_EQ(dynamic.status, 1) << dynamic.out;
  EXPECT_TRUE(has(dynamic.out, "cannot run the kernel queries(Log*)\n")) << dynamic.out;
  EXPECT_EQ(inspect("linked").status, 0);
  const Outcome partly = inspect("partly_simulated");
  EXPECT_EQ(partly.status, 1) << partly.out;
  EXPECT_TRUE(has(partly.out, "cannot run the kernel odd(int*)\n")) << partly.out;
  EXPECT_TRUE(has(partly.out, "its other kernels (1) can run\n")) << partly.out;
}

}  // namespace
}  // namespace lockstep
