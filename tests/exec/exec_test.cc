// `lockstep exec` and `lockstep counters` as people use them: programs that nvcc built, run
// unmodified.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

// What runs a program: some are in one binary, by their names.
std::string program(const std::string& name) {
  for (const char* one : {"certified", "devices", "dynamic_shared", "goes_on", "graph", "grid_sync",
                          "printf", "races", "reduction", "streams", "textures", "waits_for_host"})
    if (name == one) return "tests/exec/several " + name;
  return "tests/exec/" + name;
}

// ---- programs that are right --------------------------------------------------------------------

class Newcomer : public testing::TestWithParam<const char*> {};

TEST_P(Newcomer, RunsUnmodifiedAndIsRight) {
  const Outcome o = run("exec --require-kernels -- " + program(GetParam()));
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_TRUE(has(o.out, "PASSED\n")) << o.out;
  // One of them has a launch refused on purpose, and looks at the error.
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

// ---- what is proved before a launch -------------------------------------------------------------

TEST(Certificate, NamesWhatIsProvedAndWhatIsOnlyChecked) {
  const std::string file = scratch("certificate.json");
  const Outcome o = run("exec --certificate=" + file + " -- " + program("certified"));
  EXPECT_EQ(o.status, 86) << o.err;  // the race
  const auto proved = [](const char* kernel, const char* shape, const char* what) {
    return std::string("lockstep: of_certified::") + kernel + " <<<" + shape +
           ": proved for every schedule and all data at this shape: " + what;
  };
  EXPECT_TRUE(has(o.err, proved("reversed(int const*, int*)", "(2,1,1), (64,1,1)>>>, 2 launches",
                                "4 of 4 accesses\n")))
      << o.err;
  EXPECT_TRUE(has(o.err, proved("gathered(int const*, int const*, int*)", "(2,1,1), (64,1,1)>>>",
                                "1 of 3 accesses; certified.cu:15 was checked in this run\n")))
      << o.err;
  EXPECT_TRUE(has(o.err, proved("raced(int*)", "(1,1,1), (64,1,1)>>>",
                                "1 of 3 accesses; certified.cu:20 and certified.cu:21 were checked "
                                "in this run\n")))
      << o.err;
  const json certificate = json::parse(contents(file));
  EXPECT_EQ(certificate["schema"], "lockstep.certificate/1");
  EXPECT_EQ(certificate["exit_status"], 86);
  ASSERT_EQ(certificate["launches"].size(), 3u);
  const json& gathered = certificate["launches"][1];
  EXPECT_EQ(gathered["proved"], 1);
  const json& by_data = gathered["accesses"][1];
  EXPECT_TRUE(has(by_data["instruction"], "ld.global"));
  EXPECT_EQ(by_data["line"], 15);
  EXPECT_GT(by_data["ptx_line"], 0);
  for (const char* claim : {"known", "in_bounds", "aligned", "initialised", "apart"})
    EXPECT_EQ(by_data[claim], false) << claim;
  const json& raced = certificate["launches"][2]["accesses"];
  EXPECT_EQ(raced[1]["in_bounds"], true);
  EXPECT_EQ(raced[1]["apart"], false);
}

TEST(Certificate, OfARunWithoutChecksSaysThatNothingWasChecked) {
  const Outcome o = run("exec --check=none --certificate=" + scratch("unchecked.json") + " -- " +
                        program("certified"));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(has(o.err, "certified.cu:15 was not checked, as no check ran\n")) << o.err;
}

TEST(Profile, NamesKernelsLinesAndWhatTimeIsSpentOn) {
  const std::string file = scratch("profile.json");
  const Outcome o = run("exec --profile=" + file + " -- " + program("certified") + " busy");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(has(o.out, "  seconds  share   loop  arithmetic  memory  races")) << o.out;
  EXPECT_TRUE(has(o.out, "of_certified::busy(int*, int)\n")) << o.out;
  EXPECT_TRUE(has(o.out, "certified.cu:29\n")) << "the store to shared memory: " << o.out;
  const json profile = json::parse(contents(file));
  EXPECT_EQ(profile["schema"], "lockstep.profile/1");
  EXPECT_EQ(profile["complete"], true);
  ASSERT_EQ(profile["kernels"].size(), 1u);
  const json& busy = profile["kernels"][0];
  double sum = 0;
  for (const char* what : {"loop", "memory", "races", "synchronisation"}) {
    EXPECT_GT(busy["spent"][what].get<double>(), 0) << what << o.out;
    sum += busy["spent"][what].get<double>();
  }
  EXPECT_LE(sum, busy["seconds"].get<double>() * 1.001);
  EXPECT_DOUBLE_EQ(busy["seconds"].get<double>(), profile["seconds"].get<double>());
  for (const json& i : profile["instructions"]) {
    EXPECT_GE(i["line"].get<int>(), 25) << i;
    EXPECT_LE(i["line"].get<int>(), 35) << i;
  }
}

TEST(Profile, IsPrintedWithoutAFileAndOnlyIfAskedFor) {
  const std::string busy = " -- " + program("certified") + " busy";
  EXPECT_TRUE(has(run("exec --profile" + busy).out, "of_certified::busy(int*, int)\n"));
  EXPECT_EQ(run("exec" + busy).out, "");
}

// ---- findings -----------------------------------------------------------------------------------

TEST(Findings, AreReportedInEveryForm) {
  const std::string j = scratch("report.json"), s = scratch("report.sarif"),
                    t = scratch("report.txt");
  const Outcome o = run("exec --report=" + j + " --report=" + s + " --report=" + t + " -- " +
                        program("faulty") + " malloc out-of-bounds sync");
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
  EXPECT_TRUE(
      has(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "faulty.cu"));
  EXPECT_TRUE(has(contents(t), "1 launch of 1 kernel on a simulated sm_90: 1 error"));
  EXPECT_TRUE(has(contents(t), "faulty.cu:9"));
  EXPECT_TRUE(has(contents(t), ", just past the end of cudaMalloc #1 (256 bytes)\n"))
      << contents(t);
}

TEST(Findings, OfARaceNameBothThreadsAndBothLinesInEveryForm) {
  struct Side {
    int block, thread, line;
    const char* what;
    std::string who() const {
      return "block (" + std::to_string(block) + ",0,0) thread (" + std::to_string(thread) +
             ",0,0)";
    }
  };
  const struct {
    Side one, other;
  } races[] = {
      {{0, 0, 9, "a write"}, {0, 31, 7, "a read"}},
      {{0, 31, 17, "a write"}, {0, 0, 16, "a read"}},
      {{0, 1, 22, "a write"}, {0, 0, 22, "a write"}},
      {{0, 5, 25, "a write"}, {1, 5, 25, "a write"}},
  };
  for (int i = 0; i < 4; ++i) {
    const auto& [one, other] = races[i];
    const std::string j = scratch("races.json"), s = scratch("races.sarif"),
                      t = scratch("races.txt");
    run("exec --report=" + j + " --report=" + s + " --report=" + t + " -- " + program("races") +
        " " + std::to_string(i));
    const std::string text = contents(t);
    EXPECT_TRUE(has(text, "\n  by " + one.who())) << text;
    EXPECT_TRUE(
        has(text, "\n  against " + std::string(other.what).substr(2) + " by " + other.who()))
        << text;
    for (const Side& side : {one, other})
      EXPECT_TRUE(has(text, "races.cu:" + std::to_string(side.line) + " (")) << text;
    const json found = json::parse(contents(j))["findings"];
    ASSERT_EQ(found.size(), 1u) << text;
    const json result = json::parse(contents(s))["runs"][0]["results"][0];
    const auto is = [](const json& access, const Side& side) {
      return access["block"] == json{side.block, 0, 0} &&
             access["thread"] == json{side.thread, 0, 0};
    };
    EXPECT_TRUE(is(found[0], one) && is(found[0]["other"], other)) << found;
    EXPECT_TRUE(found[0]["line"] == one.line && found[0]["other"]["line"] == other.line) << found;
    EXPECT_TRUE(is(result["properties"], one) && is(result["properties"]["other"], other))
        << result;
    const auto describes = [](const json& location, const char* which, const Side& side) {
      return location["physicalLocation"]["region"]["startLine"] == side.line &&
             location["message"]["text"] ==
                 std::string(which) + " access, " + side.what + ", by " + side.who();
    };
    EXPECT_TRUE(describes(result["locations"][0], "one", one)) << result;
    EXPECT_TRUE(describes(result["relatedLocations"][0], "the other", other)) << result;
  }
}

// The host writes after the launch, and then it waits.
TEST(Findings, OfAKernelThatWaitsForItsHostThereAreNone) {
  const Outcome o = run("exec -- " + program("waits_for_host"));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "PASSED\n");
}

