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
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/conform/repeat.h"
#include "harness/conform/sanitizer.h"
#include "harness/conform/subprocess.h"
#include "harness/conform/suite_result.h"
#include "harness/conform/suite_run.h"
#include "harness/conform/suites.h"
#include "harness/conform/target.h"
#include "harness/conform/thread_pool.h"
#include "harness/ledger/options.h"
#include "harness/ledger/runfiles.h"
#include "harness/property/replay.h"
#include "harness/report/passport_file.h"
#include "harness/report/report_html.h"
#include "harness/report/run_report.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int kGreen = 0, kRed = 1, kUsage = 2, kNoDevice = 5, kNoSanitizer = 6;

// Leaves room to count up from, one a run.
constexpr std::uint64_t kMaxRandomSeed = 1'000'000'000'000'000'000;

struct Arguments {
  std::string command = "run";
  bool list = false;
  std::vector<std::string> suites;
  std::string cases, seed, random_seed, device, replay, sanitizer, manifest, out = "lockstep-out";
  int jobs = 1, repeat = 1;
  double time_limit = 900, property_limit = 300;
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
  if (!a.random_seed.empty() && !parse_number(a.random_seed, 2, kMaxRandomSeed))
    return fmt::format("--random-seed={} is not an integer from 2 to {}", a.random_seed, kMaxRandomSeed);
  if (!a.seed.empty() && (a.repeat > 1 || !a.random_seed.empty()))
    return "--seed gives every property one seed, --repeat and --random-seed give each its own: choose";
  if (a.repeat > 1 && !a.replay.empty()) return "--repeat with --case would run the same case again";
  if (a.repeat < 1 || a.repeat > 1'000'000) return fmt::format("--repeat={} is not from 1 to 1000000", a.repeat);
  if (a.jobs < 1 || a.jobs > 1024) return fmt::format("--jobs={} is not from 1 to 1024", a.jobs);
  if (!(a.time_limit > 0)) return "--time-limit needs a number of seconds above 0";
  if (!(a.property_limit > 0)) return "--property-limit needs a number of seconds above 0";
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
std::string replay_command(const Arguments& a) {
  const std::string entry = environment("LOCKSTEP_COMMAND");  // the entry script's own name for this program
  const std::string command = !entry.empty()                                      ? entry
                              : !environment("BUILD_WORKSPACE_DIRECTORY").empty() ? "bazel run //:conform --"
                                                                                  : shell_quoted(self());
  // A rule's entry script names the list itself.
  return a.manifest.empty() || !environment("LOCKSTEP_WORKSPACE").empty()
             ? command
             : command + " --manifest=" + shell_quoted(from_user(a.manifest).string());
}

SuiteOptions suite_options(const Arguments& a, const Target& target) {
  SuiteOptions o = {.cases = a.cases,
                    .seed = a.seed,
                    .replay = a.replay,
                    .target = target,
                    .replay_command = replay_command(a),
                    .time_limit = a.time_limit,
                    .property_limit = a.property_limit};
  if (!a.sanitizer.empty()) o.prefix = find_sanitizer(a.sanitizer).prefix();
  o.random_seed = parse_number(a.random_seed, 2, kMaxRandomSeed).value_or(0);
  // Suites that run at the same time share the machine's cores.
  if (a.jobs > 1 && environment("LOCKSTEP_HOST_THREADS").empty())
    o.host_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / a.jobs);
  return o;
}

// What is printed while suites run: a line when one ends and, on a terminal, one that follows those that run.
class Progress {
 public:
  Progress(std::size_t suites, bool several_targets)
      : suites_(suites), several_(several_targets), live_(isatty(STDOUT_FILENO) != 0) {}

  void tick(const Target& target, const Suite& suite, const SuiteProgress& p) {
    if (!live_) return;
    const std::lock_guard lock(mutex_);
    const std::string what =
        p.planned == 0 ? "starting" : fmt::format("{} of {} properties  {}", p.done, p.planned, p.running);
    running_[label(target, suite)] = fmt::format("{}  {:.0f} s  {}", label(target, suite), p.seconds, what);
    std::string all;
    for (const auto& [name, text] : running_) all += (all.empty() ? "" : " | ") + text;
    fmt::print("\r\x1b[K{:.120}", all);
    std::fflush(stdout);
  }

