// `lockstep mutate` on programs built by nvcc.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

struct Judged : Outcome {
  std::string folder;

  json report() const { return json::parse(contents(folder + "/mutation.json")); }
  // The number of mutants with each status of the report's schema.
  std::map<std::string, int> statuses() const {
    std::map<std::string, int> count;
    const json all = report();
    for (const auto& [name, file] : all.at("files").items())
      for (const auto& m : file.at("mutants")) ++count[m.at("status")];
    return count;
  }
  // The status of each mutant, by its description.
  std::map<std::string, std::string> verdicts() const {
    std::map<std::string, std::string> verdicts;
    const json all = report();
    for (const auto& [name, file] : all.at("files").items())
      for (const auto& m : file.at("mutants"))
        verdicts[m.at("id").get<std::string>() + " " + m.at("description").get<std::string>()] =
            m.at("status");
    return verdicts;
  }
  // The number of mutants that a round has judged.
  int judged_in(const std::string& round) const {
    int count = 0;
    std::ifstream lines(folder + "/" + round + ".jsonl");
    for (std::string line; std::getline(lines, line);) count += has(line, "\"died\"");
    return count;
  }
  // The number of mutants of the whole-program round that needed no process of their own.
  int without_process() const {
    int count = 0;
    for (const char* round : {"whole", "checks"}) {
      std::ifstream lines(folder + "/" + round + ".jsonl");
      for (std::string line; std::getline(lines, line);)
        count += has(line, "\"died\"") && !has(line, "seconds");
    }
    return count;
  }
  // Killed mutants among the executed ones, in percent.
  double score() const {
    std::map<std::string, int> n = statuses();
    const int killed = n["Killed"] + n["Timeout"] + n["RuntimeError"];
    return 100.0 * killed / (killed + n["Survived"]);
  }
};

Judged mutate(const std::string& name, const std::string& words) {
  const std::string folder = scratch(name);
  return {run("mutate --out=" + folder + " " + words), folder};
}

// The words that run a program; weakly_tested and strongly_tested select tests by a filter.
std::string program(const std::string& name) {
  const char* const tests = name == "weakly_tested"     ? " --gtest_filter=FirstOfSaxpy.*"
                            : name == "strongly_tested" ? " --gtest_filter=Saxpy.*"
                                                        : "";
  return "-- tests/exec/" + name + tests;
}

// Weak tests check one element, strong tests check all.
TEST(Mutate, DistinguishesTheWeakFromTheStrong) {
  const Judged weak = mutate("weak", program("weakly_tested")),
               strong = mutate("strong", program("strongly_tested"));
  ASSERT_EQ(weak.status, 0) << weak.out << weak.err;
  ASSERT_EQ(strong.status, 0) << strong.out << strong.err;
  EXPECT_GT(strong.score(), 90) << strong.out;
  EXPECT_FALSE(has(weak.out, "store-removed: "))
      << weak.out;  // a mutant persists when its code is loaded anew
  EXPECT_GT(strong.score(), weak.score() + 10) << weak.out << strong.out;
  // Both kernels were mutated; one is never launched.
  EXPECT_GT(strong.statuses()["NoCoverage"], 5);
  // Strong tests leave at most races and uninitialised values to the simulated GPU's checks.
  EXPECT_TRUE(has(strong.out, " 0 of them by the simulated GPU's checks alone")) << strong.out;
  EXPECT_FALSE(has(weak.out, " 0 of them by the simulated GPU's checks alone")) << weak.out;
  // A surviving mutant is reported with its source line.
  EXPECT_TRUE(has(weak.out, "if (i < n) y[i] = a * x[i] + y[i];")) << weak.out;
  EXPECT_TRUE(has(weak.out, "guard-removed: ")) << weak.out;
  EXPECT_FALSE(has(strong.out, "guard-removed: ")) << strong.out;
  // The killing test is named as GoogleTest names it.
  bool named = false;
  const json report = strong.report();
  EXPECT_EQ(report.at("schemaVersion"), "2");
  for (const auto& [name, file] : report.at("files").items()) {
    EXPECT_TRUE(file.contains("source") && file.contains("language"));
    for (const auto& m : file.at("mutants"))
      named |= m.value("statusReason", "") == "Saxpy.IsRightEverywhereAndNowhereElse";
  }
  EXPECT_TRUE(named);
  EXPECT_TRUE(has(contents(strong.folder + "/mutation.html"), "<h1>What the tests notice</h1>"));
}

