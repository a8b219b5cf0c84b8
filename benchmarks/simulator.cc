// What the simulator's speed claims rest on: the same kernels on the simulated GPU, on PoCL (native code) and on
// Oclgrind (an OpenCL simulator), interleaved in one run, so that a machine whose speed drifts slows all of them.
//
//   bazel run -c opt //benchmarks:simulator -- --rounds=3 --json=FILE
//
// Prints a table of seconds and of ratios, with the goal beside each geometric mean; exits 1 when a goal is missed.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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
#include <vector>

namespace {

struct Contender {
  std::string name;
  std::string command;  // shell command; %n is the number of launches
  int launches;         // the first is not counted when there are several: it may compile
};

const std::vector<std::string> kKernels = {"stencil", "matmul", "histogram"};

struct Goal {
  std::string text;
  std::string numerator, denominator;  // geometric mean of seconds(numerator) / seconds(denominator)
  double limit;
  bool at_least;
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

// Runs a contender once; kernel -> median seconds a launch. Empty when the command fails.
std::optional<std::map<std::string, double>> run(const Contender& c) {
  std::string command = c.command;
  command.replace(command.find("%n"), 2, std::to_string(c.launches));
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return std::nullopt;
  std::map<std::string, double> seconds;
  char line[65536];
  while (std::fgets(line, sizeof line, pipe)) {
    std::istringstream in(line);
    std::string kernel;
    in >> kernel;
    std::vector<double> all{std::istream_iterator<double>(in), {}};
    if (all.size() > 1) all.erase(all.begin());
    if (!all.empty()) seconds[kernel] = median(all);
  }
  if (pclose(pipe) != 0) return std::nullopt;
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Times the simulated GPU against PoCL and Oclgrind on the same kernels."};
  int rounds = 3;
  std::string json_file, folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  bool without_oclgrind = false;
  app.add_option("--rounds", rounds, "how often every contender runs, in turn")->check(CLI::Range(1, 100));
  app.add_option("--json", json_file, "write every measured time to this file");
  app.add_flag("--without-oclgrind", without_oclgrind, "leave out Oclgrind, which takes most of the time");
  CLI11_PARSE(app, argc, argv);

  const std::string cuda = folder + "/cuda_kernels %n", opencl = folder + "/opencl_kernels";
  std::vector<Contender> contenders = {
      {"simulator", "LOCKSTEP_CHECKS=none " + cuda, 6},
      {"simulator, checks", cuda, 6},
      {"PoCL", opencl + " Portable %n", 6},
  };
  if (!without_oclgrind) {
    contenders.push_back({"Oclgrind", "oclgrind " + opencl + " Oclgrind %n", 1});
    contenders.push_back(
        {"Oclgrind, checks", "oclgrind --data-races --uninitialized " + opencl + " Oclgrind %n 2>/dev/null", 1});
  }
  const std::vector<Goal> goals = {
      {"times as fast as Oclgrind, checks off", "Oclgrind", "simulator", 100, true},
      {"times as fast as Oclgrind, checks on", "Oclgrind, checks", "simulator, checks", 300, true},
      {"times PoCL's native time, checks off", "simulator", "PoCL", 6, false},
      {"times PoCL's native time, checks on", "simulator, checks", "PoCL", 12, false},
  };

  std::map<std::string, std::map<std::string, std::vector<double>>> times;  // contender, kernel -> one median a round
  for (int r = 0; r < rounds; ++r)
    for (const Contender& c : contenders) {
      fmt::print(stderr, "round {} of {}: {}\n", r + 1, rounds, c.name);
      const auto seconds = run(c);
      if (!seconds) {
        fmt::print(stderr, "{} failed: {}\nPoCL and Oclgrind come with: apt-get install pocl-opencl-icd oclgrind\n",
                   c.name, c.command);
        return 2;
      }
      for (const std::string& k : kKernels) {
        if (!seconds->count(k)) {
          fmt::print(stderr, "{} reported no time for {}\n", c.name, k);
          return 2;
        }
        times[c.name][k].push_back(seconds->at(k));
      }
    }

  fmt::print("{:<20}", "milliseconds");
  for (const std::string& k : kKernels) fmt::print("{:>12}", k);
  fmt::print("\n");
  for (const Contender& c : contenders) {
    fmt::print("{:<20}", c.name);
    for (const std::string& k : kKernels) fmt::print("{:>12.3f}", median(times[c.name][k]) * 1e3);
    fmt::print("\n");
  }

  // A ratio is taken within a round, then the median over the rounds, then the geometric mean over the kernels.
  nlohmann::json out = {{"rounds", rounds}, {"seconds", times}};
  bool all_met = true;
  fmt::print("\n{:<44}", "ratio");
  for (const std::string& k : kKernels) fmt::print("{:>12}", k);
  fmt::print("{:>12}{:>12}\n", "geo. mean", "goal");
  for (const Goal& g : goals) {
    if (!times.count(g.numerator) || !times.count(g.denominator)) continue;
    fmt::print("{:<44}", g.text);
    double log_sum = 0;
    for (const std::string& k : kKernels) {
      std::vector<double> ratios;
      for (int r = 0; r < rounds; ++r) ratios.push_back(times[g.numerator][k][r] / times[g.denominator][k][r]);
      fmt::print("{:>12.2f}", median(ratios));
      log_sum += std::log(median(ratios));
    }
    const double mean = std::exp(log_sum / static_cast<double>(kKernels.size()));
    const bool met = g.at_least ? mean >= g.limit : mean <= g.limit;
    all_met &= met;
    fmt::print("{:>12.2f}{:>7} {:<4} {}\n", mean, g.at_least ? "at least" : "at most", g.limit, met ? "met" : "MISSED");
    out["ratios"][g.text] = {{"geometric_mean", mean}, {"limit", g.limit}, {"met", met}};
  }
  if (!json_file.empty()) {
    std::ofstream(json_file) << out.dump(2) << "\n";
    if (!std::filesystem::exists(json_file)) {
      fmt::print(stderr, "cannot write {}\n", json_file);
      return 2;
    }
  }
  return all_met ? 0 : 1;
}