TEST(Findings, OfACrashedProgramAreKept) {
  const std::string j = scratch("crash.json");
  const Outcome o =
      run("exec --report=" + j + " -- " + program("faulty") + " malloc out-of-bounds sync abort");
  EXPECT_EQ(o.status, 128 + SIGABRT);
  const json report = json::parse(contents(j));
  EXPECT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["exit_status"], 128 + SIGABRT);
  EXPECT_EQ(report["kernels"][0]["launches"], 1);
  EXPECT_FALSE(report["kernels"][0].contains("atomics")) << "counters are known at the end";
}

TEST(Findings, StandBesideTheLaunchesThatWereMade) {
  const std::string words = "exec -- " + program("faulty") + " malloc store store race store";
  EXPECT_TRUE(has(run(words).err, "4 launches of 2 kernels on a simulated sm_90: 1 error"))
      << run(words).err;
  // A signal ends the program, and with it what it knew.
  const Outcome crashed = run(words + " sync abort");
  EXPECT_EQ(crashed.status, 128 + SIGABRT);
  EXPECT_TRUE(has(crashed.err, "4 launches of 2 kernels on a simulated sm_90: 1 error"))
      << crashed.err;
  // The launch that is under way counts.
  const Outcome stopped =
      run("exec --instruction-limit=0 -- timeout 1 " + program("waits_for_host"));
  EXPECT_TRUE(has(stopped.err, " of 1 kernel on a simulated sm_90")) << stopped.err;
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
  EXPECT_EQ(run("exec --stop --suppressions=" + file + words).out, "cudaSuccess\n")
      << "a suppressed finding stops nothing";
  std::ofstream(file) << "out-of-bounds  store(*\n";
  EXPECT_EQ(run("exec --suppressions=" + file + words).status, 86)
      << "another kind in another kernel";
  const std::string j = scratch("suppressed.json");
  const Outcome ended = run("exec --suppressions=" + file + " --report=" + j + " -- " +
                            program("faulty") + " malloc out-of-bounds sync");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "cudaErrorIllegalAddress\n") << "no kernel survives a bad address";
  EXPECT_FALSE(has(ended.err, "out-of-bounds:")) << ended.err;
  EXPECT_EQ(json::parse(contents(j))["suppressed"].size(), 1u);
}

