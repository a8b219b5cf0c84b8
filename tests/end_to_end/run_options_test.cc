// The options of `run` and `list`, and runs that are interrupted, started twice, or out of disk
// space.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/ledger/runfiles.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace run_options_test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string& program() {
  static const std::string path = runfile("harness/conform/conform");
  return path;
}

std::string manifest(const std::vector<std::string>& programs) {
  const std::string path = fresh_file("suites.tsv");
  std::ofstream list(path);
  for (const std::string& p : programs)
    list << p << "\ttests/end_to_end/" << p << "\t//tests/end_to_end:" << p << '\n';
  return path;
}

nlohmann::json passport(const std::string& folder) {
  std::ifstream in(folder + "/passport.json");
  return nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(in), {}), nullptr, false);
}

std::set<std::string> properties(const nlohmann::json& passport) {
  std::set<std::string> names;
  for (const auto& suite : passport["suites"])
    for (const auto& p : suite["properties"]) names.insert(p["property"]);
  return names;
}

Ended conform(const std::string& suites, const std::string& out, std::vector<std::string> arguments,
              Environment environment = {}) {
  arguments.insert(arguments.begin(), {"run", "--manifest", suites, "--out", out});
  return run(program(), arguments, environment, 120);
}

// Runs a shell script with the program as "$0" and `arguments` as "$@".
Ended shell(const std::string& script, std::vector<std::string> arguments,
            const Environment& environment = {}) {
  arguments.insert(arguments.begin(), {"-c", script, program()});
  return run("/bin/bash", arguments, environment, 120);
}

