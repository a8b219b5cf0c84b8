// Measures the simulator's speed: the same kernels on the simulated GPU, on PoCL (native code) and
// on Oclgrind (an OpenCL simulator), with two host threads each. The three are interleaved in one
// run, so that a machine whose speed drifts slows all of them. Every program checks what its
// kernels computed and reports no time for a wrong result.
//
//   bazel run -c opt //benchmarks:simulator -- --rounds=3 --json=FILE
//   bazel run -c opt //benchmarks:simulator -- --kernel=gather --kernel=flags
//
// Prints a table of times and one of ratios, with the goal beside each; exits 1 when a goal is
// missed. A third table has the ratio to PoCL's native time of these and further kernels, and the
// means. A fourth has the speed of the further kernels on one host thread, with and without checks.
// --kernel prints that one alone, for the kernels named. --pocl prints the third alone.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr const char* kInstall = "apt-get install ocl-icd-opencl-dev pocl-opencl-icd oclgrind";

struct Contender {
  std::string name;
  std::string command;               // a shell's
  std::vector<std::string> reports;  // what it prints a line of
};

const std::vector<std::string> kKernels = {"stencil", "matmul", "histogram"};

// The geometric mean over the kernels of seconds(numerator) / seconds(denominator).
struct RatioGoal {
  std::string text, numerator, denominator;
  double limit;
  bool at_least;
};

// One value of one contender, at most so large.
struct ValueGoal {
  std::string text, contender, report;
  double scale, limit;
};

// contender, report -> one value a round
using Values = std::map<std::string, std::map<std::string, std::vector<double>>>;

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

// Runs a contender once; report -> median. The first of several values is left out: it may have
// compiled. Empty when the command fails or a report is missing.
std::optional<std::map<std::string, double>> run(const Contender& c) {
  FILE* pipe = popen(c.command.c_str(), "r");
  if (!pipe) return std::nullopt;
  std::map<std::string, double> values;
  char line[65536];
  while (std::fgets(line, sizeof line, pipe)) {
    std::istringstream in(line);
    std::string report;
    in >> report;
    std::vector<double> all{std::istream_iterator<double>(in), {}};
    if (all.size() > 1) all.erase(all.begin());
    if (!all.empty()) values[report] = median(all);
  }
  if (pclose(pipe) != 0) return std::nullopt;
  for (const std::string& r : c.reports)
    if (!values.count(r)) return std::nullopt;
  return values;
}

// The kernels that are timed by themselves, by name, and what each does. `command` lists them.
std::vector<std::pair<std::string, std::string>> single_kernels(const std::string& command) {
  std::vector<std::pair<std::string, std::string>> kernels;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return kernels;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe)) {
    std::istringstream in(line);
    std::string name, what;
    in >> name >> std::ws;
    std::getline(in, what);
    kernels.emplace_back(name, what);
  }
  if (pclose(pipe) != 0) kernels.clear();
  return kernels;
}

// The programs launch a kernel again and again on the same memory, to be timed.
const std::string kExecutesAll = "LOCKSTEP_REPEATS=off ";

// Million warp instructions a second of processor time, on one host thread. False: a kernel failed.
bool time_single_kernels(const std::string& program,
                         const std::vector<std::pair<std::string, std::string>>& kernels,
                         int rounds, nlohmann::json& out) {
  fmt::print("{:<20}{:>14}{:>12}{:>12}{:>10}  what it does\n", "million warp instr/s",
             "instructions", "checks off", "on", "off / on");
  for (const auto& [name, what] : kernels) {
    double rates[2] = {}, instructions = 0;
    for (const bool checked : {false, true}) {
      std::vector<double> of_rounds;
      for (int r = 0; r < rounds; ++r) {
        const Contender c = {name,
                             kExecutesAll + "LOCKSTEP_HOST_THREADS=1 " +
                                 std::string(checked ? "" : "LOCKSTEP_CHECKS=none ") + program +
                                 " 4 " + name,
                             {name + ":processor", name + ":instructions"}};
        const auto found = run(c);
        if (!found) {
          fmt::print(stderr, "{} failed: {}\n", name, c.command);
          return false;
        }
        instructions = found->at(c.reports[1]);
        of_rounds.push_back(instructions / found->at(c.reports[0]) * 1e-6);
      }
      rates[checked] = median(of_rounds);
    }
    fmt::print("{:<20}{:>14.0f}{:>12.2f}{:>12.2f}{:>10.2f}  {}\n", name, instructions, rates[0],
               rates[1], rates[0] / rates[1], what);
    out["million_warp_instructions_a_second"][name] = {
        {"instructions", instructions}, {"unchecked", rates[0]}, {"checked", rates[1]}};
  }
  return true;
}