// Information decides nothing, and hides no error: in the same kernel, in another one before it or
// after it.
TEST(Findings, ThatAreInformationChangeNoStatus) {
  const auto exec = [](const std::string& what, const std::string& file) {
    return run("exec --stop --report=" + file + " -- " + program("faulty") + " malloc " + what);
  };
  const std::string j = scratch("beside.json"), s = scratch("beside.sarif");
  const Outcome alone = exec("same-value sync", j);
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_EQ(alone.out, "cudaSuccess\n");
  EXPECT_TRUE(has(alone.err, ": 0 errors, 1 for information, 0 suppressed")) << alone.err;
  EXPECT_EQ(json::parse(contents(j))["exit_status"], 0);
  for (const char* what : {"same-value-and-out-of-bounds sync", "same-value out-of-bounds sync"}) {
    const Outcome both = exec(what, s);
    EXPECT_EQ(both.status, 86) << both.err;
    EXPECT_EQ(both.out, "cudaErrorIllegalAddress\n") << what;
    EXPECT_TRUE(has(both.err, ": 1 error, 1 for information, 0 suppressed")) << both.err;
    std::map<std::string, std::string> levels;
    const json log = json::parse(contents(s));
    for (const json& result : log["runs"][0]["results"]) levels[result["ruleId"]] = result["level"];
    EXPECT_EQ(levels,
              (std::map<std::string, std::string>{{"race", "note"}, {"out-of-bounds", "error"}}))
        << what;
  }
  const Outcome after = exec("too-many-threads race same-value sync", j);
  EXPECT_EQ(after.status, 86) << after.err;
  const Outcome looked_at = exec("race too-many-threads last same-value", j);
  EXPECT_EQ(looked_at.status, 86) << looked_at.err;
}