TEST(Mutate, SamplesTheSameBySeedAndGoesOnWhereItWas) {
  const std::string words = "--mutants=12 --seed=7 --operators=kernels " + program("weakly_tested");
  const Judged first = mutate("sample", words);
  ASSERT_EQ(first.status, 0) << first.err;
  const std::string report = first.report().dump();
  const Judged again = mutate("sample", "--resume " + words);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.report().dump(), report);
  int count = 0;
  for (const auto& [status, n] : first.statuses()) count += n;
  EXPECT_EQ(count, 12);
  const Judged other = mutate(
      "sample", "--resume --mutants=11 --seed=8 --operators=kernels " + program("weakly_tested"));
  EXPECT_TRUE(has(other.err, "is of other mutants: beginning anew")) << other.err;
}

TEST(Mutate, ChoosesByOperatorAndJudgesByScore) {
  const Judged few = mutate("few", "--operators=compare-negated,call-removed --fail-under=100 " +
                                       program("weakly_tested"));
  for (const auto& [name, file] : few.report().at("files").items())
    for (const auto& m : file.at("mutants"))
      EXPECT_TRUE(m.at("mutatorName") == "compare-negated" ||
                  m.at("mutatorName") == "call-removed");
  EXPECT_EQ(few.status, few.score() < 100 ? 1 : 0) << few.out << few.err;
  const Judged below =
      mutate("below", "--operators=guard-removed --fail-under=100 " + program("weakly_tested"));
  EXPECT_EQ(below.status, 1) << below.out << below.err;
  EXPECT_TRUE(has(below.err, "is below --fail-under=100")) << below.err;
}

TEST(Mutate, ExcusesWhatIsSaidToBeEquivalent) {
  const std::string file = testing::TempDir() + "/equivalents.txt";
  std::ofstream(file) << "# no difference\ntested.cu: if (i < n) y[i] = a * x[i] + y[i]; ~ "
                         "guard-removed ~ * ~ for this test\n";
  const Judged o =
      mutate("excused", "--operators=guard-removed --fail-under=100 --equivalents=" + file + " " +
                            program("weakly_tested"));
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  const int excused = o.statuses()["Ignored"];
  EXPECT_GT(excused, 0);
  // All survivors are excused. With --trust-equivalents they need no round with checks.
  constexpr const char* kSentence =
      " of the equivalent ones were judged by a part of the rounds alone";
  const Judged trusting =
      mutate("trusting", "--trust-equivalents --operators=guard-removed --fail-under=100 " +
                             ("--equivalents=" + file + " ") + program("weakly_tested"));
  EXPECT_EQ(trusting.status, 0) << trusting.out << trusting.err;
  EXPECT_TRUE(has(trusting.out, kSentence)) << trusting.out;
  EXPECT_FALSE(has(o.out, kSentence)) << o.out;
  EXPECT_GE(trusting.statuses()["Ignored"], excused);
  EXPECT_EQ(trusting.judged_in("checks"), 0);
  EXPECT_GE(o.judged_in("checks"), excused);
  // A mutant that a test kills is not excused, trusted or not.
  const Judged noticed =
      mutate("noticed", "--trust-equivalents --operators=guard-removed --equivalents=" + file +
                            " " + program("strongly_tested"));
  EXPECT_EQ(noticed.statuses()["Ignored"], 0) << noticed.out;
  EXPECT_GT(noticed.statuses()["Killed"], 0) << noticed.out;
  std::ofstream(file) << "tested.cu: no reason\n";
  EXPECT_TRUE(has(mutate("unreadable", "--operators=guard-removed --equivalents=" + file + " " +
                                           program("weakly_tested"))
                      .err,
                  "equivalents.txt, line 1"));
}

// Managed memory is mapped in the parent and in all mutants: writes must not be shared.
TEST(Mutate, KeepsMutantsOfManagedMemoryApart) {
  const Judged o = mutate("managed", "--mutants=25 --jobs=4 " + program("managed"));
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_EQ(o.statuses()["Pending"], 0) << o.out;
  EXPECT_GT(o.score(), 50) << o.out;
}

// A program with host threads cannot be forked: each mutant is a separate run.
TEST(Mutate, RunsProgramsWithThreadsOnceAMutant) {
  const Judged o =
      mutate("threads", "--mutants=6 --operators=kernels " + program("beside_a_thread"));
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_TRUE(has(o.err, "the program has several threads when it launches kernels")) << o.err;
  EXPECT_EQ(o.statuses()["Pending"], 0) << o.out;
  EXPECT_GT(o.score(), 50) << o.out;
}