// Times as long as PoCL's native code takes, with two host threads: of the first kernels and of
// those that are timed by themselves.
class RatiosToPocl {
 public:
  RatiosToPocl(const std::string& cuda, const std::string& opencl) : cuda_(cuda), opencl_(opencl) {
    for (const auto& [name, what] : single_kernels(opencl + " Portable 1 list"))
      names_.push_back(name);
  }
  // Runs each kernel on each contestant once. False: one has failed.
  bool add_round() {
    for (const std::string& name : names_) {
      const std::vector<std::string> reports = {name, name + ":processor"};
      const Contender contenders[3] = {
          {name, "LOCKSTEP_CHECKS=none " + cuda_ + " 6 " + name, reports},
          {name, cuda_ + " 6 " + name, reports},
          {name, "POCL_MAX_PTHREAD_COUNT=2 " + opencl_ + " Portable 6 " + name, reports}};
      std::map<std::string, double> found[3];
      for (std::size_t i = 0; i < 3; ++i) {
        const auto values = run(contenders[i]);
        if (!values) {
          fmt::print(stderr, "{} failed: {}\n", name, contenders[i].command);
          return false;
        }
        found[i] = *values;
        milliseconds_[name][i].push_back(found[i].at(name) * 1e3);
      }
      // Checks off and on: on the wall, and of processor time.
      for (std::size_t k = 0; k < 4; ++k) {
        const std::string& report = reports[k / 2];
        ratios_[name][k].push_back(found[k % 2].at(report) / found[2].at(report));
      }
    }
    return true;
  }
  // A ratio is taken within a round, then the median over the rounds, then the geometric mean over
  // the kernels.
  void print(nlohmann::json& out) const {
    fmt::print("{:<20}{:>31}{:>21}{:>25}\n", "beside PoCL", "milliseconds on the wall",
               "ratio on the wall", "ratio of processor time");
    fmt::print("{:<20}{:>11}{:>10}{:>10}{:>11}{:>10}{:>15}{:>10}\n", "", "checks off", "on", "PoCL",
               "off", "on", "off", "on");
    Ratios first{}, all{}, most{};  // sums of logarithms; of the first kernels, and of all
    for (const std::string& name : names_) {
      Ratios ratio;
      for (std::size_t k = 0; k < ratio.size(); ++k) {
        ratio[k] = median(ratios_.at(name)[k]);
        all[k] += std::log(ratio[k]);
        if (std::find(kKernels.begin(), kKernels.end(), name) != kKernels.end())
          first[k] += std::log(ratio[k]);
        most[k] = std::max(most[k], ratio[k]);
      }
      const auto& ms = milliseconds_.at(name);
      print_row(fmt::format("{:<20}{:>11.3f}{:>10.3f}{:>10.3f}", name, median(ms[0]), median(ms[1]),
                            median(ms[2])),
                name, ratio, out);
    }
    for (double& r : first) r = std::exp(r / static_cast<double>(kKernels.size()));
    for (double& r : all) r = std::exp(r / static_cast<double>(names_.size()));
    print_row("geometric mean of the first three", "mean of the first three", first, out);
    print_row("geometric mean of all", "mean of all", all, out);
    print_row("most", "most", most, out);
  }