TEST(Findings, DependOnTheChecks) {
  EXPECT_EQ(run("exec --check=-races -- " + program("faulty") + " malloc race").status, 0);
  EXPECT_EQ(run("exec --check=races -- " + program("faulty") + " malloc race").status, 86);
}

// ---- going on -----------------------------------------------------------------------------------

TEST(GoingOn, IsWhatExecDoesWhereAKernelCan) {
  for (const char* mistake : {"race", "unwritten"}) {
    const std::string words = "-- " + program("faulty") + " malloc " + mistake + " sync";
    const Outcome on = run("exec " + words);
    EXPECT_EQ(on.status, 86) << on.err;
    EXPECT_EQ(on.out, "cudaSuccess\n") << on.err;
    EXPECT_TRUE(has(on.err, "The kernel went on.")) << on.err;
    EXPECT_TRUE(has(on.err, ": 1 error,")) << on.err;
    const Outcome stopped = run("exec --stop " + words);
    EXPECT_EQ(stopped.status, 86) << stopped.err;
    EXPECT_EQ(stopped.out, "cudaErrorLaunchFailure\n") << stopped.err;
    EXPECT_FALSE(has(stopped.err, "The kernel went on.")) << stopped.err;
  }
}

TEST(GoingOn, LeavesTheProgramItsResultsAndReportsEachPlaceOnce) {
  const std::string j = scratch("goes_on.json"), t = scratch("goes_on.txt"),
                    s = scratch("goes_on.sarif");
  const Outcome o =
      run("exec --report=" + j + " --report=" + t + " --report=" + s + " -- " + program("goes_on"));
  EXPECT_EQ(o.status, 86) << o.err;
  EXPECT_EQ(o.out, "PASSED\n") << o.err;
  const json report = json::parse(contents(j));
  std::map<std::string, int> kinds;
  int copies = 0;
  for (const json& f : report["findings"]) {
    if (has(f["where"], "cudaMemcpy copies 3 bytes to the host that nobody has written")) {
      ++copies;
      EXPECT_EQ(f["occurrences"], 10) << f["text"];
    }
    if (f["severity"] != "error") continue;
    ++kinds[f["kind"]];
    EXPECT_TRUE(f.value("survived", false)) << f["text"];
    EXPECT_GE(f["occurrences"], 10) << "each was met in every turn\n" << f["text"];
  }
  EXPECT_EQ(kinds,
            (std::map<std::string, int>{
                {"race", 1}, {"uninitialised", 1}, {"inactive-lane", 1}, {"invalid-mask", 1}}))
      << o.err;
  EXPECT_EQ(copies, 1) << "a copy of a structure and its padding is one place\n" << o.err;
  for (const json& kernel : report["kernels"]) EXPECT_EQ(kernel["launches"], 10) << kernel["name"];
  EXPECT_TRUE(has(contents(t), "4 errors")) << contents(t);
  const json log = json::parse(contents(s));
  for (const json& result : log["runs"][0]["results"]) {
    if (result["level"] == "error") {
      EXPECT_GE(result["occurrenceCount"], 10);
    }
  }
  // As the harness has it: the first finding of the first launch ends everything.
  const Outcome stopped = run("exec --stop -- " + program("goes_on"));
  EXPECT_EQ(stopped.status, 1) << stopped.err;
  EXPECT_TRUE(has(stopped.out, "cudaErrorLaunchFailure")) << stopped.out;
}

TEST(GoingOn, EndsWithWhatNoKernelSurvives) {
  const Outcome o = run("exec -- " + program("faulty") + " malloc race out-of-bounds sync");
  EXPECT_EQ(o.status, 86);
  EXPECT_EQ(o.out, "cudaErrorIllegalAddress\n");
  EXPECT_TRUE(has(o.err, ": 2 errors,")) << o.err;
}