// Parts that do not execute the mutant are left out: here the second part would notice mutants of
// the first.
TEST(Mutate, LeavesOutPartsThatDoNotComeToTheMutant) {
  const Judged o = mutate("parts", "--operators=store-removed " + program("in_parts"));
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_EQ(o.statuses()["Survived"], 1) << o.out;
  EXPECT_EQ(o.statuses()["Killed"], 1) << o.out;  // of the second part
}

// A mutant whose launches all leave the results of the original is not run to its end. Its verdict
// must be that of a full run.
TEST(Mutate, JudgesByWhatLaunchesLeaveAsByWholeRuns) {
  for (const std::string name : {"compared", "weakly_tested"}) {
    const std::string words = "--operators=kernels " + program(name);
    const Judged compared = mutate("compared-" + name, words),
                 whole = mutate("whole-" + name, "--whole-runs " + words);
    ASSERT_EQ(compared.status, 0) << compared.out << compared.err;
    ASSERT_EQ(whole.status, 0) << whole.out << whole.err;
    EXPECT_EQ(compared.verdicts(), whole.verdicts());
    EXPECT_GT(whole.statuses()["Survived"], 5) << whole.out;
    EXPECT_GT(whole.statuses()["Killed"], 20) << whole.out;
    EXPECT_EQ(whole.statuses()["Pending"], 0) << whole.out;
    EXPECT_GT(compared.without_process(), 0) << name;
    EXPECT_EQ(whole.without_process(), 0) << name;
    // Shares of the parts are judged at the same time, and so is one share.
    const Judged alone = mutate("alone-" + name, "--jobs=1 " + words),
                 shared = mutate("shared-" + name, "--jobs=2 " + words);
    EXPECT_EQ(alone.verdicts(), whole.verdicts());
    EXPECT_EQ(shared.verdicts(), whole.verdicts());
  }
}

// A program with several streams is judged with checks as well: the launches that mutants try out
// are no launches of the program, and nothing races with them.
TEST(Mutate, JudgesProgramsWithStreamsWithChecksToo) {
  const Judged o = mutate("streams_checked", "--operators=kernels -- tests/exec/in_streams");
  ASSERT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_FALSE(has(o.err, "does not do the same each time")) << o.err;
  EXPECT_GT(o.judged_in("checks"), 0) << o.out;
}

// Mutants of ordering calls, in a program that needs the order and in one that does not.
TEST(Mutate, LeavesOutWhatOrdersOperations) {
  const std::string operators =
      "--operators=synchronisation-removed,event-earlier,stream-exchanged,edge-removed ";
  const Judged needed = mutate("order_needed", operators + "-- tests/exec/in_streams needed"),
               idle = mutate("order_idle", operators +
                                               "--callers='wait_for|stream_waits|edges|add' "
                                               "-- tests/exec/in_streams");
  ASSERT_EQ(needed.status, 0) << needed.out << needed.err;
  ASSERT_EQ(idle.status, 0) << idle.out << idle.err;
  // Moving an operation to the stream that waits for it only adds ordering.
  const auto has_effect = [](const std::string& what) {
    return !has(what, "fill(int*, int) in captured_streams(): another stream") &&
           !has(what, "fill(int*, int) in stream_waits_for_an_event(): another stream");
  };
  std::map<std::string, int> killed;
  for (const auto& [what, status] : needed.verdicts()) {
    if (has_effect(what)) {
      EXPECT_NE(status, "Survived") << what << "\n" << needed.out;
    }
    for (const char* change : {"the wait is left out", "is recorded before", "another stream",
                               "the first edge is left out"})
      killed[change] += status != "Survived" && has(what, change);
  }
  EXPECT_EQ(killed["the wait is left out"], 7) << needed.out;
  EXPECT_EQ(killed["is recorded before"], 3) << needed.out;
  EXPECT_EQ(killed["another stream"], 10) << needed.out;
  EXPECT_EQ(killed["the first edge is left out"], 2) << needed.out;
  EXPECT_EQ(needed.statuses()["Survived"], 2) << needed.out;
  EXPECT_EQ(idle.statuses()["Survived"], 19) << idle.out;
  EXPECT_EQ(idle.statuses().size(), 1u) << idle.out;
  // The report names the function and the line of the call.
  EXPECT_TRUE(has(idle.out, "in_streams.cu:")) << idle.out;
  EXPECT_TRUE(has(idle.out, "cudaEventSynchronize in wait_for_an_event(): the wait is left out"))
      << idle.out;
}

