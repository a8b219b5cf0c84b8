// conform: runs each conformance suite in a process of its own, and writes a table, a passport and
// JUnit XML.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "command/command_line.h"
#include "command/nearest.h"
#include "command/save_file.h"
#include "harness/conform/choice.h"
#include "harness/conform/progress.h"
#include "harness/conform/repeat.h"
#include "harness/conform/results.h"
#include "harness/conform/run_lock.h"
#include "harness/conform/sanitizer.h"
#include "harness/conform/stop.h"
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
#include "harness/report/run_report.h"
#include "harness/report/sentence.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int kGreen = 0, kRed = 1, kUsage = 2, kNoDevice = 5, kNoSanitizer = 6;

constexpr double kMinScale = 1e-6, kMaxScale = 1e6, kQuick = 0.1;

// Leaves room to increment the seed once a run.
constexpr std::uint64_t kMaxRandomSeed = 1'000'000'000'000'000'000;

using Arguments = command::RunArguments;

int refuse(const std::string& sentence) {
  fmt::print(stderr, "lockstep: {}\n", sentence);
  return kUsage;
}

// Returns an empty text, or a sentence with the error.
std::string check(const Arguments& a) {
  if (!a.target.empty()) return "--target is of `lockstep run`; this program has its suites";
  if (!a.cases.empty() && !parse_number(a.cases, 1, 1'000'000'000))
    return fmt::format("--cases={} is not an integer from 1 to 1000000000", a.cases);
  if (!a.seed.empty() && !parse_number(a.seed, 1, UINT64_MAX))
    return fmt::format("--seed={} is not an integer from 1 to 2^64-1", a.seed);
  if (!a.random_seed.empty() && !parse_number(a.random_seed, 2, kMaxRandomSeed))
    return fmt::format("--random-seed={} is not an integer from 2 to {}", a.random_seed,
                       kMaxRandomSeed);
  if (!a.seed.empty() && (a.repeat > 1 || !a.random_seed.empty()))
    return "--seed gives every property one seed, --repeat and --random-seed give each its own: "
           "choose";
  if (a.repeat > 1 && !a.replay.empty())
    return "--repeat with --case would run the same case again";
  if (a.repeat < 1 || a.repeat > 1'000'000)
    return fmt::format("--repeat={} is not from 1 to 1000000", a.repeat);
  if (a.jobs && (*a.jobs < 1 || *a.jobs > 1024))
    return fmt::format("--jobs={} is not from 1 to 1024", *a.jobs);
  if (!(a.time_limit > 0)) return "--time-limit needs a number of seconds above 0";
  if (!(a.property_limit > 0)) return "--property-limit needs a number of seconds above 0";
  if (!(a.scale >= kMinScale && a.scale <= kMaxScale))
    return fmt::format("--scale={:g} is not from {:g} to {:g}", a.scale, kMinScale, kMaxScale);
  if (!a.cases.empty() && (a.quick || a.scale != 1))
    return "--cases gives every property one number, --quick and --scale change its own: choose";
  if (a.quick && a.scale != 1) return "--quick is --scale=0.1: choose";
  if (!a.replay.empty() && (!a.pattern.empty() || a.last_failed))
    return "--case names one property, -k and --lf choose several: choose";
  if (a.repeat > 1 && (a.stop || a.last_failed))
    return "--repeat stops at the first failure, and runs what is named: without -x and --lf";
  if (a.pattern.find_first_of(":-") != std::string::npos)
    return fmt::format("-k {}: no property has ':' or '-' in its name", a.pattern);
  CaseName name;
  std::string error;
  if (!a.replay.empty() && !parse_case_name(a.replay, name, error)) return "--case: " + error;
  return "";
}

// Resolves a path of the user. `bazel run` starts programs in their runfiles, but a user's path is
// relative to the user's folder.
fs::path from_user(const std::string& path) {
  const std::string folder = environment("BUILD_WORKING_DIRECTORY");
  return fs::absolute(folder.empty() ? fs::path(path) : fs::path(folder) / path);
}

// The folder for results. A replay of one case has its own folder, so that it does not overwrite
// the report that the user is reading.
fs::path folder_of(const Arguments& a) {
  if (!a.out.empty()) return from_user(a.out);
  const std::string usual = environment("LOCKSTEP_OUT");
  const fs::path out = from_user(usual.empty() ? "lockstep-out" : usual);
  return a.replay.empty() ? out : out / "replay";
}

std::string self() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

// The command that a replay line begins with, up to the suite.
std::string replay_command(const Arguments& a) {
  const std::string entry =
      environment("LOCKSTEP_COMMAND");  // the name by which the user's script calls this program
  const std::string command = !entry.empty() ? entry
                              : !environment("BUILD_WORKSPACE_DIRECTORY").empty()
                                  ? "bazel run //:conform --"
                                  : shell_quoted(self());
  // The script of a Bazel rule passes the manifest itself.
  return a.manifest.empty() || !environment("LOCKSTEP_WORKSPACE").empty()
             ? command
             : command + " --manifest=" + shell_quoted(from_user(a.manifest).string());
}

double scale_of(const Arguments& a) { return a.quick ? kQuick : a.scale; }

// The number of suites that run at the same time: one per processor; on a GPU, which they would
// share, one.
int jobs_of(const Arguments& a, const Target& target) {
  return a.jobs           ? *a.jobs
         : target.silicon ? 1
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

SuiteOptions suite_options(const Arguments& a, const Target& target) {
  SuiteOptions o = {.cases = a.cases,
                    .seed = a.seed,
                    .replay = a.replay,
                    .target = target,
                    .replay_command = replay_command(a),
                    .scale = scale_of(a),
                    .fail_fast = a.stop,
                    .time_limit = a.time_limit,
                    .property_limit = a.property_limit};
  if (!a.sanitizer.empty()) o.prefix = find_sanitizer(a.sanitizer).prefix();
  o.random_seed = parse_number(a.random_seed, 2, kMaxRandomSeed).value_or(0);
  // Suites that run at the same time share the machine's cores.
  if (const int jobs = jobs_of(a, target); jobs > 1 && environment("LOCKSTEP_HOST_THREADS").empty())
    o.host_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / jobs);
  return o;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// The report without its suites.
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
  if (!a.pattern.empty()) report.options["pattern"] = a.pattern;
  if (scale_of(a) != 1) report.options["scale"] = fmt::format("{:g}", scale_of(a));
  if (const std::string work = environment("LOCKSTEP_WORK"); !work.empty() && work != "0")
    report.options["work"] = work;
  if (a.last_failed) report.options["last_failed"] = "true";
  for (const std::string& s : a.suites)
    report.options["suites"] += (report.options["suites"].empty() ? "" : ",") + s;
  return report;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Runs all suites on one target. Results are in the order of the suites, whichever ends first.
void run_on(const Target& target, const Arguments& a, const std::vector<Suite>& suites,
            const fs::path& out, Progress& progress, RunReport& report) {
  const SuiteOptions options = suite_options(a, target);
  if (target.silicon) {
    report.driver_version = driver().version;
    report.driver_module = driver().module_version;
  }
  const auto start = std::chrono::steady_clock::now();
  report.suites.resize(suites.size());
  const auto one = [&](std::size_t i) {
    const Suite& suite = suites[i];
    report.suites[i] = run_suite(suite, options, out,
                                 [&](const SuiteProgress& p) { progress.tick(target, suite, p); });
    progress.end(target, i + 1, report.suites[i]);
    if (a.stop && !report.suites[i].green()) stop_at_failure();
    return stop_reason().empty();
  };
  // Suites that measure are last in the manifest, and run alone on the GPU.
  const auto measuring =
      std::find_if(suites.begin(), suites.end(), [](const Suite& s) { return s.silicon; });
  const auto before = static_cast<std::size_t>(measuring - suites.begin());
  Passport earlier;
  if (std::string none; !read_passport((out / "earlier.json").string(), earlier, none))
    earlier = {};
  const std::vector<std::size_t> order = longest_first({suites.begin(), measuring}, earlier);
  run_tasks(jobs_of(a, target), before, [&](std::size_t i) { return one(order[i]); });
  if (stop_reason().empty())
    run_tasks(1, suites.size() - before, [&](std::size_t i) { return one(before + i); });
  report.seconds = seconds_since(start);
  report.partial = stop_reason();
  // Suites that never began have no name.
  std::size_t i = 0;
  std::erase_if(report.suites, [&](const SuiteResult& r) {
    const std::string& family = suites[i++].family;
    if (r.suite.family.empty()) report.not_begun.push_back(family);
    return r.suite.family.empty();
  });
}

// Prints and saves the results of a run on one target. True if all are green.
bool conclude(const RunReport& report, const fs::path& out) {
  const Paint paint = paint_of_stdout();
  const std::vector<std::string> problems = report.problems();
  fmt::print("{}\n{}\n", failures(report.suites, paint), table(report.suites));
  const std::string unsaved = save_results(report, out);
  if (!unsaved.empty()) {
    fmt::print("{}\n", paint.bad("NOT GREEN: the results are not saved: " + unsaved));
    return false;
  }
  fmt::print("passport: {}\nreport:   {}\n", (out / "passport.json").string(),
             (out / "report.html").string());
  if (!report.partial.empty()) {
    fmt::print("The run was {}: what is there is partial{}.\n", report.partial,
               report.not_begun.empty()
                   ? ""
                   : fmt::format(", without {}", fmt::join(report.not_begun, ", ")));
  }
  if (!problems.empty()) {
    fmt::print("{}\n", paint.bad(fmt::format("NOT GREEN: {} problem{}.", problems.size(),
                                             problems.size() == 1 ? "" : "s")));
  } else if (!report.options.contains("case")) {
    fmt::print("{}\n", paint.good("Every ledger closes and all is green."));
  } else {
    fmt::print("{}\n", paint.good("The case is green."));
  }
  return problems.empty();
}

// Whether the sanitizer works on every target; if not, prints why.
bool sanitizer_lives(const Arguments& a, const std::vector<Target>& targets) {
  const Sanitizer sanitizer = find_sanitizer(a.sanitizer);
  std::string why = sanitizer.error;
  for (const Target& t : targets) {
    if (!why.empty()) break;
    Command base = command_on(t);
    base.output = (folder_of(a) / "logs" / ("sanitizer-" + t.device + ".log")).string();
    if (!t.silicon) {
      why = "--sanitizer needs a GPU; the simulated GPU has checks of its own, all on";
    } else if (why = make_run_folder(folder_of(a)); why.empty()) {
      why = proof_of_life(sanitizer, runfile("harness/conform/sanitizer_probe"), base,
                          [](const Command& c) { return run_process(c); });
    }
  }
  if (why.empty()) {
    fmt::print(
        "{} --tool {} found the fault planted for it, and did not accuse its negative control\n",
        sanitizer.program, sanitizer.tool);
  } else {
    refuse(why);
  }
  return why.empty();
}

// Runs several targets at the same time, each with its own report and folder.
int run(const Arguments& a, const std::vector<Suite>& suites, const std::vector<Target>& targets) {
  const auto folder = [&, out = folder_of(a)](const Target& t) {
    return targets.size() == 1 ? out : out / ("gpu-" + t.device);
  };
  stop_on_signals();
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
  return stop_status() != 0 ? stop_status() : green ? kGreen : kRed;
}

int run_again_and_again(const Arguments& a, const std::vector<Suite>& suites,
                        const Target& target) {
  const fs::path out = folder_of(a);
  if (const std::string error = make_run_folder(out); !error.empty()) return refuse(error);
  stop_on_signals();
  SuiteOptions options = suite_options(a, target);
  if (options.random_seed == 0) {
    std::random_device entropy;
    options.random_seed = 2 + (std::uint64_t{entropy()} << 20 | entropy() >> 12);
  }
  fmt::print("{} runs, random seeds from {}\n", a.repeat, options.random_seed);
  const auto start = std::chrono::steady_clock::now();
  const RepeatedRuns runs = repeat_suites(
      suites, options, a.repeat, jobs_of(a, target), out, [&](int run, const Tally& tally) {
        fmt::print("[{}/{}] green: {} properties, {} cases, --random-seed={}\n", run, a.repeat,
                   tally.planned, tally.cases, options.random_seed + run - 1);
        std::fflush(stdout);
      });
  if (!runs.error.empty()) return refuse(runs.error);
  Tally sum;
  for (const SuiteSum& s : runs.sums) add(sum, s.tally);
  fmt::print("{}\n{}\n{} of {} runs green, {} cases, {:.0f} s\n{}\n",
             failures(runs.red, paint_of_stdout()), table(runs.sums), runs.green, runs.planned,
             sum.cases, seconds_since(start),
             runs.all_green()     ? "Every ledger closes and all is green."
             : stop_status() != 0 ? "NOT GREEN: " + stop_reason() + "."
                                  : "NOT GREEN: stopped at the first failure.");
  return stop_status() != 0 ? stop_status() : runs.all_green() ? kGreen : kRed;
}

// The suites that -k and --lf select, with filters. `out` is the folder of the last run.
Manifest chosen_suites(const Arguments& a, const std::vector<Suite>& suites, const Target& target,
                       const fs::path& out) {
  if (a.pattern.empty() && !a.last_failed) return {suites, ""};
  LastFailed last;
  if (a.last_failed) {
    Passport passport;
    if (std::string error; !read_passport(out.string(), passport, error))
      return {{}, fmt::format("--lf needs the passport of an earlier run: {}", error)};
    last = last_failed(passport);
    if (last.none()) {
      fmt::print("Nothing failed in the last run, of {}: everything runs.\n", passport.created);
      if (a.pattern.empty()) return {suites, ""};
    }
  }
  const std::string why = a.last_failed && !last.none()
                              ? fmt::format("of what failed last{} there is",
                                            a.pattern.empty() ? "" : " -k " + a.pattern + " takes")
                              : fmt::format("-k {} takes", a.pattern);
  return choose_properties(suites, target, why,
                           [&](const Suite& suite, const std::string& property) {
                             return (last.none() || last.properties.contains(property) ||
                                     last.suites.contains(suite.family)) &&
                                    (a.pattern.empty() || has_pattern(property, a.pattern));
                           });
}

// Returns an empty text, or a sentence if the suite has no such property as --case names.
std::string wrong_case(const Arguments& a, const Suite& suite, const Target& target) {
  CaseName name;
  std::string none;
  if (a.replay.empty() || !parse_case_name(a.replay, name, none)) return "";
  const SuiteProperties properties = properties_of(suite, target);
  if (!properties.error.empty()) return properties.error;
  if (std::ranges::find(properties.names, name.property) != properties.names.end()) return "";
  return fmt::format("--case: {} has no property {}{}", suite.family, name.property,
                     command::did_you_mean(command::nearest(name.property, properties.names)));
}

int list(const Arguments& a, const std::vector<Suite>& suites) {
  const Target simulator = choose_targets("simulator", {}).targets.front();
  bool whole = true;
  std::size_t count = 0;
  for (const Suite& s : suites) {
    const SuiteProperties properties =
        a.names_only ? SuiteProperties{} : properties_of(s, simulator);
    std::vector<std::string> shown;
    for (const std::string& name : properties.names) {
      if (a.pattern.empty() || has_pattern(name, a.pattern)) shown.push_back(name);
    }
    count += shown.size();
    if (!a.pattern.empty() && shown.empty() && properties.error.empty()) continue;
    fmt::print("{:<24} {}\n", s.family, s.label);
    for (const std::string& name : shown) fmt::print("  {:<58} {}\n", name, sentence_of(name));
    if (properties.error.empty()) continue;
    fmt::print(stderr, "lockstep: {}\n", properties.error);
    whole = false;
  }
  if (!a.pattern.empty() && count == 0 && whole)
    return refuse(fmt::format("no property has {} in its name", a.pattern));
  return whole ? kGreen : kRed;
}

int main(std::vector<std::string> words) {
  // `run` is the default command: `bazel run //:conform -- --suite=stencil`.
  if (words.empty() || (words.front().starts_with("-") && words.front() != "--help" &&
                        words.front() != "-h" && words.front() != "--version"))
    words.insert(words.begin(), "run");
  const command::CommandLine line = command::parse(
      {.commands = {command::Command::kRun, command::Command::kList}, .reads_config = false},
      words);
  if (line.status) return *line.status;
  const Arguments& a = line.run;
  if (const std::string error = check(a); !error.empty()) return refuse(error);
  const Manifest manifest = read_manifest(a.manifest.empty() ? runfile("tests/suites.tsv")
                                                             : from_user(a.manifest).string());
  if (!manifest.error.empty()) return refuse(manifest.error);
  const Manifest selected = select_suites(manifest.suites, a.suites);
  if (!selected.error.empty()) return refuse(selected.error);
  if (line.command == command::Command::kList) return list(a, selected.suites);
  if (!a.replay.empty() && selected.suites.size() != 1)
    return refuse("--case needs the one suite that it is from: --suite=");
  const Targets chosen = choose_targets(a.device);
  if (!chosen.error.empty()) {
    refuse(chosen.error);
    return chosen.absent ? kNoDevice : kUsage;
  }
  // Times under a sanitizer are meaningless.
  const bool timing = chosen.targets.front().silicon && a.sanitizer.empty();
  const Manifest possible = suites_for(timing, selected.suites, a.suites);
  if (!possible.error.empty()) return refuse(possible.error);
  if (a.repeat > 1 && chosen.targets.size() > 1) return refuse("--repeat runs on one device");
  RunLock lock;
  if (const std::string error = lock.take(folder_of(a)); !error.empty()) return refuse(error);
  if (const std::string error = wrong_case(a, selected.suites.front(), chosen.targets.front());
      !error.empty())
    return refuse(error);
  const Manifest wanted = chosen_suites(a, possible.suites, chosen.targets.front(), folder_of(a));
  if (!wanted.error.empty()) return refuse(wanted.error);
  if (!a.sanitizer.empty() && !sanitizer_lives(a, chosen.targets)) return kNoSanitizer;
  if (a.repeat == 1) return run(a, wanted.suites, chosen.targets);
  return run_again_and_again(a, wanted.suites, chosen.targets.front());
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  int status = lockstep::kRed;
  std::string error;
  try {
    status = lockstep::main({argv + 1, argv + argc});
    error = lockstep::command::flush_stdout();
  } catch (const std::system_error& unprinted) {  // thrown by fmt::print
    error = unprinted.what();
  }
  if (error.empty()) return status;
  std::fprintf(stderr, "lockstep: %s\n", error.c_str());
  return status == lockstep::kGreen ? lockstep::kRed : status;
}