TEST(GoingOn, IsTheSettingOfExecAndOfNobodyElse) {
  const std::string preload = "LD_PRELOAD=" + std::string(std::getenv("SIMULATED_RUNTIME")) + " ";
  const std::string words = program("faulty") + " malloc race sync";
  EXPECT_EQ(shell(preload + words).out, "cudaErrorLaunchFailure\n");
  EXPECT_EQ(shell(preload + "LOCKSTEP_GO_ON=1 " + words).out, "cudaSuccess\n");
  EXPECT_EQ(run("exec -- " + words, "LOCKSTEP_GO_ON=0").out, "cudaErrorLaunchFailure\n");
}

// ---- what never ran -----------------------------------------------------------------------------

// The findings of a run, by their kinds, severities and numbers of occurrences: "refused error 1,
// api-error information 2".
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

TEST(DynamicParallelism, IsNamedAsTheCause) {
  const Outcome o = run("exec -- " + program("dynamic_parallelism"));
  EXPECT_EQ(o.status, 86) << o.err;
  EXPECT_TRUE(has(o.err, "dynamic parallelism")) << o.err;
  EXPECT_TRUE(has(o.err, "parent(int*)")) << o.err;
  EXPECT_TRUE(has(o.err, "dynamic_parallelism.cu:7")) << o.err;
  EXPECT_FALSE(has(o.err, "compute_121")) << o.err;
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
  EXPECT_TRUE(has(dynamic.out, "dynamic parallelism")) << dynamic.out;
  EXPECT_EQ(inspect("linked").status, 0);
  const Outcome partly = inspect("partly_simulated");
  EXPECT_EQ(partly.status, 1) << partly.out;
  EXPECT_TRUE(has(partly.out, "cannot run the kernel odd(int*)\n")) << partly.out;
  EXPECT_TRUE(has(partly.out, "its other kernels (1) can run\n")) << partly.out;
}

// ---- exit statuses ------------------------------------------------------------------------------

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
  for (const char* words :
       {"", "exec", "exec --", "exec --device=sm90 -- ", "exec --check=everything -- ",
        "exec --no-such-option -- ", "exec --suppressions=/nonexistent -- ", "execute -- ",
        "--frobnicate exec -- ", "--frobnicate=1 counters -- ", "exec counters -- ",
        "exec --check= -- ", "exec --check=races, -- ", "exec --check=races --check=bounds -- ",
        "exec --devices=x -- ", "exec --report -- "}) {
    const std::string text = words;
    const Outcome o = run(text.ends_with(" ") ? text + program("vector_add") : text);
    EXPECT_EQ(o.status, 2) << words << "\n" << o.err;
    EXPECT_FALSE(has(o.out, "PASSED")) << words;
  }
}

TEST(ExitStatus, WrongUsageIsNamed) {
  const std::pair<const char*, const char*> said[] = {
      {"--frobnicate exec", "there is no option --frobnicate"},
      {"--check=races exec", "options of a command stand behind it: exec --check=races"},
      {"exec --check=racs", "there is no check 'racs'; did you mean races?"},
      {"exec --check=-racs", "there is no check 'racs'; did you mean races?"},
      {"exec --device=sm_91", "there is no device 'sm_91'"},
      {"exec --check=races --check=bounds", "--check is given more than once"},
      {"exec --check=", "--check needs a value"},
      {"exec --devices=x", "--devices='x' is not a whole number from 0 to 64"},
      {"exec --suppressions=/nonexistent",
       "--suppressions='/nonexistent' is not a file that can be read"},
      {"exec run", "exec does not take 'run'"},
  };
  for (const auto& [words, sentence] : said) {
    const Outcome o = run(std::string(words) + " -- " + program("vector_add"));
    EXPECT_EQ(o.status, 2) << words;
    EXPECT_TRUE(has(o.err, sentence)) << words << "\n" << o.err;
  }
}

TEST(ExitStatus, TheDashesBeforeAProgramMayBeLeftOut) {
  for (const char* options :
       {"", "--check=races --quiet", "--schedule 3", "--require-kernels --device sm_100"}) {
    const Outcome o = run(std::string("exec ") + options + " " + program("vector_add"));
    EXPECT_EQ(o.status, 0) << options << "\n" << o.err;
  }
  // The program's own words stay its own, those that look like options too.
  const Outcome own = run("exec sh -c 'echo $0' --check=none");
  EXPECT_EQ(own.out, "--check=none\n") << own.err;
  EXPECT_TRUE(has(run("exec --no-such-option ./program").err, "exec has no option"));
}

