// What a run leaves for people and programs, as a whole and letter for letter: the page, the table,
// the failures, the passport, JUnit's XML, and the comparison of two runs. The other tests say what
// must be there and why; this one notices whatever else changes. The same of the command line: what
// each option of each command becomes, its help and its completion.
//
//   bazel run //tests:whole_test -- --update      writes tests/whole anew: look at what changes
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "command/tree.h"
#include "harness/ledger/runfiles.h"
#include "harness/report/passport_diff.h"
#include "harness/report/report_html.h"
#include "harness/report/run_report.h"
#include "simulator/check/finding.h"
#include "simulator/exec/annotations.h"
#include "simulator/exec/junit_report.h"
#include "simulator/exec/report.h"
#include "simulator/exec/suppression_use.h"
#include "tests/made_passport.h"

namespace lockstep {
namespace {

bool update = false;

void expect_file(const std::string& name, const std::string& text) {
  const std::string file = "tests/whole/" + name;
  if (update) {
    std::ofstream(std::string(std::getenv("BUILD_WORKSPACE_DIRECTORY")) + "/" + file) << text;
    return;
  }
  std::ifstream in(runfile(file));
  ASSERT_TRUE(in.is_open()) << file;
  const std::string expected(std::istreambuf_iterator<char>(in), {});
  if (text == expected) return;
  std::size_t at = 0, line = 1;
  while (at < text.size() && at < expected.size() && text[at] == expected[at])
    line += text[at++] == '\n';
  const auto line_of = [&](const std::string& of) {
    const std::size_t begin = at == 0 ? 0 : of.rfind('\n', at - 1) + 1;
    return of.substr(begin, of.find('\n', at) - begin);
  };
  FAIL() << file << ", line " << line << ":\n  is     " << line_of(text) << "\n  not    "
         << line_of(expected)
         << "\nIf it should: bazel run //tests:whole_test -- --update, and look at what changes";
}

Record record(const std::string& property, Verdict verdict, const std::string& reason = "") {
  Record r = MadeRun::record(property);
  r.verdict = verdict;
  r.reason = reason;
  r.seconds = 0.125 * static_cast<double>(property.size());
  return r;
}

Record failure(const std::string& property, const std::string& reason, const std::string& message) {
  Record r = record(property, Verdict::kFail, reason);
  r.message = message;
  r.minimal_case = "n=33 poison=nan";
  r.replay = "./lockstep run --suite=first '--case=" + property + ": n=33 poison=nan'";
  r.seed = 1234567890123456789;
  r.cases = 41;
  return r;
}

SuiteResult suite(const std::string& family, std::vector<Record> records, double seconds,
                  int status) {
  LedgerFile file;
  file.program = family + "_test";
  file.device = MadeRun().device;
  file.device["sms"] = "132";
  file.complete = true;
  for (const Record& r : records) file.planned.push_back(r.property);
  file.records = std::move(records);
  ProcessEnd end;
  end.how = ProcessEnd::How::kExited;
  end.status = status;
  end.seconds = seconds;
  SuiteResult result =
      assess({family, "tests/" + family, "//tests:" + family + "_test"}, end, file, "");
  result.log = "logs/" + family + ".log";
  return result;
}

std::string timing(double us) {
  return fmt::format(
      R"({{"name": "copy", "median_us": {}, "low_us": {}, "high_us": {}, "samples": 60}})", us,
      0.99 * us, 1.01 * us);
}

// Every verdict, and everything that a property can note. `later`: what a second run might give.
RunReport made(bool later) {
  const std::string race =
      "race: st.shared.f32\n  by thread (1,0,0)\n  at kernels/made.cu:9 (st.shared.f32)";
  Record bits = record("First.Rounds", Verdict::kPass),
         limit = record("First.UsesAllOfItsBound", Verdict::kPass),
         beyond = failure("First.GoesBeyond", "mismatch", "y[32] is 1.5, not <1.25> & \"more\""),
         drawn = record("Second.DrawsTheGoldens", Verdict::kPass),
         timed = record("Second.IsTimed", Verdict::kPass),
         measured = record("Second.IsMeasured", Verdict::kPass);
  bits.budget = later ? 0.75 : 0.5, bits.cases = 200;
  bits.notes["digest"] = later ? "fedcba9876543210" : "0123456789abcdef";
  bits.notes["source"] = "properties/made.cc:88";
  limit.budget = later ? 0.96 : 1;
  beyond.budget = 1.5;
  drawn.notes["golden.field"] = "same";
  drawn.notes["golden.ring"] = later ? "same" : "another picture";
  drawn.notes["table.Transactions"] = "pattern\tlines\tequal\nstride 2\t2\tyes\nstride 4\t4\tNO";
  timed.notes["timing.copy"] = timing(later ? 150 : 100);
  timed.notes["timing_verdict.copy"] =
      R"({"name": "b against a", "verdict": "SLOWER", "ratio": 1.3, "low": 1.2, "high": 1.4, )"
      R"("minimum_effect": 0.02})";
  measured.notes["measurement.mma"] =
      fmt::format(R"({{"kind": "matrix_unit", "name": "mma m16n8k8 f16 to f32", "terms": 17, )"
                  R"("values": [["products at once", "16"], ["bits below the largest", "{}"], )"
                  R"(["bits of a sum", "23"], ["NaN", "7fffffff"]]}})",
                  later ? 25 : 24);
  RunReport report;
  report.created = later ? "2026-11-22T08:15:30Z" : "2026-11-21T11:30:00Z";
  report.commit = "0123456789abcdef0123456789abcdef01234567";
  report.modified = later;
  report.driver_version = 13010;
  report.driver_module = "590.44.01";
  report.options = {{"cases", "41"}, {"seed", "7"}};
  report.seconds = 12.3456;
  report.suites.push_back(suite(
      "first",
      {bits, limit, beyond, failure("First.IsFreeOfRaces", "finding:race", race),
       failure("First.IsFreeOfRacesToo", "finding:race", race),
       later
           ? record("First.IsWaived", Verdict::kPass)
           : record("First.IsWaived", Verdict::kWaived, "https://example.org/1, until 2027-01-01"),
       record("First.NeedsClusters", Verdict::kNotApplicable,
              "compute_capability >= 9.0, here 8.0")},
      5.25, 1));
  report.suites.push_back(
      suite("second",
            {drawn, timed, measured,
             record("Second.RanOutOfMemory", Verdict::kNotRun, "no memory: 4 GiB were wanted")},
            7.125, 1));
  report.suites.push_back(suite("third", {record("Third.Holds", Verdict::kPass)}, 0.5, 3));
  return report;
}

Passport passport(const RunReport& report) {
  Passport p;
  std::string error;
  EXPECT_TRUE(parse_passport(passport_json(report), p, error)) << error;
  return p;
}

ReportContext context() {
  ReportContext c;
  c.pictures = {{"field", "png bytes"}};
  c.mutations = {{"first", 10, 2, 1, 3, "mutation/first/mutation.html"}};
  c.coverage = {{"kernels/made.cu", 1000, 999, 4, 3}};
  c.counters = {{"copy<4>(float*)",
                 {{"launches", 12},
                  {"warp_instructions", 100},
                  {"thread_instructions", 3150},
                  {"global_load_sectors", 80},
                  {"global_load_requests", 20},
                  {"shared_load_bank_conflicts", 3},
                  {"shared_store_bank_conflicts", 4},
                  {"atomics", 5},
                  {"barriers", 6}}}};
  c.earlier = passport(made(false));
  c.sources = "https://example.org/blob/main/";
  return c;
}

TEST(Whole, Passport) { expect_file("passport.json", passport_json(made(false))); }
TEST(Whole, JUnit) { expect_file("junit.xml", junit_xml(made(false))); }
TEST(Whole, TableAndFailures) {
  const RunReport report = made(false);
  std::string text = table(report.suites) + "\n" + failures(report.suites) + "\n";
  for (const std::string& problem : report.problems()) text += problem + "\n";
  expect_file("terminal.txt", text);
}
TEST(Whole, Page) { expect_file("report.html", report_html(passport(made(true)), context(), {})); }
TEST(Whole, PageOfAPart) {
  RunReport report = made(false);
  report.options = {{"pattern", "Rounds"}, {"scale", "0.1"}, {"suites", "first,second"}};
  report.partial = "interrupted by SIGINT";
  report.not_begun = {"fourth"};
  report.suites.erase(report.suites.begin() + 1, report.suites.end());
  expect_file("part.html", report_html(passport(report), {}, {}));
}
TEST(Whole, Comparison) {
  const Passport before = passport(made(false)), after = passport(made(true));
  expect_file("worse.txt", diff_text(before, after, diff_passports(before, after)));
  expect_file("back.txt", diff_text(after, before, diff_passports(after, before)));
  RunReport other = made(true);
  for (SuiteResult& s : other.suites) {
    s.file.device["compute_capability"] = "8.0";
    s.file.device["name"] = "NVIDIA A100";
    s.file.device["uuid"] = "GPU-2";
  }
  other.options["suites"] = "first,second";
  other.suites.pop_back();
  const Passport another = passport(other);
  expect_file("another_device.txt", diff_text(before, another, diff_passports(before, another)));
}

// ---- What exec reports.

// A finding of each kind, every other one information; a race has another side, and a call of the
// host has no kernel.
exec::ProgramRun program() {
  exec::ProgramRun run;
  run.command = {"./program", "an argument"};
  run.exit_status = 86;
  exec::RunRecord& r = run.record;
  r.device = "sm_90";
  r.schedule = 3;
  r.checks = "bounds,races";
  r.kernels = {"f(int*)", "g()"};
  r.totals["f(int*)"] = {3, {{"atomics", 2}, {"barriers", 5}}};
  r.totals["g()"] = {1, {}};
  r.refused_launches = 2;
  r.repeated_launches = 1;
  for (int k = 0; k <= static_cast<int>(check::Kind::kApiError); ++k) {
    const std::string name = check::name(static_cast<check::Kind>(k));
    nlohmann::json finding = {{"kind", name},
                              {"severity", k % 2 == 0 ? "error" : "information"},
                              {"kernel", "f(int*)"},
                              {"text", name + ": something\n  at src/a file.cu:12"},
                              {"file", "src/a file.cu"},
                              {"line", 12 + k},
                              {"block", {1, 2, 3}},
                              {"thread", {k, 0, 1}},
                              {"address", 4096 + k},
                              {"size", 4},
                              {"space", "global"},
                              {"write", k % 3 == 0},
                              {"atomic", k % 4 == 0},
                              {"instruction", "st.global.u32"},
                              {"occurrences", 1 + k}};
    if (name == "race" || name == "barrier-divergence") {
      finding["other"] = {{"file", "/abs/b.cu"}, {"line", 14},
                          {"block", {0, 0, 0}},  {"thread", {31, 0, 0}},
                          {"address", 4096},     {"size", 8},
                          {"write", true},       {"instruction", "ld.global.u64"}};
    }
    if (name == "api-error") {
      finding["kernel"] = "";
      finding["call"] = "cudaMemcpy";
      finding["error"] = "cudaErrorInvalidValue";
    }
    r.findings.push_back(finding);
    if (name == "leak") r.suppressed.push_back(finding);
  }
  return run;
}

TEST(Whole, ReportsOfExec) {
  exec::ProgramRun run = program();
  expect_file("exec.txt", exec::text_report(run));
  expect_file("exec.json", exec::json_report(run).dump(2) + "\n");
  expect_file("exec.sarif", exec::sarif_report(run).dump(2) + "\n");
  expect_file("exec.xml", exec::junit_report(run));
  expect_file("exec_lines.txt", exec::annotations(run, exec::Annotations::kLines));
  expect_file("exec_github.txt", exec::annotations(run, exec::Annotations::kGithub));
  expect_file("exec_suppressions.txt", exec::suppressions_for(run.record.findings));
  run.record.lossy = true;
  run.record.checks = "none";
  std::string summaries = exec::summary(run.record) + "\n";
  run.record = {};
  summaries += exec::summary(run.record) + "\n";
  run.record.device = "sm_80";
  run.record.checks = "all,leaks";
  summaries += exec::summary(run.record) + "\n";
  run.record.kernels = {"g()"};
  run.record.totals["g()"] = {1, {}};
  summaries += exec::summary(run.record) + "\n";
  for (int k = 0; k <= static_cast<int>(check::Kind::kApiError); ++k) {
    const auto kind = static_cast<check::Kind>(k);
    summaries += fmt::format("{}: cudaError_t {}\n", check::name(kind), check::cuda_error(kind));
  }
  expect_file("exec_summaries.txt", summaries);
}

// ---- The command line.

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", words); }

// All that a command line says, by name; what was not said has its default.
std::map<std::string, std::string> said(const command::CommandLine& c) {
  std::map<std::string, std::string> all = {
      {"status", c.status ? std::to_string(*c.status) : ""},
      {"command", std::to_string(static_cast<int>(c.command))},
      {"program", joined(c.program)},
      {"own_words", joined(c.own_words)},
      {"run_words", joined(c.run_words)},
      {"shell", c.shell},
      {"check", std::to_string(c.check)},
      {"run.suites", joined(c.run.suites)},
      {"run.pattern", c.run.pattern},
      {"run.cases", c.run.cases},
      {"run.seed", c.run.seed},
      {"run.random_seed", c.run.random_seed},
      {"run.device", c.run.device},
      {"run.replay", c.run.replay},
      {"run.sanitizer", c.run.sanitizer},
      {"run.manifest", c.run.manifest},
      {"run.target", c.run.target},
      {"run.out", c.run.out},
      {"run.scale", fmt::format("{:g}", c.run.scale)},
      {"run.jobs", c.run.jobs ? std::to_string(*c.run.jobs) : ""},
      {"run.repeat", std::to_string(c.run.repeat)},
      {"run.time_limit", fmt::format("{:g}", c.run.time_limit)},
      {"run.property_limit", fmt::format("{:g}", c.run.property_limit)},
      {"run.quick", std::to_string(c.run.quick)},
      {"run.stop", std::to_string(c.run.stop)},
      {"run.last_failed", std::to_string(c.run.last_failed)},
      {"run.names_only", std::to_string(c.run.names_only)},
      {"exec.reports", joined(c.exec.reports)},
      {"exec.require_kernels", std::to_string(c.exec.require_kernels)},
      {"exec.quiet", std::to_string(c.exec.quiet)},
      {"exec.stop", std::to_string(c.exec.stop)},
      {"exec.tracefile", c.exec.tracefile},
      {"exec.text", c.exec.text},
      {"exec.only", joined(c.exec.only)},
      {"exec.toolkit", std::to_string(c.exec.toolkit)},
      {"exec.root", c.exec.root},
      {"exec.annotations", c.exec.annotations},
      {"exec.write_suppressions", c.exec.write_suppressions},
      {"exec.watch", std::to_string(c.exec.watch)},
      {"exec.watched", joined(c.exec.watched)},
      {"mutate.sample", std::to_string(c.mutate.sample)},
      {"mutate.seed", std::to_string(c.mutate.seed)},
      {"mutate.operators", joined(c.mutate.operators)},
      {"mutate.jobs", std::to_string(c.mutate.jobs)},
      {"mutate.out", c.mutate.out},
      {"mutate.fail_under", fmt::format("{:g}", c.mutate.fail_under)},
      {"mutate.files", c.mutate.files},
      {"mutate.callers", c.mutate.callers},
      {"mutate.equivalents", c.mutate.equivalents},
      {"mutate.first", joined(c.mutate.first)},
      {"mutate.sources", joined(c.mutate.sources)},
      {"mutate.resume", std::to_string(c.mutate.resume)},
      {"mutate.trust_equivalents", std::to_string(c.mutate.trust_equivalents)},
      {"mutate.whole_runs", std::to_string(c.mutate.whole_runs)},
      {"passport.before", c.passport.before},
      {"passport.after", c.passport.after},
      {"passport.folder", c.passport.folder},
      {"passport.compared_with", c.passport.compared_with},
      {"judge.task", c.judge.task},
      {"judge.candidate", c.judge.candidate},
      {"judge.old_one", c.judge.old_one},
      {"judge.entry", c.judge.entry},
      {"judge.device", c.judge.device},
      {"judge.json", c.judge.json},
      {"judge.html", c.judge.html},
      {"judge.cases", std::to_string(c.judge.cases)},
      {"judge.seed", c.judge.seed},
      {"judge.time_limit", fmt::format("{:g}", c.judge.time_limit)},
      {"judge.memory_limit", std::to_string(c.judge.memory_limit)},
      {"judge.isolation", c.judge.isolation},
  };
  for (const auto& [variable, value] : c.exec.set) all["exec.set." + variable] = value;
  return all;
}

// A value that the option takes; empty: it is a flag.
std::string value_for(const command::Tree& tree, const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  if (const auto choices = tree.choices.find(&option); choices != tree.choices.end())
    return choices->second.back();
  const std::string type = option.get_type_name();
  return type == "N" || type.starts_with("PERCENT") || type == "GIB" || type == "SEED" ? "7"
         : type == "X" || type == "SECONDS"                                            ? "2.5"
                                            : "a," + type;
}

TEST(Whole, EveryOptionOfEveryCommand) {
  ::testing::internal::CaptureStderr();           // what is refused is said there
  std::filesystem::create_directory("a,FOLDER");  // some options need one that exists
  std::string text;
  for (const bool checkout : {false, true}) {
    const command::Offer offer = command::whole_offer(checkout);
    command::CommandLine unused;
    const command::Tree tree = command::make_tree(offer, unused);
    for (const CLI::App* sub : tree.app->get_subcommands(nullptr)) {
      command::Offer alone;  // the command and no other: there are hundreds of lines
      alone.commands = {tree.commands.at(sub)};
      alone.checkout = checkout;
      const bool takes_program = command::takes_program(tree.commands.at(sub));
      std::vector<std::string> base = {sub->get_name()};
      for (const CLI::Option* option : sub->get_options()) {
        if (option->get_positional()) base.push_back(sub->get_name() == "completion" ? "zsh" : "P");
      }
      const auto parsed = [&](std::vector<std::string> words) {
        if (takes_program) words.insert(words.end(), {"--", "program", "--its=own"});
        return said(command::parse(alone, words));
      };
      std::map<std::string, std::string> usual = parsed(base);
      const auto changes = [&](const std::vector<std::string>& words,
                               const std::map<std::string, std::string>& from) {
        text += fmt::format("{} {}:", checkout ? "./lockstep" : "lockstep", fmt::join(words, " "));
        for (const auto& [name, value] : parsed(words)) {
          const auto before = from.find(name);
          if (before == from.end() || before->second != value)
            text += fmt::format(" {}={}", name, value);
        }
      };
      // Which of these values it does not take; those that an installation offers are the same.
      const auto refusals = [&](std::vector<std::string> words, const CLI::Option& option) {
        const std::string type = option.get_type_name();
        std::string refused;
        for (const char* wrong : {"-1", type.starts_with("PERCENT") ? "101"
                                        : type == "LIST"            ? "races,-bounds"
                                                                    : "x"}) {
          words.push_back(wrong);
          if (checkout && !parsed(words)["status"].empty())
            refused += fmt::format("{}'{}'", refused.empty() ? "; refuses " : ", ", wrong);
          words.pop_back();
        }
        return refused;
      };
      changes(base, said({}));
      text += '\n';
      for (const CLI::Option* option : sub->get_options()) {
        std::vector<std::string> names;
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
        const std::string value = value_for(tree, *option);
        for (const std::string& name : names) {
          if (name == "--help" || name == "-h") continue;
          std::vector<std::string> words = base;
          words.push_back(name);
          const std::string refused = value.empty() ? "" : refusals(words, *option);
          if (!value.empty()) words.push_back(value);
          changes(words, usual);
          text += refused + '\n';
        }
      }
    }
  }
  ::testing::internal::GetCapturedStderr();
  std::filesystem::remove("a,FOLDER");
  expect_file("options.txt", text);
}

// The lines that `b` has in place of lines of `a`, behind the numbers that they have there: with
// `a` they give `b`.
std::string differences(const std::string& a, const std::string& b) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const std::vector<std::string> as = lines_of(a), bs = lines_of(b);
  // common[i][j]: how many lines as[i...] and bs[j...] have in common, in order.
  std::vector<std::vector<int>> common(as.size() + 1, std::vector<int>(bs.size() + 1));
  for (std::size_t i = as.size(); i-- > 0;) {
    for (std::size_t j = bs.size(); j-- > 0;)
      common[i][j] =
          as[i] == bs[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  }
  std::string text;
  for (std::size_t i = 0, j = 0; i < as.size() || j < bs.size();) {
    if (i < as.size() && j < bs.size() && as[i] == bs[j]) {
      ++i, ++j;
    } else if (j == bs.size() || (i < as.size() && common[i + 1][j] >= common[i][j + 1])) {
      text += fmt::format("{}- {}\n", i + 1, as[i]), ++i;
    } else {
      text += fmt::format("{}+ {}\n", j + 1, bs[j]), ++j;
    }
  }
  return text;
}

TEST(Whole, HelpAndCompletions) {
  // Of an installation, and of a checkout.
  std::map<std::string, std::array<std::string, 2>> texts;
  for (const bool checkout : {false, true}) {
    const command::Offer offer = command::whole_offer(checkout);
    command::CommandLine unused;
    const command::Tree tree = command::make_tree(offer, unused);
    std::string& help = texts["help.txt"][checkout];
    help += tree.app->help() + "\n";
    for (const CLI::App* sub : tree.app->get_subcommands(nullptr))
      help += sub->help(tree.app->get_name()) + "\n";
    texts["completion.bash"][checkout] = command::completion(offer, "bash");
    texts["completion.zsh"][checkout] = command::completion(offer, "zsh");
  }
  for (const auto& [name, both] : texts) {
    expect_file(name, both[0]);
    expect_file(name + ".checkout", differences(both[0], both[1]));
  }
  expect_file("lockstep.1", command::manual(command::whole_offer(false)));
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  lockstep::update = argc == 2 && std::string_view(argv[1]) == "--update";
  return RUN_ALL_TESTS();
}