// A finding of the unchanged program would kill every mutant.
TEST(Mutate, JudgesNoProgramWithFindingsOfItsOwn) {
  // The second program ends with 0 whatever the first one returns.
  for (const char* words :
       {"tests/exec/update 1 32 1", "/bin/sh -c 'tests/exec/update 1 32 1; true'"}) {
    const Judged own = mutate("own_findings", std::string("--operators=kernels -- ") + words);
    EXPECT_EQ(own.status, 2) << own.out << own.err;
    EXPECT_TRUE(has(own.err, "the unchanged program has findings")) << own.err;
    EXPECT_TRUE(has(own.err, "race: st.global.u32")) << own.err;
    EXPECT_EQ(own.out, "");
  }
  // A suppressed finding kills no mutant, the program's own or a mutant's.
  const std::string file = testing::TempDir() + "/own.txt";
  std::ofstream(file) << "race *\n";
  setenv("LOCKSTEP_SUPPRESSIONS", file.c_str(), 1);
  const Judged o =
      mutate("own_findings", "--resume --operators=kernels -- tests/exec/update 1 32 1");
  unsetenv("LOCKSTEP_SUPPRESSIONS");
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_GT(o.statuses()["Survived"], 0) << o.out;
  EXPECT_GT(o.judged_in("checks"), 0) << o.out;
}

TEST(Mutate, SaysWhatIsWrong) {
  EXPECT_TRUE(has(mutate("wrong", "--operators=barriers " + program("vector_add")).err,
                  "there is no operator 'barriers'; there are kernels, calls, barrier-removed"));
  EXPECT_TRUE(
      has(mutate("wrong", "--files='(' " + program("vector_add")).err, "regular expressions"));
  EXPECT_TRUE(has(mutate("wrong", "--files=nowhere --callers=nobody " + program("vector_add")).err,
                  "no mutant is left to judge"));
  const Judged red = mutate("red", "-- /bin/false");
  EXPECT_EQ(red.status, 2);
  EXPECT_TRUE(has(red.err, "the unchanged program ends with status 1")) << red.err;
  const Judged nothing = mutate("nothing", "-- /bin/true");
  EXPECT_EQ(nothing.status, 2);
  EXPECT_TRUE(has(nothing.err, "the program launched no kernel on the simulated GPU"))
      << nothing.err;
}

// If verdicts cannot be written, the score would cover fewer mutants: the command must fail.
TEST(Mutate, EndsWithAnErrorWhereWhatBecomesOfMutantsCannotBeWritten) {
  // Limits the sizes of files, in KiB. Through a pipe, because the limit applies to stdout too.
  const auto limited = [](const std::string& name, int limit, const std::string& words) {
    const std::string folder = scratch(name), script = folder + ".sh";
    std::ofstream(script) << "(ulimit -f " << limit << "; exec " << std::getenv("LOCKSTEP_EXEC")
                          << " mutate --out=" << folder << " " << words << ") 2>&1 | cat"
                          << "\nexit ${PIPESTATUS[0]}\n";
    const Outcome o = shell("bash " + script);
    return std::pair(o.status, o.out);
  };
  const std::string words = program("vector_add");
  for (const auto& [limit, what] :
       {std::pair(0, "survey-whole.plan cannot be written: File too large"),
        std::pair(4, "survey-whole.json cannot be written")}) {
    const auto [status, said] = limited("limited" + std::to_string(limit), limit, words);
    EXPECT_EQ(status, 2) << said;
    EXPECT_TRUE(has(said, what)) << said;
  }
  // Large files of verdicts stand for a full disk.
  const Judged few = mutate("filled", "--mutants=3 " + words);
  ASSERT_EQ(few.status, 0) << few.err;
  for (const char* round : {"whole", "checks"}) {
    std::ofstream(few.folder + "/" + round + ".jsonl") << std::string(64 << 10, '\n');
  }
  const auto [status, said] = limited("filled", 64, "--mutants=3 --resume " + words);
  EXPECT_EQ(status, 2) << said;
  EXPECT_TRUE(has(said, "whole.jsonl cannot be written: what became of some mutants is not known"))
      << said;
  // Without the limit the run resumes.
  EXPECT_EQ(mutate("filled", "--mutants=3 --resume " + words).status, 0);
}

}  // namespace
}  // namespace lockstep