// The names of checks stand in two places: where options are read, and where the environment is.
TEST(ExitStatus, ChecksHaveTheSameNamesInOptionsAndEnvironment) {
  const std::string err =
      run("exec -- " + program("vector_add"), "LOCKSTEP_CHECKS=none,no-such-check").err;
  const std::string before = "comma-separated list of ";
  ASSERT_TRUE(has(err, before)) << err;
  std::string names = "all, none, " + err.substr(err.find(before) + before.size());
  names.resize(names.find(" ("));
  EXPECT_TRUE(has(run("exec --check=no-such-check -- true").err, "the checks are " + names + "\n"))
      << names;
}

TEST(ExitStatus, AReportThatCannotBeWrittenIsNoSuccess) {
  const Outcome o = run("exec --report=/dev/full -- " + program("vector_add"));
  EXPECT_EQ(o.status, 88);
  EXPECT_TRUE(has(o.err, "/dev/full cannot be written: No space left on device")) << o.err;
  const std::string gone = scratch("gone");
  const Outcome removed =
      run("exec --report=" + gone + "/r.json -- rm -r " + gone, "mkdir -p " + gone + ";");
  EXPECT_EQ(removed.status, 88);
  EXPECT_TRUE(has(removed.err, "/r.json cannot be written: No such file or directory\n"))
      << removed.err;
  // Where there is no place for it, that is said before the program takes its time.
  for (const std::string& words :
       {std::string("exec --report=/nonexistent/r.json"), "exec --report=" + scratch(""),
        std::string("counters --report=/proc/r.json"), std::string("coverage --out=/nonexistent/c"),
        "coverage --text=/nonexistent/c --out=" + scratch("c")}) {
    const Outcome early = run(words + " -- " + program("vector_add"));
    EXPECT_EQ(early.status, 88) << words << early.err;
    EXPECT_EQ(early.out, "") << words;
    EXPECT_TRUE(has(early.err, "nothing was run")) << words << early.err;
  }
}

TEST(ExitStatus, WhatIsPrintedMustArrive) {
  const char* tool = std::getenv("LOCKSTEP_EXEC");
  for (const char* command : {"counters", "coverage --out=/dev/null"}) {
    const Outcome o = shell("sh -c '" + std::string(tool) + " " + command + " -- " +
                            program("vector_add") + " > /dev/full'");
    EXPECT_EQ(o.status, 88) << command << o.err;
    EXPECT_TRUE(has(o.err, "stdout cannot be written: No space left on device")) << o.err;
  }
}

// ---- what cannot be recorded --------------------------------------------------------------------

// A process started by a script: its own exit status is lost.
std::string in_script(const std::string& before, const std::string& words,
                      const std::string& after = "true") {
  return " -- sh -c '(" + before + "; exec " + program("faulty") + " " + words +
         ") 2>&1 | cat >&2; " + after + "'";
}

TEST(Record, NeedsNoRoomOnADisk) {
  const std::string j = scratch("room.json");
  for (const char* folder : {"/nonexistent", "/proc", "/dev/full"}) {
    const Outcome o = run("exec --report=" + j + in_script("true", "malloc race sync"),
                          std::string("TMPDIR=") + folder);
    EXPECT_EQ(o.status, 86) << folder << o.err;
    EXPECT_EQ(json::parse(contents(j))["findings"].size(), 1u) << folder;
  }
  // A program that removes the folder of temporary files.
  const std::string folder = scratch("removed");
  const Outcome o = run("exec --report=" + j + in_script("rm -rf " + folder, "malloc race"),
                        "mkdir -p " + folder + "; TMPDIR=" + folder);
  EXPECT_EQ(o.status, 86) << o.err;
}