TEST(RunOptions, ChooseAPropertyByAPattern) {
  const std::string suites = manifest({"properties", "right"}), out = fresh_file("out");
  const Ended ended = conform(suites, out, {"-k", "EXCHANGES", "--cases=5"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(properties(passport(out)), ElementsAre("Right.ExchangesUnderABarrier"));
  EXPECT_EQ(passport(out)["options"]["pattern"], "EXCHANGES");
  EXPECT_EQ(passport(out)["device"]["simulated"], "true") << "a part of a suite is of a device too";
  conform(suites, out, {"-k", "wrong.unw*warp", "--cases=60"});
  EXPECT_THAT(properties(passport(out)), ElementsAre("Wrong.UnwrittenBeyondAWarp"));
  conform(suites, out, {"-k", "exchanges,wrong.unw*warp", "--cases=60"});
  EXPECT_THAT(properties(passport(out)),
              ElementsAre("Right.ExchangesUnderABarrier", "Wrong.UnwrittenBeyondAWarp"));
  EXPECT_EQ(conform(suites, out, {"-k", "LaunchesNoKernel"}).status, 0)
      << "also where it launches nothing";
  EXPECT_EQ(passport(out)["device"]["simulated"], "true");
  conform(suites, out, {"-k", "!exchanges,wrong", "--cases=5"});
  EXPECT_THAT(properties(passport(out)),
              ElementsAre("Host.LaunchesNoKernel", "Right.DoublesItsInput"));
  const Ended none = conform(suites, out, {"-k", "nothing_of_that"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(
      none.output,
      ContainsRegex("-k nothing_of_that takes none of [0-9]+ properties; `list` shows them"));
}

// A list cut off by a full disk would hide properties, and the run would pass without them.
TEST(RunOptions, ChooseFromWholeLists) {
  const std::string suites = manifest({"right"}), out = fresh_file("out");
  const Ended ended =
      conform(suites, out, {"-k", "EXCHANGES", "--cases=5"}, {{"TMPDIR", "/nonexistent"}});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(properties(passport(out)), ElementsAre("Right.ExchangesUnderABarrier"));
  for (const char* flag : {"--list", "--gtest_list_tests"}) {
    const Ended list = run("/bin/bash", {"-c", "\"$0\" " + std::string(flag) + " > /dev/full",
                                         runfile("tests/end_to_end/right")});
    EXPECT_EQ(list.status, 2) << list.output;
    EXPECT_THAT(list.output, HasSubstr("the list cannot be written: No space left on device"));
  }
  EXPECT_EQ(shell("\"$0\" list --manifest " + suites + " > /dev/full", {}).status, 1);
  EXPECT_EQ(shell("\"$0\" list --manifest " + suites + " > /dev/null", {}).status, 0);
}

// A run whose table cannot be printed must fail.
TEST(RunOptions, FailWhereTheTableCannotBePrinted) {
  const std::string suites = manifest({"right"});
  const auto to = [&](const std::string& file) {
    return shell(
        "\"$0\" run --manifest " + suites + " --out " + fresh_file("out") + " --cases=5 > " + file,
        {});
  };
  EXPECT_EQ(to("/dev/full").status, 1);
  EXPECT_THAT(to("/dev/full").output, HasSubstr("No space left on device"));
  EXPECT_EQ(to("/dev/null").status, 0);
}

TEST(RunOptions, FailWhereTheFolderOfResultsIsGone) {
  const std::string suites = manifest({"right"}), out = fresh_file("out");
  const Ended ended = shell("\"$0\" run --manifest " + suites + " --out " + out +
                                " --cases=3000 --jobs=1 & sleep 0.3; rm -rf " + out + "; wait $!",
                            {});
  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("NOT GREEN: the results are not saved"));
}

TEST(RunOptions, StopAtTheFirstFailureAndRunWhatFailedLast) {
  const std::string suites = manifest({"leaves", "right"}), out = fresh_file("out");
  const Ended stopped = conform(suites, out, {"-x", "--cases=5", "--jobs=1"});
  EXPECT_EQ(stopped.status, 1);
  EXPECT_THAT(
      stopped.output,
      AllOf(
          HasSubstr(
              "The run was stopped at the first failure: what is there is partial, without right"),
          HasSubstr("NOT GREEN")));
  EXPECT_THAT(stopped.output, ContainsRegex("Leaves\\.Computes did not run to its end: not "
                                            "reached: the program ends with the first failure"));
  const auto first = passport(out);
  EXPECT_EQ(first["counts"]["pass"], 1);
  EXPECT_EQ(first["counts"]["fail"], 1);
  EXPECT_EQ(first["counts"]["not_run"], 3);
  EXPECT_EQ(first["partial"]["not_begun"][0], "right");
  // Runs all but the suites that passed, including the suite that the first run did not reach.
  const Ended again = conform(suites, out, {"--lf", "--cases=5"}, {{"LEAVES", "properly"}});
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_FALSE(properties(passport(out)).contains("Leaves.Holds"));
  EXPECT_EQ(passport(out)["device"]["simulated"], "true");
  for (const char* name : {"Leaves.Ends", "Leaves.ComputesAfterwards"})
    EXPECT_TRUE(properties(passport(out)).contains(name)) << name;
  EXPECT_TRUE(properties(passport(out)).contains("Right.DoublesItsInput"));
  const Ended all = conform(suites, out, {"--lf", "--cases=5"}, {{"LEAVES", "properly"}});
  EXPECT_THAT(all.output, HasSubstr("Nothing failed in the last run"));
  EXPECT_TRUE(properties(passport(out)).contains("Leaves.Holds"));
  EXPECT_THAT(conform(suites, fresh_file("out"), {"--lf"}).output,
              HasSubstr("--lf needs the passport of an earlier run"));
}

TEST(RunOptions, ScaleEachPropertysOwnCases) {
  const std::string suites = manifest({"right"}), out = fresh_file("out");
  EXPECT_EQ(conform(suites, out, {"--quick"}).status, 0);
  EXPECT_EQ(passport(out)["counts"]["cases"], 40) << "a tenth of 200 for each of two";
  EXPECT_EQ(passport(out)["options"]["scale"], "0.1");
  EXPECT_EQ(conform(suites, out, {"--scale=0.025"}).status, 0);
  EXPECT_EQ(passport(out)["counts"]["cases"], 10);
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--scale=0"},
                                                {"--scale=-1"},
                                                {"--scale=nan"},
                                                {"--quick", "--scale=2"},
                                                {"--quick", "--cases=5"}})
    EXPECT_EQ(conform(suites, out, wrong).status, 2);
}

// The arguments and environment that each option of a run passes to a suite's program, in full.
TEST(RunOptions, ReachTheProgramsOfTheSuites) {
  const std::string folder = fresh_file("given"), script = fresh_file("program.sh");
  std::ofstream(script) << "#!/bin/sh\n"
                           "printf '%s\\n' \"$@\" | grep -v ^--ledger=\n"
                           "env | grep -E '^(LOCKSTEP|TEST|GTEST|TESTBRIDGE|XML)_' | sort\n";
  fs::permissions(script, fs::perms::owner_all);
  const std::string list = fresh_file("suites.tsv");
  std::ofstream(list) << "given\t" << script << "\t//made:given\n";
  const auto given = [&](const std::vector<std::string>& arguments) {
    conform(list, folder, arguments,
            {{"LOCKSTEP_COMMAND", "lockstep run"},
             {"LOCKSTEP_WORKSPACE", "/made"},
             {"LOCKSTEP_HOST_THREADS", "2"},
             {"GTEST_FILTER", "Nothing.*"},
             {"TEST_TOTAL_SHARDS", "3"},
             {"XML_OUTPUT_FILE", "nowhere.xml"}});
    std::string text = text_of(folder + "/logs/given.log");
    for (auto at = text.find(folder); at != text.npos; at = text.find(folder))
      text.replace(at, folder.size(), "OUT");
    return text;
  };
  const std::string usual =
      "LOCKSTEP_COMMAND=lockstep run\n"
      "LOCKSTEP_DEVICES=2\nLOCKSTEP_EXPECT_KERNELS=1\nLOCKSTEP_GPU=simulated\n"
      "LOCKSTEP_HOST_THREADS=2\n";
  const std::string replay = "LOCKSTEP_REPLAY=lockstep run --suite=given",
                    rest =
                        "LOCKSTEP_WORKSPACE=/made\nTEST_UNDECLARED_OUTPUTS_DIR=OUT/outputs/given\n";
  const std::string plain = given({});
  EXPECT_EQ(plain, usual + replay + "\n" + rest) << "without an option";
  EXPECT_EQ(given({"--cases=7", "--seed=9", "-x"}),
            "--cases=7\n--seed=9\n--gtest_fail_fast\n" + usual + replay + "\n" + rest);
  EXPECT_EQ(given({"--scale=0.25", "--random-seed=11"}),
            usual + replay + "\nLOCKSTEP_SCALE=0.25\nLOCKSTEP_WORKSPACE=/made\n" +
                "TEST_RANDOM_SEED=11\nTEST_UNDECLARED_OUTPUTS_DIR=OUT/outputs/given\n");
  EXPECT_EQ(given({"--quick", "--device=sm_80"}),
            "LOCKSTEP_COMMAND=lockstep run\nLOCKSTEP_DEVICE=sm_80\n" +
                usual.substr(usual.find("LOCKSTEP_DEVICES")) + replay + " --device=sm_80\n" +
                "LOCKSTEP_SCALE=0.1\n" + rest);
}

TEST(RunOptions, ListShowsEachPropertysSentence) {
  const Ended ended = run(program(), {"list", "--manifest", manifest({"right", "leaves"})});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(
      ended.output,
      ContainsRegex("right +//tests/end_to_end:right\n  Right\\.DoublesItsInput +doubles its "
                    "input\n  Right\\.ExchangesUnderABarrier +exchanges under a barrier\n"));
  EXPECT_THAT(
      run(program(), {"list", "--manifest", manifest({"right", "leaves"}), "-k", "barrier"}).output,
      AllOf(HasSubstr("exchanges under"), Not(HasSubstr("leaves"))));
}

// Starts conform in the background and waits until its suite has reached the property that hangs.
constexpr char kUntilItHangs[] = R"(
  "$0" run "$@" > "$LOG" 2>&1 & run=$!
  for ((i = 0; i < 400; ++i)); do
    ! grep -qs '"running": "Leaves.Ends"' "$OUT/ledgers/leaves.json" || break
    sleep 0.05
  done
)";