  // Of the suite with that number, from 1.
  void end(const Target& target, std::size_t number, const SuiteResult& r) {
    const std::lock_guard lock(mutex_);
    running_.erase(label(target, r.suite));
    const Tally t = r.ledger.tally();
    fmt::print("{}[{}/{}] {}: {}, {} of {} properties passed, {} cases, {:.1f} s\n", live_ ? "\r\x1b[K" : "", number,
               suites_, label(target, r.suite), r.green() ? "green" : "RED", t.passed, t.planned, t.cases,
               r.end.seconds);
    std::fflush(stdout);
  }

 private:
  std::string label(const Target& target, const Suite& suite) const {
    return several_ ? fmt::format("GPU {} {}", target.device, suite.family) : suite.family;
  }

  std::size_t suites_;
  bool several_, live_;
  std::mutex mutex_;
  std::map<std::string, std::string> running_;
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
  if (constexpr std::string_view kModified = "-modified"; report.commit.ends_with(kModified)) {
    report.commit.resize(report.commit.size() - kModified.size());
    report.modified = true;
  }
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
  if (!a.sanitizer.empty()) report.options["sanitizer"] = a.sanitizer;
  if (!a.replay.empty()) report.options["case"] = a.replay;
  for (const std::string& s : a.suites) report.options["suites"] += (report.options["suites"].empty() ? "" : ",") + s;
  return report;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The page is made from the passport as it was written, as it would be from one of another machine.
bool save_page(const std::string& passport_text, const fs::path& out) {
  Passport passport;
  ReportAssets assets;
  std::string error;
  if (!parse_passport(passport_text, passport, error) || !(error = read_assets(assets)).empty()) {
    fmt::print(stderr, "conform: no report.html: {}\n", error);
    return false;
  }
  return save(out / "report.html", report_html(passport, read_pictures(out.string()), assets));
}

bool save_report(const RunReport& report, const fs::path& out) {
  const std::string passport = passport_json(report);
  return save(out / "passport.json", passport) && save(out / "junit.xml", junit_xml(report)) &&
         save_page(passport, out);
}

// All suites on one target; results in the order of the suites, whichever end first.
void run_on(const Target& target, const Arguments& a, const std::vector<Suite>& suites, const fs::path& out,
            Progress& progress, RunReport& report) {
  const SuiteOptions options = suite_options(a, target);
  if (target.silicon) {
    report.driver_version = driver().version;
    report.driver_module = driver().module_version;
  }
  const auto start = std::chrono::steady_clock::now();
  report.suites.resize(suites.size());
  const auto one = [&](std::size_t i) {
    const Suite& suite = suites[i];
    report.suites[i] = run_suite(suite, options, out, [&](const SuiteProgress& p) { progress.tick(target, suite, p); });
    progress.end(target, i + 1, report.suites[i]);
    return true;
  };
  // Those that measure are last in the manifest, and have the GPU to themselves.
  const auto measuring = std::find_if(suites.begin(), suites.end(), [](const Suite& s) { return s.silicon; });
  const auto before = static_cast<std::size_t>(measuring - suites.begin());
  run_tasks(a.jobs, before, one);
  run_tasks(1, suites.size() - before, [&](std::size_t i) { return one(before + i); });
  report.seconds = seconds_since(start);
}

// Prints and saves what a run on one target left; whether all of it is green.
bool conclude(const RunReport& report, const fs::path& out) {
  const std::vector<std::string> problems = report.problems();
  fmt::print("{}\n{}\n", failures(report.suites), table(report.suites));
  const bool saved = save_report(report, out);
  fmt::print("passport: {}\nreport:   {}\n{}\n", (out / "passport.json").string(), (out / "report.html").string(),
             problems.empty()
                 ? "Every ledger closes and all is green."
                 : fmt::format("NOT GREEN: {} problem{}.", problems.size(), problems.size() == 1 ? "" : "s"));
  return problems.empty() && saved;
}

// Whether the sanitizer can be believed on every target; says so if not.
bool sanitizer_lives(const Arguments& a, const std::vector<Target>& targets) {
  const Sanitizer sanitizer = find_sanitizer(a.sanitizer);
  std::string why = sanitizer.error;
  for (const Target& t : targets) {
    if (!why.empty()) break;
    Command base = command_on(t);
    base.output = (from_user(a.out) / "logs" / ("sanitizer-" + t.device + ".log")).string();
    if (!t.silicon) {
      why = "--sanitizer needs a GPU; the simulated GPU has checks of its own, all on";
    } else if (why = make_run_folder(from_user(a.out)); why.empty()) {
      why = proof_of_life(sanitizer, runfile("harness/conform/sanitizer_probe"), base,
                          [](const Command& c) { return run_process(c); });
    }
  }
  if (why.empty()) {
    fmt::print("{} --tool {} found the fault planted for it, and did not accuse its negative control\n",
               sanitizer.program, sanitizer.tool);
  } else {
    refuse(why);
  }
  return why.empty();
}

// Several targets run at the same time, each with a report and a folder of its own.
int run(const Arguments& a, const std::vector<Suite>& suites, const std::vector<Target>& targets) {
  const auto folder = [&, out = from_user(a.out)](const Target& t) {
    return targets.size() == 1 ? out : out / ("gpu-" + t.device);
  };
  for (const Target& t : targets) {
    if (const std::string error = make_run_folder(folder(t)); !error.empty()) return refuse(error);
    if (t.silicon) fmt::print("{}\n", t.name);
  }
  std::vector<RunReport> reports(targets.size(), report_of(a, folder(targets.front())));
  Progress progress(suites.size(), targets.size() > 1);
  run_tasks(static_cast<int>(targets.size()), targets.size(), [&](std::size_t i) {
    run_on(targets[i], a, suites, folder(targets[i]), progress, reports[i]);
    return true;
  });
  bool green = true;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets.size() > 1) fmt::print("\n{}\n", targets[i].name);
    green = conclude(reports[i], folder(targets[i])) && green;
  }
  return green ? kGreen : kRed;
}