 private:
  using Ratios = std::array<double, 4>;
  static void print_row(const std::string& text, const std::string& key, const Ratios& r,
                        nlohmann::json& out) {
    fmt::print("{:<51}{:>11.2f}{:>10.2f}{:>15.2f}{:>10.2f}\n", text, r[0], r[1], r[2], r[3]);
    out["times_as_long_as_pocl"][key] = {{"unchecked", r[0]},
                                         {"checked", r[1]},
                                         {"unchecked_processor", r[2]},
                                         {"checked_processor", r[3]}};
  }

  std::string cuda_, opencl_;
  std::vector<std::string> names_ = kKernels;
  std::map<std::string, std::array<std::vector<double>, 3>> milliseconds_;
  std::map<std::string, std::array<std::vector<double>, 4>> ratios_;
};

// Writes `out`; 2 if that fails, otherwise `status`.
int finish(const std::string& json_file, const nlohmann::json& out, int status) {
  if (json_file.empty()) return status;
  std::ofstream file(json_file);
  file << out.dump(2) << "\n";
  if (file.flush()) return status;
  fmt::print(stderr, "cannot write {}\n", json_file);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Times the simulated GPU against PoCL and Oclgrind on the same kernels."};
  int rounds = 3;
  std::string json_file, folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  bool without_oclgrind = false, pocl_alone = false;
  app.add_option("--rounds", rounds, "how often every contender runs, in turn")
      ->check(CLI::Range(1, 100));
  app.add_option("--json", json_file, "write every measured value to this file");
  app.add_flag("--without-oclgrind", without_oclgrind,
               "leave out Oclgrind, which takes most of the time");
  app.add_flag("--pocl", pocl_alone, "print the ratios to PoCL's native time alone");
  std::vector<std::string> wanted;
  app.add_option("--kernel", wanted,
                 "time only these of the kernels that are timed by themselves (may be repeated)");
  CLI11_PARSE(app, argc, argv);

  const std::string cuda = kExecutesAll + "LOCKSTEP_HOST_THREADS=2 " + folder + "/cuda_kernels",
                    opencl = folder + "/opencl_kernels";
  auto singles = single_kernels(folder + "/cuda_kernels 1 list");
  RatiosToPocl ratios(cuda, opencl);
  if (pocl_alone) {
    nlohmann::json out = {{"rounds", rounds}};
    for (int r = 0; r < rounds; ++r)
      if (!ratios.add_round()) return 2;
    ratios.print(out);
    return finish(json_file, out, 0);
  }
  if (!wanted.empty()) {
    for (const std::string& name : wanted)
      if (std::none_of(singles.begin(), singles.end(),
                       [&](const auto& k) { return k.first == name; })) {
        fmt::print(stderr, "there is no kernel '{}'; there are:", name);
        for (const auto& k : singles) fmt::print(stderr, " {}", k.first);
        fmt::print(stderr, "\n");
        return 2;
      }
    std::erase_if(singles, [&](const auto& k) {
      return std::find(wanted.begin(), wanted.end(), k.first) == wanted.end();
    });
    nlohmann::json out = {{"rounds", rounds}};
    const bool ran = time_single_kernels(folder + "/cuda_kernels", singles, rounds, out);
    return finish(json_file, out, ran ? 0 : 2);
  }
  const std::string unchecked = "LOCKSTEP_CHECKS=none " + cuda,
                    oclgrind = "oclgrind --num-threads 2 ";
  std::vector<Contender> contenders = {
      {"simulator", unchecked + " 6", kKernels},
      {"simulator, checks", cuda + " 6", kKernels},
      {"PoCL", "POCL_MAX_PTHREAD_COUNT=2 " + opencl + " Portable 6", kKernels},
      {"simulator: launches", cuda + " 3 launch", {"launch"}},
      {"simulator: memory", unchecked + " 1 memory", {"memory"}},
      {"simulator, checks: memory", cuda + " 1 memory", {"memory"}},
  };
  if (!without_oclgrind) {
    contenders.push_back({"Oclgrind", oclgrind + opencl + " Oclgrind 1", kKernels});
    contenders.push_back(
        {"Oclgrind, checks",
         oclgrind + "--data-races --uninitialized " + opencl + " Oclgrind 1 2>/dev/null",
         kKernels});
  }
  const std::vector<RatioGoal> ratio_goals = {
      {"times as fast as Oclgrind, checks off", "Oclgrind", "simulator", 100, true},
      {"times as fast as Oclgrind, checks on", "Oclgrind, checks", "simulator, checks", 300, true},
      {"times PoCL's native time, checks off", "simulator", "PoCL", 6, false},
      {"times PoCL's native time, checks on", "simulator, checks", "PoCL", 12, false},
  };
  const std::vector<ValueGoal> value_goals = {
      {"bytes a byte of device memory, checks off", "simulator: memory", "memory", 1, 1.2},
      {"bytes a byte of device memory, checks on", "simulator, checks: memory", "memory", 1, 4},
      {"microseconds a launch among 10^4 tiny ones, checks on", "simulator: launches", "launch",
       1e6, 20},
  };

  Values values;
  for (int r = 0; r < rounds; ++r)
    for (const Contender& c : contenders) {
      fmt::print(stderr, "round {} of {}: {}\n", r + 1, rounds, c.name);
      const auto found = run(c);
      if (!found) {
        fmt::print(
            stderr,
            "{} failed: {}\nPoCL and Oclgrind are no part of the usual set-up. On Debian: {}\n",
            c.name, c.command, kInstall);
        return 2;
      }
      for (const std::string& report : c.reports)
        values[c.name][report].push_back(found->at(report));
    }

  fmt::print("{:<54}", "milliseconds");
  for (const std::string& k : kKernels) fmt::print("{:>11}", k);
  fmt::print("\n");
  for (const Contender& c : contenders) {
    if (c.reports != kKernels) continue;
    fmt::print("{:<54}", c.name);
    for (const std::string& k : kKernels) fmt::print("{:>11.3f}", median(values[c.name][k]) * 1e3);
    fmt::print("\n");
  }

  // A ratio is taken within a round, then the median over the rounds, then the geometric mean over
  // the kernels.
  nlohmann::json out = {{"rounds", rounds}, {"values", values}};
  bool all_met = true;
  const auto judge = [&](const std::string& text, double value, double limit, bool at_least) {
    const bool met = at_least ? value >= limit : value <= limit;
    all_met &= met;
    fmt::print("{:>11.2f}  {} {}: {}\n", value, at_least ? "at least" : "at most", limit,
               met ? "met" : "MISSED");
    out["goals"][text] = {{"value", value}, {"limit", limit}, {"met", met}};
  };
  fmt::print("\n{:<54}", "ratio");
  for (const std::string& k : kKernels) fmt::print("{:>11}", k);
  fmt::print("{:>11}  goal\n", "geo. mean");
  for (const RatioGoal& g : ratio_goals) {
    if (!values.count(g.numerator) || !values.count(g.denominator)) continue;
    fmt::print("{:<54}", g.text);
    double log_sum = 0;
    for (const std::string& k : kKernels) {
      std::vector<double> ratios;
      for (int r = 0; r < rounds; ++r)
        ratios.push_back(values[g.numerator][k][r] / values[g.denominator][k][r]);
      fmt::print("{:>11.2f}", median(ratios));
      log_sum += std::log(median(ratios));
    }
    judge(g.text, std::exp(log_sum / static_cast<double>(kKernels.size())), g.limit, g.at_least);
  }
  for (const ValueGoal& g : value_goals) {
    fmt::print("{:<87}", g.text);
    judge(g.text, median(values[g.contender][g.report]) * g.scale, g.limit, false);
  }
  fmt::print("\n");
  for (int r = 0; r < rounds; ++r)
    if (!ratios.add_round()) return 2;
  ratios.print(out);
  fmt::print("\n");
  if (singles.empty() || !time_single_kernels(folder + "/cuda_kernels", singles, rounds, out))
    return 2;
  return finish(json_file, out, all_met ? 0 : 1);
}