TEST(RunOptions, AnInterruptedRunLeavesAPassportOfWhatItDid) {
  for (const auto& [signal, status] : {std::pair<std::string, int>{"INT", 130}, {"TERM", 143}}) {
    const std::string out = fresh_file("out");
    const Ended ended =
        shell(std::string(kUntilItHangs) + "kill -" + signal +
                  " $run; wait $run; status=$?; cat \"$LOG\"; exit $status",
              {"--manifest", manifest({"leaves", "right"}), "--out", out, "--cases=5", "--jobs=1"},
              {{"LEAVES", "hangs"}, {"OUT", out}, {"LOG", fresh_file("log")}});
    EXPECT_EQ(ended.status, status) << ended.output;
    EXPECT_THAT(ended.output,
                AllOf(HasSubstr("The run was interrupted by SIG" + signal +
                                ": what is there is partial, without right"),
                      ContainsRegex("leaves +5 +1 +0 +0 +0 +4 "), HasSubstr("NOT GREEN")));
    const auto p = passport(out);
    ASSERT_TRUE(p.is_object()) << ended.output;
    EXPECT_EQ(p["partial"]["why"], "interrupted by SIG" + signal);
    EXPECT_EQ(p["green"], false);
    EXPECT_EQ(p["counts"]["pass"], 1);
    EXPECT_TRUE(fs::exists(out + "/report.html"));
  }
}

