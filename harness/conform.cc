// conform: runs the conformance suites, each in a process of its own, and leaves a table, a passport and JUnit's XML.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "harness/crew.h"
#include "harness/ledger_file.h"
#include "harness/options.h"
#include "harness/repeat.h"
#include "harness/replay.h"
#include "harness/run_report.h"
#include "harness/runfiles.h"
#include "harness/subprocess.h"
#include "harness/suite_result.h"
#include "harness/suite_run.h"
#include "harness/suites.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int kGreen = 0, kRed = 1, kUsage = 2;

// Leaves room to count up from, one a run.
constexpr std::uint64_t kMostRandomSeed = 1'000'000'000'000'000'000;

struct Arguments {
  std::string command = "run";
  bool list = false;
  std::vector<std::string> suites;
  std::string cases, seed, random_seed, device, replay, manifest, out = "lockstep-out", gpu = "simulated";
  int jobs = 1, repeat = 1;
  double time_limit = 900;
};

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

int refuse(const std::string& sentence) {
  fmt::print(stderr, "conform: {}\n", sentence);
  return kUsage;
}

// Empty, or a sentence.
std::string check(const Arguments& a) {
  if (a.command != "run" && a.command != "list") return fmt::format("'{}' is neither run nor list", a.command);
  if (!a.cases.empty() && !parse_number(a.cases, 1, 1'000'000'000))
    return fmt::format("--cases={} is not an integer from 1 to 1000000000", a.cases);
  if (!a.seed.empty() && !parse_number(a.seed, 1, UINT64_MAX))
    return fmt::format("--seed={} is not an integer from 1 to 2^64-1", a.seed);
  if (!a.random_seed.empty() && !parse_number(a.random_seed, 2, kMostRandomSeed))
    return fmt::format("--random-seed={} is not an integer from 2 to {}", a.random_seed, kMostRandomSeed);
  if (!a.seed.empty() && (a.repeat > 1 || !a.random_seed.empty()))
    return "--seed gives every property one seed, --repeat and --random-seed give each its own: choose";
  if (a.repeat > 1 && !a.replay.empty()) return "--repeat with --case would run the same case again";
  if (a.repeat < 1 || a.repeat > 1'000'000) return fmt::format("--repeat={} is not from 1 to 1000000", a.repeat);
  if (a.jobs < 1 || a.jobs > 1024) return fmt::format("--jobs={} is not from 1 to 1024", a.jobs);
  if (!a.device.empty() &&
      (!a.device.starts_with("sm_") || !parse_number(std::string_view(a.device).substr(3), 10, 999))) {
    return fmt::format("--device={} does not name a device such as sm_75, sm_80, sm_90, sm_100", a.device);
  }
  if (!(a.time_limit > 0)) return "--time-limit needs a number of seconds above 0";
  CaseName name;
  std::string error;
  if (!a.replay.empty() && !parse_case_name(a.replay, name, error)) return "--case: " + error;
  return "";
}

// `bazel run` starts programs in their runfiles; paths that a user types are meant from where the user is.
fs::path from_user(const std::string& path) {
  const std::string folder = environment("BUILD_WORKING_DIRECTORY");
  return fs::absolute(folder.empty() ? fs::path(path) : fs::path(folder) / path);
}

std::string self() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

// The command that a replay line starts with, up to the suite.
std::string replay_command() {
  const std::string entry = environment("LOCKSTEP_COMMAND");  // the entry script's own name for this program
  return !entry.empty()                                      ? entry
         : !environment("BUILD_WORKSPACE_DIRECTORY").empty() ? "bazel run //:conform --"
                                                             : shell_quoted(self());
}

SuiteOptions suite_options(const Arguments& a) {
  SuiteOptions o = {.cases = a.cases,
                    .seed = a.seed,
                    .device = a.device,
                    .replay = a.replay,
                    .gpu = a.gpu,
                    .replay_command = replay_command(),
                    .time_limit = a.time_limit};
  o.random_seed = parse_number(a.random_seed, 2, kMostRandomSeed).value_or(0);
  // Suites that run at the same time share the machine's cores.
  if (a.jobs > 1 && environment("LOCKSTEP_HOST_THREADS").empty())
    o.host_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / a.jobs);
  return o;
}

// One line that follows a suite while it runs on a terminal; elsewhere one line when it ends.
class Progress {
 public:
  Progress(std::size_t number, std::size_t of, const Suite& suite, fs::path ledger, bool alone)
      : head_(fmt::format("[{}/{}] {}", number, of, suite.family)),
        ledger_(std::move(ledger)),
        live_(alone && isatty(STDOUT_FILENO) != 0) {}

  void tick(double seconds) {
    if (!live_) return;
    LedgerFile file;
    std::string error;
    const bool there = read_ledger(ledger_.string(), file, error);
    const std::string what =
        there ? fmt::format("{} of {} properties  {}", file.records.size(), file.planned.size(), file.running)
              : "starting";
    fmt::print("\r\x1b[K{}  {:.0f} s  {:.100}", head_, seconds, what);
    std::fflush(stdout);
  }

  void end(const SuiteResult& r) const {
    const Tally t = r.ledger.tally();
    fmt::print("{}{}: {}, {} of {} properties passed, {} cases, {:.1f} s\n", live_ ? "\r\x1b[K" : "", head_,
               r.green() ? "green" : "RED", t.passed, t.planned, t.cases, r.end.seconds);
    std::fflush(stdout);
  }

 private:
  std::string head_;
  fs::path ledger_;
  bool live_;
};

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// The commit of the tree around the program, from the caller or from git where there is one.
void find_commit(RunReport& report, const fs::path& scratch) {
  report.commit = environment("LOCKSTEP_COMMIT");
  if (!report.commit.empty()) return;
  const std::string tree =
      environment("BUILD_WORKSPACE_DIRECTORY").empty() ? "." : environment("BUILD_WORKSPACE_DIRECTORY");
  const fs::path output = scratch / "git.txt";
  const auto git = [&](const std::string& arguments) {
    Command c;
    c.argv = {"/bin/sh", "-c", fmt::format("exec git -C {} {} 2>/dev/null", shell_quoted(tree), arguments)};
    c.output = output.string();
    c.time_limit = std::chrono::seconds(10);
    std::string text;
    if (run_process(c).succeeded()) {
      std::ifstream in(output);
      std::getline(in, text);
    }
    return text;
  };
  report.commit = git("rev-parse HEAD");
  report.modified = !report.commit.empty() && !git("status --porcelain --untracked-files=no").empty();
  fs::remove(output);
}

// False, after a sentence, if the file cannot be written.
bool save(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) fmt::print(stderr, "conform: {} cannot be written\n", path.string());
  return static_cast<bool>(out);
}

