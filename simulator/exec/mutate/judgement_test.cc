#include "simulator/exec/mutate/judgement.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "simulator/exec/mutate/mutation_json.h"
#include "simulator/exec/mutate/mutation_score.h"
#include "simulator/mutation/time_limit.h"

namespace lockstep::exec {
namespace {

Trace ended(int status, const std::string& finding = "") {
  Trace t;
  t.ended = t.died = true;
  t.end = status;
  t.status = status << 8;
  t.finding = finding;
  return t;
}

TEST(Judgement, GoesByTheProgramsOwnStatusFirst) {
  EXPECT_EQ(judge_trace(ended(0), 0, false, "").verdict, Verdict::kSurvived);
  EXPECT_EQ(judge_trace(ended(3), 3, false, "").verdict, Verdict::kSurvived);
  const Judgement law =
      judge_trace(ended(1), 0, false, "[ RUN      ] A.B\n[  FAILED  ] A.B (3 ms)\n");
  EXPECT_EQ(law.verdict, Verdict::kKilledByLaw);
  EXPECT_EQ(law.reason, "A.B");
  EXPECT_EQ(judge_trace(ended(1), 0, false, "x\nError: 3 is not 4\n").reason, "Error: 3 is not 4");
  EXPECT_EQ(judge_trace(ended(1), 0, false, "").reason, "exit status 1");
}

TEST(Judgement, DistinguishesChecksFromLaws) {
  EXPECT_EQ(judge_trace(ended(0, "race"), 0, false, "").verdict, Verdict::kKilledByChecks);
  EXPECT_EQ(judge_trace(ended(0, "race"), 0, true, "").verdict, Verdict::kKilledByChecks);
  // A harness fails because of a finding; it passed without checks.
  EXPECT_EQ(judge_trace(ended(1, "race"), 0, true, "").verdict, Verdict::kKilledByChecks);
  EXPECT_EQ(judge_trace(ended(1, "invalid-address"), 0, false, "").verdict, Verdict::kKilledByLaw);
  EXPECT_EQ(judge_trace(ended(1), 0, true, "").verdict, Verdict::kKilledByLaw);
}

TEST(Judgement, OfTimeCrashesAndWhatCouldNotRun) {
  Trace late = ended(0);
  late.late = true;
  EXPECT_EQ(judge_trace(late, 0, false, "").verdict, Verdict::kKilledByTime);
  EXPECT_EQ(judge_trace(ended(1, "deadlock"), 0, false, "").verdict, Verdict::kKilledByTime);
  Trace crash;
  crash.died = true;
  crash.status = SIGSEGV;
  EXPECT_EQ(judge_trace(crash, 0, false, "").verdict, Verdict::kKilledByCrash);
  crash.status = 4 << 8;  // it called _exit
  EXPECT_EQ(judge_trace(crash, 0, false, "").verdict, Verdict::kKilledByLaw);
  Trace refused = ended(0);
  refused.refused = "no such form";
  EXPECT_EQ(judge_trace(refused, 0, false, "").verdict, Verdict::kInvalid);
  Trace skipped;
  skipped.skipped = "threads";
  EXPECT_EQ(judge_trace(skipped, 0, false, "").verdict, Verdict::kNotJudged);
  EXPECT_EQ(judge_trace({}, 0, false, "").verdict, Verdict::kNotJudged);
}

TEST(Judgement, ReadsWhatProcessesLeftAndNoMore) {
  const std::string path = testing::TempDir() + "/lines.jsonl";
  std::ofstream(path) << "{\"id\": 4, \"finding\": \"race\", \"text\": \"first\"}\n{\"id\": 4, "
                         "\"finding\": \"out-of-bounds\"}\n{\"id\": 4, \"end\": 86}\n"
                      << "{\"id\": 4, \"died\": 22016, \"seconds\": 1.5, \"late\": "
                         "false}\n{\"id\": 5, \"skipped\": \"threads\"}\n{\"id\": 6, \"end\":";
  Traces file(path);
  const auto& traces = file.read();
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(traces.at(4).finding, "race");
  EXPECT_EQ(traces.at(4).end, 86);
  EXPECT_EQ(traces.at(4).seconds, 1.5);
  EXPECT_TRUE(traces.at(4).over());
  EXPECT_TRUE(traces.at(5).over());
  // The rest of the incomplete line, and the next line.
  std::ofstream(path, std::ios::app) << " 3}\n{\"id\": 5, \"died\": 0}\n";
  file.read();
  ASSERT_EQ(traces.size(), 3u);
  EXPECT_EQ(traces.at(6).end, 3);
  EXPECT_TRUE(traces.at(5).died);
  EXPECT_EQ(traces.at(4).finding, "race");
  EXPECT_TRUE(Traces(path + ".none").read().empty());
}

// A child process that calls the given function. It is killed when this object is destroyed.
class Child {
 public:
  explicit Child(void (*what)()) : id_(fork()) {
    if (id_ == 0) what(), _exit(0);
  }
  ~Child() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  pid_t id() const { return id_; }