TEST(RunOptions, ASecondRunInTheSameFolderIsRefused) {
  const std::string out = fresh_file("out"), list = manifest({"leaves"});
  const Ended ended =
      shell(std::string(kUntilItHangs) +
                "\"$0\" run \"$@\"; status=$?; kill -TERM $run; wait $run; exit $status",
            {"--manifest", list, "--out", out, "--cases=5", "--jobs=1"},
            {{"LEAVES", "hangs"}, {"OUT", out}, {"LOG", fresh_file("log")}});
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_THAT(
      ended.output,
      ContainsRegex("another run \\(process [0-9]+\\) writes to .*: wait for its end, or give "
                    "this one a folder of its own with --out="));
  EXPECT_EQ(passport(out)["partial"]["why"], "interrupted by SIGTERM")
      << "the first was left alone";
  EXPECT_EQ(conform(manifest({"right"}), out, {"--cases=2"}).status, 0)
      << "nothing is left of the lock";
}

TEST(RunOptions, AReplayHasAFolderOfItsOwn) {
  const std::string out = fresh_file("out"), list = manifest({"properties"});
  const Environment usual = {{"LOCKSTEP_OUT", out}};
  EXPECT_EQ(
      run(program(), {"run", "--manifest", list, "-k", "Wrong.Expectation", "--cases=60"}, usual)
          .status,
      1);
  const std::string failing = passport(out)["suites"][0]["properties"][0]["minimal_case"];
  const Ended replay = run(program(),
                           {"run", "--manifest", list, "--suite=properties", "--case",
                            "Wrong.Expectation: n=10" + failing.substr(failing.find(' '))},
                           usual);
  EXPECT_EQ(replay.status, 0) << replay.output;
  EXPECT_THAT(replay.output,
              AllOf(HasSubstr(out + "/replay/report.html"), HasSubstr("The case is green."),
                    Not(HasSubstr("Every ledger closes"))));
  EXPECT_EQ(passport(out)["green"], false) << "what one was reading is still there";
  EXPECT_EQ(passport(out + "/replay")["green"], true);
}

TEST(RunOptions, WhereThereIsNoRoomNothingIsCutOffAndNothingIsGreen) {
  // Limits of file sizes in KiB: the ledgers fit, the page or the passport does not.
  for (const char* limit : {"64", "2"}) {
    const std::string out = fresh_file("out");
    const Ended ended =
        shell(std::string("trap '' XFSZ; ulimit -f ") + limit + "; \"$0\" run \"$@\"",
              {"--manifest", manifest({"right"}), "--out", out, "--cases=5"});
    EXPECT_EQ(ended.status, 1) << ended.output;
    EXPECT_THAT(
        ended.output,
        AllOf(ContainsRegex(
                  "NOT GREEN: the results are not saved: .* cannot be written: File too large"),
              Not(HasSubstr("all is green"))));
    EXPECT_FALSE(fs::exists(out + "/report.html")) << "not even part of it";
    for (const auto& entry : fs::recursive_directory_iterator(out))
      EXPECT_THAT(entry.path().string(), Not(HasSubstr(".partial")));
    EXPECT_EQ(fs::exists(out + "/passport.json"), limit == std::string("64"));
  }
}

TEST(RunOptions, ColoursAreForTerminalsAlone) {
  const std::string out = fresh_file("out"), list = manifest({"right"});
  const std::string command =
      fmt::format("'{}' run --manifest '{}' --out '{}' --cases=5", program(), list, out);
  const Environment terminal = {{"TERM", "xterm"}};
  EXPECT_THAT(shell("script -qec \"$1\" /dev/null", {command}, terminal).output,
              HasSubstr("\x1b[32mEvery ledger closes and all is green.\x1b[0m"));
  EXPECT_THAT(
      shell("script -qec \"$1\" /dev/null", {command}, {{"TERM", "xterm"}, {"NO_COLOR", "1"}})
          .output,
      AllOf(HasSubstr("all is green"), Not(HasSubstr("\x1b[3"))));
  EXPECT_THAT(shell("eval \"$1\"", {command}, terminal).output,
              AllOf(HasSubstr("all is green"), Not(HasSubstr("\x1b"))));
}

TEST(RunOptions, ProgramsListTheirTestsAsGoogleTestDoes) {
  // gtest_discover_tests parses lines without indentation as suites, and lines indented by two
  // blanks as tests.
  const Ended ended = run("right", {"--gtest_list_tests"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "Right.\n  DoublesItsInput\n  ExchangesUnderABarrier\n");
  EXPECT_EQ(run("right", {"--gtest_filter=Right.Doubles*", "--gtest_list_tests"}).output,
            "Right.\n  DoublesItsInput\n");
  EXPECT_EQ(run("right", {"--gtest_filter=Right.DoublesItsInput", "--gtest_also_run_disabled_tests",
                          "--cases=2"})
                .status,
            0)
      << "as CTest runs one";
}

}  // namespace run_options_test
}  // namespace lockstep::end_to_end