TEST(Record, AFindingThatCannotBeWrittenIsAnError) {
  const std::string j = scratch("limited.json");
  for (const char* blocks : {"0", "1"}) {
    const Outcome o = run("exec --quiet --report=" + j +
                          in_script(std::string("ulimit -f ") + blocks, "malloc race race sync"));
    EXPECT_EQ(o.status, 88) << o.err;
    EXPECT_TRUE(has(o.err, "cannot be written: File too large")) << o.err;
    EXPECT_TRUE(has(o.err, "not all that the simulated GPU found could be recorded")) << o.err;
    EXPECT_EQ(json::parse(contents(j))["complete"], false);
  }
  // Its own status, where that is seen.
  const Outcome own =
      run("exec -- sh -c 'ulimit -f 0; exec " + program("faulty") + " malloc store 2>/dev/null'");
  EXPECT_EQ(own.status, 88) << own.err;
  // A program that is fine is lost as well: nobody knows that it was.
  EXPECT_EQ(run("exec" + in_script("ulimit -f 0", "malloc store")).status, 88);
  EXPECT_EQ(
      run("coverage --out=" + scratch("c.info") + in_script("ulimit -f 0", "malloc store")).status,
      88);
  EXPECT_EQ(run("counters" + in_script("ulimit -f 0", "malloc store")).status, 88);
}

TEST(Record, OutlivesAProgramThatClosesItsFiles) {
  const std::string j = scratch("closed.json");
  const Outcome o =
      run("exec --report=" + j + in_script("true", "malloc store close-files race store"));
  EXPECT_EQ(o.status, 86) << o.err;
  const json report = json::parse(contents(j));
  EXPECT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["complete"], true);
  EXPECT_EQ(report["kernels"].size(), 2u);
  EXPECT_EQ(run("exec" + in_script("true", "malloc close-files store")).status, 0);
}

// What the simulated GPU writes by itself does not end the program: on a GPU it would go on.
TEST(Record, IsKeptWhereFindingsCannotBePrinted) {
  const std::string j = scratch("unprinted.json"), log = scratch("log");
  for (const std::string where : {"2>&1 | true", "2>/dev/full", "2>&-"}) {
    const Outcome o = run("exec --report=" + j + " -- sh -c 'sleep 0.1; " + program("faulty") +
                          " malloc race race store " + where + "; true'");
    EXPECT_EQ(o.status, 86) << where << o.err;
    EXPECT_EQ(json::parse(contents(j))["findings"].size(), 1u) << where;
    EXPECT_EQ(json::parse(contents(j))["kernels"].size(), 2u) << where;
  }
}

TEST(Record, IsNotWrittenWithoutExecEither) {
  const std::string folder = std::string(std::getenv("SIMULATED_RUNTIME"));
  const std::string library = "LD_LIBRARY_PATH=" + folder.substr(0, folder.rfind('/'));
  const Outcome o =
      shell(library + " LOCKSTEP_RECORD=/nonexistent/r " + program("faulty") + " malloc store");
  EXPECT_EQ(o.status, 88) << o.err;
  EXPECT_TRUE(has(o.err, "the record /nonexistent/r cannot be written")) << o.err;
  // What is no record is left as it is.
  const std::string file = scratch("somebody's");
  std::ofstream(file) << "somebody's own";
  const Outcome foreign =
      shell(library + " LOCKSTEP_RECORD=\"" + file + "\" " + program("faulty") + " malloc store");
  EXPECT_EQ(foreign.status, 88) << foreign.err;
  EXPECT_TRUE(has(foreign.err, "cannot be written: it is no record")) << foreign.err;
  EXPECT_EQ(contents(file), "somebody's own");
  // A setting that is wrong checks nothing, and says so with its exit status.
  const Outcome wrong =
      shell(library + " LOCKSTEP_CHECKS=racs " + program("faulty") + " malloc store");
  EXPECT_EQ(wrong.status, 2) << wrong.err;
  EXPECT_TRUE(has(wrong.err, "did you mean races?")) << wrong.err;
  EXPECT_EQ(shell(library + " LOCKSTEP_CHECKS=racs " + program("faulty") + " malloc exit3").status,
            3);
}

TEST(ExitStatus, QuietSaysNothing) {
  const Outcome o = run("exec --quiet -- " + program("faulty") + " malloc out-of-bounds");
  EXPECT_EQ(o.status, 86);
  EXPECT_FALSE(has(o.err, "out-of-bounds")) << o.err;
}