int run_again_and_again(const Arguments& a, const std::vector<Suite>& suites, const Target& target) {
  const fs::path out = from_user(a.out);
  if (const std::string error = make_run_folder(out); !error.empty()) return refuse(error);
  SuiteOptions options = suite_options(a, target);
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
      "wrong usage, 5 the GPU that was asked for is not there, 6 the sanitizer that was asked for is not there or "
      "blind.",
      "conform");
  app.add_option("command", a.command, "run (the default), or list the suites");
  app.add_flag("--list", a.list, "list the suites");
  app.add_option("--suite", a.suites, "a suite, or several between commas; may be repeated; all without it");
  app.add_option("--cases", a.cases, "cases of each property, in place of its own number");
  app.add_option("--seed", a.seed, "seed of each property, in place of one from its name");
  app.add_option("--out", a.out, "folder for passport.json, junit.xml, ledgers and logs")->capture_default_str();
  app.add_option(
      "--device", a.device,
      "simulator (the default), sm_NN (the simulated GPU as that one), gpu (the first GPU), all, or the numbers of "
      "GPUs such as 0 or 0,1");
  app.add_option("--case", a.replay,
                 "run this case alone, 'Suite.Name: field=value ...', of the one suite that --suite names");
  app.add_option("--random-seed", a.random_seed, "mixed with each property's name into a seed of its own");
  app.add_option("--repeat", a.repeat,
                 "run everything that often, each time with other random seeds; stop at a failure")
      ->capture_default_str();
  app.add_option("--jobs", a.jobs,
                 "suites that run at the same time (default: as many as processors on the simulated GPU, 1 on a GPU)");
  app.add_option("--time-limit", a.time_limit, "seconds that a suite's process may take")->capture_default_str();
  app.add_option(
      "--sanitizer", a.sanitizer,
      "run the suites under this tool of compute-sanitizer: memcheck, racecheck, initcheck or synccheck; a planted "
      "fault must be found first");
  app.add_option("--property-limit", a.property_limit, "seconds that one property may take")->capture_default_str();
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
  const Targets chosen = choose_targets(a.device);
  if (!chosen.error.empty()) {
    refuse(chosen.error);
    return chosen.absent ? kNoDevice : kUsage;
  }
  // How fast something is under a sanitizer is not worth knowing.
  const bool timing = chosen.targets.front().silicon && a.sanitizer.empty();
  const Manifest wanted = suites_for(timing, selected.suites, a.suites);
  if (!wanted.error.empty()) return refuse(wanted.error);
  if (app.count("--jobs") == 0 && !chosen.targets.front().silicon)
    a.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (!a.sanitizer.empty() && !sanitizer_lives(a, chosen.targets)) return kNoSanitizer;
  if (a.repeat == 1) return run(a, wanted.suites, chosen.targets);
  if (chosen.targets.size() > 1) return refuse("--repeat runs on one device");
  return run_again_and_again(a, wanted.suites, chosen.targets.front());
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) { return lockstep::main(argc, argv); }