// A report without its suites.
RunReport report_of(const Arguments& a, const fs::path& out) {
  RunReport report;
  report.created = now_utc();
  find_commit(report, out);
  if (!a.cases.empty()) report.options["cases"] = a.cases;
  if (!a.seed.empty()) report.options["seed"] = a.seed;
  if (!a.random_seed.empty()) report.options["random_seed"] = a.random_seed;
  if (!a.device.empty()) report.options["device"] = a.device;
  if (!a.replay.empty()) report.options["case"] = a.replay;
  for (const std::string& s : a.suites) report.options["suites"] += (report.options["suites"].empty() ? "" : ",") + s;
  return report;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool save_report(const RunReport& report, const fs::path& out) {
  return save(out / "passport.json", passport_json(report)) && save(out / "junit.xml", junit_xml(report));
}

int run(const Arguments& a, const std::vector<Suite>& suites) {
  const fs::path out = from_user(a.out);
  if (const std::string error = make_run_folder(out); !error.empty()) return refuse(error);
  RunReport report = report_of(a, out);
  report.suites.resize(suites.size());
  const SuiteOptions options = suite_options(a);
  const auto start = std::chrono::steady_clock::now();
  std::mutex terminal;
  run_tasks(a.jobs, suites.size(), [&](std::size_t i) {
    Progress progress(i + 1, suites.size(), suites[i], ledger_of(suites[i], out), a.jobs == 1);
    report.suites[i] = run_suite(suites[i], options, out, [&](double seconds) { progress.tick(seconds); });
    const std::lock_guard lock(terminal);
    progress.end(report.suites[i]);
    return true;
  });
  report.seconds = seconds_since(start);

  const std::vector<std::string> problems = report.problems();
  fmt::print("{}\n{}\n", failures(report.suites), table(report.suites));
  const bool saved = save_report(report, out);
  fmt::print("passport: {}\n{}\n", (out / "passport.json").string(),
             problems.empty()
                 ? "Every ledger closes and all is green."
                 : fmt::format("NOT GREEN: {} problem{}.", problems.size(), problems.size() == 1 ? "" : "s"));
  return problems.empty() && saved ? kGreen : kRed;
}

int run_again_and_again(const Arguments& a, const std::vector<Suite>& suites) {
  const fs::path out = from_user(a.out);
  if (const std::string error = make_run_folder(out); !error.empty()) return refuse(error);
  SuiteOptions options = suite_options(a);
  if (options.random_seed == 0) {
    std::random_device entropy;
    options.random_seed = 2 + (std::uint64_t{entropy()} << 20 | entropy() >> 12);
  }
  fmt::print("{} runs, random seeds from {}\n", a.repeat, options.random_seed);
  const auto start = std::chrono::steady_clock::now();
  const RepeatedRuns runs = repeat_suites(suites, options, a.repeat, a.jobs, out, [&](int run, const Tally& tally) {
    fmt::print("[{}/{}] green: {} properties, {} cases, --random-seed={}\n", run, a.repeat, tally.planned, tally.cases,
               options.random_seed + run - 1);
    std::fflush(stdout);
  });
  if (!runs.error.empty()) return refuse(runs.error);
  Tally sum;
  for (const SuiteSum& s : runs.sums) add(sum, s.tally);
  fmt::print("{}\n{}\n{} of {} runs green, {} cases, {:.0f} s\n{}\n", failures(runs.red), table(runs.sums), runs.green,
             runs.planned, sum.cases, seconds_since(start),
             runs.all_green() ? "Every ledger closes and all is green." : "NOT GREEN: stopped at the first failure.");
  return runs.all_green() ? kGreen : kRed;
}

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app(
      "Runs the conformance suites and writes a table, passport.json and junit.xml. Exit status: 0 all green, 1 not, 2 "
      "wrong usage.",
      "conform");
  app.add_option("command", a.command, "run (the default), or list the suites");
  app.add_flag("--list", a.list, "list the suites");
  app.add_option("--suite", a.suites, "a suite, or several between commas; may be repeated; all without it");
  app.add_option("--cases", a.cases, "cases of each property, in place of its own number");
  app.add_option("--seed", a.seed, "seed of each property, in place of one from its name");
  app.add_option("--out", a.out, "folder for passport.json, junit.xml, ledgers and logs")->capture_default_str();
  app.add_option("--device", a.device, "which device the simulated GPU is: sm_75, sm_80, sm_90, sm_100");
  app.add_option("--case", a.replay,
                 "run this case alone, 'Suite.Name: field=value ...', of the one suite that --suite names");
  app.add_option("--random-seed", a.random_seed, "mixed with each property's name into a seed of its own");
  app.add_option("--repeat", a.repeat,
                 "run everything that often, each time with other random seeds; stop at a failure")
      ->capture_default_str();
  app.add_option("--jobs", a.jobs, "suites that run at the same time")->capture_default_str();
  app.add_option("--time-limit", a.time_limit, "seconds that a suite may take")->capture_default_str();
  app.add_option("--manifest", a.manifest, "list of suites in place of the built-in one");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kGreen : kUsage;
  }
  if (a.list) a.command = "list";
  if (const std::string error = check(a); !error.empty()) return refuse(error);
  const Manifest manifest =
      read_manifest(a.manifest.empty() ? runfile("tests/suites.tsv") : from_user(a.manifest).string());
  if (!manifest.error.empty()) return refuse(manifest.error);
  const Manifest selected = select_suites(manifest.suites, a.suites);
  if (!selected.error.empty()) return refuse(selected.error);
  if (!a.replay.empty() && selected.suites.size() != 1)
    return refuse("--case needs the one suite that it is from: --suite=");
  if (a.command == "list") {
    for (const Suite& s : selected.suites) fmt::print("{:<24} {}\n", s.family, s.label);
    return kGreen;
  }
  return a.repeat > 1 ? run_again_and_again(a, selected.suites) : run(a, selected.suites);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) { return lockstep::main(argc, argv); }