// ---- programs that cannot be simulated ----------------------------------------------------------

void expect_refused(const std::string& name, const std::string& what_to_do) {
  const Outcome o = run("exec -- " + program(name) + " count");
  EXPECT_EQ(o.status, 126) << o.err;
  EXPECT_EQ(o.out, "") << "it was not run";
  EXPECT_TRUE(has(o.err, what_to_do)) << o.err;
}

TEST(NotRefused, AProgramWithoutDeviceCodeThatNvccLinked) {
  const Outcome o = run("exec -- " + program("host_only"));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "PASSED\n") << o.err;
}

TEST(Refused, MachineCodeAlone) {
  expect_refused("faulty_machine_code", "compute_90");
  const Outcome o = run("exec -- " + program("faulty_machine_code"));
  EXPECT_TRUE(has(o.err, "faulty_machine_code: the program holds machine code (sm_90) but no PTX"))
      << o.err;
}
TEST(Refused, AVendorsLibraryThatIsNotThere) {
  expect_refused("needs_cutensor_unheard", "NVIDIA's libraries reach the driver by themselves");
}
TEST(Refused, AnotherLibraryThatIsNotThere) { expect_refused("needs_unheard", "LD_LIBRARY_PATH"); }

TEST(Refused, PtxForANewerDevice) {
  const Outcome o = run("exec --device=sm_80 -- " + program("faulty") + " count");
  EXPECT_EQ(o.status, 126) << o.err;
  EXPECT_TRUE(has(o.err, "sm_80") || has(o.err, "8.0") || has(o.err, "compute_80")) << o.err;
}

TEST(Refused, WhatIsNotThere) { EXPECT_EQ(run("exec -- " + program("nonexistent")).status, 127); }

// Each with what to do about it.
TEST(Refused, WhatIsNoProgram) {
  const std::string text = scratch("text"), script = scratch("script"),
                    unknown = scratch("unknown");
  for (const std::string& file : {text, script, unknown})
    std::ofstream(file) << (file == script ? "#!/nowhere/sh\n" : "text\n");
  shell("chmod +x " + script + " " + unknown);
  const std::pair<std::string, const char*> said[] = {
      {text, "may not be executed; chmod +x makes a file a program"},
      {scratch(""), "is a folder and no program"},
      {script, "cannot be started: the interpreter that it names is not there"},
      {unknown, "cannot be started: it is neither an ELF program nor a script that begins with #!"},
  };
  for (const auto& [file, sentence] : said) {
    const Outcome o = run("exec -- " + file);
    EXPECT_EQ(o.status, 126) << o.err;
    EXPECT_TRUE(has(o.err, sentence)) << o.err;
  }
  EXPECT_TRUE(has(run("exec -- WORKSPACE.nowhere").err, "WORKSPACE.nowhere: no such program\n"));
}

TEST(Settings, AFolderIsNoFile) {
  const Outcome o = run("exec --suppressions=" + scratch("") + " -- " + program("vector_add"));
  EXPECT_EQ(o.status, 2) << o.err;
  EXPECT_TRUE(has(o.err, "is not a file that can be read")) << o.err;
}

TEST(Findings, GoToStdoutWhenAsked) {
  const Outcome o =
      run("exec --quiet --report=- -- " + program("faulty") + " malloc out-of-bounds");
  EXPECT_EQ(o.status, 86);
  EXPECT_TRUE(has(o.out, "out-of-bounds: st.global.u32")) << o.out;
  EXPECT_TRUE(has(o.out, "1 launch of 1 kernel on a simulated sm_90: 1 error")) << o.out;
}

TEST(Findings, AreNotMissedUnnoticedWhereChecksAreOff) {
  const std::string words = " -- " + program("faulty") + " malloc race";
  EXPECT_TRUE(has(run("exec" + words, "LOCKSTEP_CHECKS=none").err,
                  " on a simulated sm_90 without checks: 0 errors"));
  EXPECT_TRUE(has(run("exec --check=bounds,leaks" + words).err,
                  " on a simulated sm_90 with the checks bounds, leaks: "));
}

// ---- settings and counters ----------------------------------------------------------------------

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

}  // namespace
}  // namespace lockstep