 private:
  pid_t id_;
};

TEST(TimeLimit, CountsProcessorTimeAndWaitsLonger) {
  using std::chrono::milliseconds;
  const Child works([] {
    for (;;) __asm__ volatile("");
  });
  const Child waits([] { pause(); });
  mutation::TimeLimit limit(0.02), long_past(0.001);
  while (limit.elapsed() < 10 && !limit.is_over(works.id()))
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_LT(limit.elapsed(), 10);
  EXPECT_GE(limit.elapsed(), 0.02);
  EXPECT_TRUE(long_past.is_over(waits.id()));  // twenty times the limit
  mutation::TimeLimit soon(0.05), asleep(0.5);
  while (soon.elapsed() < 0.06) std::this_thread::sleep_for(milliseconds(1));
  if (soon.elapsed() < 0.4) {
    EXPECT_FALSE(soon.is_over(waits.id()));
  }
  // A sleeping process is not granted ten times the limit.
  while (asleep.elapsed() < 4.5 && !asleep.is_over(waits.id()))
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_LT(asleep.elapsed(), 4.5);
  EXPECT_GT(asleep.elapsed(), 2);
}

class Scores : public testing::Test {
 protected:
  Scores() {
    std::ofstream(folder + "/k.cu") << "first\n  if (i < n)  \n";
    for (const Verdict v :
         {Verdict::kKilledByLaw, Verdict::kKilledByLaw, Verdict::kKilledByTime,
          Verdict::kKilledByCrash, Verdict::kKilledByChecks, Verdict::kSurvived, Verdict::kSurvived,
          Verdict::kNotCovered, Verdict::kInvalid, Verdict::kNotJudged}) {
      Mutant m;
      m.id = static_cast<int>(mutants.size()) + 1;
      m.op = mutants.size() % 2 == 0 ? "compare-edge" : "barrier-removed";
      m.change = "lt became le";
      m.text = "setp.lt.s32 %p1, %r1, %r2";
      m.file = "/elsewhere/src/k.cu";
      m.line = 2;
      m.column = 3;
      m.verdict = v;
      mutants.push_back(m);
    }
  }
  std::string folder = testing::TempDir();
  std::vector<Mutant> mutants;
  Sources sources{{folder}};
};

TEST_F(Scores, CountWhatWasRunToAnEnd) {
  const Score s = score_of(mutants);
  EXPECT_EQ(s.mutants, 10u);
  EXPECT_EQ(s.killed(), 5u);
  EXPECT_EQ(s.counted(), 7u);
  EXPECT_NEAR(s.percent(), 500.0 / 7, 1e-9);
  EXPECT_NEAR(s.percent_for_sure(), 500.0 / 8, 1e-9)
      << "nobody knows of the one that was not judged";
  EXPECT_EQ(scores_by_operator(mutants).at("barrier-removed").survived, 1u);
  EXPECT_EQ(score_of({}).percent(), 100);
}

TEST_F(Scores, LeaveOutWhatIsEquivalent) {
  const std::string path = folder + "/equivalents";
  std::ofstream(path) << "# reasons\n\nk.cu: if (i < n) ~ compare-edge ~ * ~ i is never n\n";
  EXPECT_EQ(read_equivalents(path, mutants, sources), "");
  EXPECT_EQ(score_of(mutants).equivalent, 1u);
  EXPECT_NEAR(score_of(mutants).percent(), 500.0 / 6, 1e-9);
  // An instruction identifies a mutant more precisely than a line.
  const auto excused = [&](const std::string& line) {
    for (Mutant& m : mutants) m.equivalent.clear();
    std::ofstream(path) << line << " ~ for this test\n";
    EXPECT_EQ(read_equivalents(path, mutants, sources), "");
    return score_of(mutants).equivalent;
  };
  EXPECT_EQ(excused("k.cu: * ~ compare-edge ~ setp.lt.s32 %p, %r, %r: lt became le"), 1u);
  EXPECT_EQ(excused("*: * ~ * ~ setp.lt.s32 %p, %r, %r: *"), 2u);
  EXPECT_EQ(excused("k.cu: * ~ compare-edge ~ setp.lt.s32 %p, %r, 0x0: lt became le"), 0u);
  EXPECT_EQ(excused("k.cu: * ~ compare-edge ~ setp.lt.s32 %p, %r, %r: lt became ge"), 0u);
  EXPECT_EQ(excused("other.cu: * ~ * ~ setp.lt.s32 %p, %r, %r: *"), 0u);
  for (const char* wrong :
       {"k.cu: if (i < n) ~ compare-edge ~ why\n", "k.cu ~ compare-edge ~ * ~ why\n",
        "k.cu: if (i < n) ~ compare-edge ~ * ~ \n"}) {
    std::ofstream(path) << wrong;
    EXPECT_NE(read_equivalents(path, mutants, sources), "") << wrong;
  }
  EXPECT_NE(read_equivalents(folder + "/nowhere", mutants, sources), "");
}

TEST_F(Scores, ArePrintedWithSourceLines) {
  const std::string text = text_report(mutants, sources);
  EXPECT_NE(text.find("/elsewhere/src/k.cu:2  if (i < n)\n"), text.npos) << text;
  EXPECT_NE(text.find("'setp.lt.s32 %p1, %r1, %r2': lt became le"), text.npos) << text;
  EXPECT_NE(text.find("5 of 7 mutants that the tests execute are killed: 71.4 %. 1 of them by"),
            text.npos)
      << text;
}

TEST_F(Scores, DistinguishKernelsFromCalls) {
  EXPECT_EQ(text_report(mutants, sources).find("in kernels"),
            std::string::npos);  // the program has no calls
  mutants[6].of_call = true;
  const std::string text = text_report(mutants, sources);
  const auto line = [&](const std::string& name) {
    const std::size_t at = text.find("\n" + name);
    return at == text.npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  EXPECT_TRUE(line("in kernels").ends_with(" 83.3")) << text;  // 5 of 6
  EXPECT_TRUE(line("in calls").ends_with(" 0.0")) << text;
}

TEST_F(Scores, AreInTheOpenSchema) {
  const auto json = mutation_json(mutants, sources);
  EXPECT_EQ(json.at("schemaVersion"), "2");
  const auto& file = json.at("files").at("/elsewhere/src/k.cu");
  EXPECT_EQ(file.at("source"), "first\n  if (i < n)  \n");
  EXPECT_EQ(file.at("mutants").at(0).at("status"), "Killed");
  EXPECT_EQ(file.at("mutants").at(2).at("status"), "Timeout");
  EXPECT_EQ(file.at("mutants").at(3).at("status"), "RuntimeError");
  EXPECT_EQ(file.at("mutants").at(5).at("status"), "Survived");
  EXPECT_EQ(file.at("mutants").at(7).at("status"), "NoCoverage");
  EXPECT_EQ(file.at("mutants").at(8).at("status"), "CompileError");
  EXPECT_EQ(file.at("mutants").at(0).at("location").at("start").at("line"), 2);
  EXPECT_EQ(file.at("mutants").at(0).at("location").at("end").at("column"), 15);
}

}  // namespace
}  // namespace lockstep::exec
