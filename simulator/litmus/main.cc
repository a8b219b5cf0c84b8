// Random litmus programs: compares the simulated GPU's search for races with the PTX memory model.
// docs/reference/memory_model.md describes its use.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "command/options.h"
#include "simulator/litmus/campaign.h"
#include "simulator/litmus/ptx.h"
#include "simulator/litmus/text.h"

namespace {

using namespace lockstep::litmus;

void show(const Found& f) {
  fmt::print(
      "\n# {}{}, program {}, schedule {}; again: bazel run //simulator/litmus:fuzz -- "
      "--replay={:x}\n{}",
      name(f.difference.fault), f.difference.rule.empty() ? "" : " by rule " + f.difference.rule,
      f.place, f.difference.schedule, f.number, to_text(f.program, fmt::format("p{:x}", f.number)));
  if (f.difference.fault == Fault::kTrouble || f.difference.fault == Fault::kPair)
    fmt::print("{}\n", f.difference.report);
}

void table(const Tally& t) {
  fmt::print("\n{:8} {:12} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "threads", "data",
             "race", "free", "mixed", "missed", "false", "pairs", "outcome", "trouble");
  for (int p = 0; p < kPlacements; ++p) {
    for (int s = 0; s < kSpaces; ++s) {
      const auto& v = t.verdicts[p][s];
      const auto& f = t.faults[p][s];
      if (v[0] + v[1] + v[2] == 0) continue;
      fmt::print("{:8} {:12} {:9} {:9} {:9} {:8} {:8} {:8} {:8} {:8}\n",
                 name(static_cast<Placement>(p)), name(static_cast<Space>(s)), v[0], v[1], v[2],
                 f[0], f[1], f[2], f[3], f[4]);
    }
  }
  fmt::print(
      "{} programs, {} runs; {} that may block and {} that are too large were left out; {} steps "
      "of the oracle\n",
      t.programs, t.runs, t.blocking, t.too_large, t.steps);
  for (const auto& [rule, f] : t.by_rule) {
    fmt::print("by rule {}: {} missed, {} false, {} pairs\n", rule, f[0], f[1], f[2]);
  }
  fmt::print("{} differences that no rule explains\n", t.unexplained());
}

// A program of a number, or those of a file.
int replay(const std::string& which, int schedule_count, bool ptx) {
  std::vector<Named> all;
  if (std::ifstream in(which); in) {
    std::stringstream text;
    text << in.rdbuf();
    all = parse(text.str());
  } else {
    all.push_back({which, random_program(std::strtoull(which.c_str(), nullptr, 16)), {}});
  }
  Simulator gpu;
  int status = 0;
  const auto seeds = schedules(schedule_count);
  constexpr std::uint64_t kMostSteps = 3'000'000;  // of one program: seconds
  for (const Named& n : all) {
    fmt::print("{}", to_text(n.program, n.name));
    if (ptx) fmt::print("{}", to_ptx({&n.program, 1}).text);
    Opinion opinion(n.program, Rules{}, kMostSteps);
    Search s;
    s.everything = true;
    s.most_steps = kMostSteps;
    const Judgement j = judge(n.program, s);
    fmt::print("# {}: {} executions, {} steps\n", name(opinion.verdict()), j.executions, j.steps);
    for (const Race& r : j.races) {
      fmt::print("#   P{}: {}  ||  P{}: {}\n", r.thread,
                 to_text(n.program.threads[r.thread].ops[r.op], n.program), r.other_thread,
                 to_text(n.program.threads[r.other_thread].ops[r.other_op], n.program));
    }
    for (const NamedRules& r : lenient_rules()) {
      if (r.name.find(' ') != std::string::npos) continue;  // several
      const Verdict v = Opinion(n.program, r.rules).verdict();
      if (v != opinion.verdict()) fmt::print("#   by rule {}: {}\n", r.name, name(v));
    }
    if (opinion.verdict() == Verdict::kInvalid || opinion.verdict() == Verdict::kTooLarge) continue;
    gpu.load({&n.program, 1});
    std::string reported;
    for (const std::uint64_t seed : seeds) {
      const Ran ran = gpu.run(0, seed);
      reported += ran.race ? "!" : ".";
    }
    fmt::print("# reported (!) or not by schedule: {}\n", reported);
    if (const auto d = compare(n.program, opinion, gpu, 0, seeds)) {
      fmt::print("# {}{}, schedule {}\n{}\n", name(d->fault),
                 d->rule.empty() ? "" : " by rule " + d->rule, d->schedule, d->report);
      status = 1;
    }
    fmt::print("\n");
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  lockstep::command::Options options(
      "Random litmus programs, judged by an oracle that looks at every execution, and run on the "
      "simulated GPU.");
  Plan plan;
  std::string again;
  bool ptx = false;
  std::uint64_t shown = plan.most_shown;
  plan.jobs = static_cast<int>(std::thread::hardware_concurrency());
  options.value("--programs", plan.programs, "how many");
  options.value("--first", plan.first, "the place of the first one in the sequence");
  options.value("--seed", plan.seed, "another seed, other programs");
  options.count("--schedules", plan.schedules, "schedules of each program");
  options.count("--jobs", plan.jobs, "host threads");
  options.value("--shown", shown, "differences of each kind that are made small and printed");
  options.value("--replay", again, "one program by its number, or those of a file");
  options.flag("--ptx", ptx, "with --replay: its PTX");
  if (const auto status = options.parse(argc, argv)) return *status;
  if (!again.empty()) return replay(again, plan.schedules, ptx);
  plan.most_shown = static_cast<std::size_t>(shown);
  const Tally t = run(plan, [](const Tally& so_far) {
    fmt::print("{:9} programs, {} differences that no rule explains\n", so_far.programs,
               so_far.unexplained());
    std::fflush(stdout);
  });
  for (const Found& f : t.found) show(f);
  table(t);
  return t.unexplained() == 0 ? 0 : 1;
}
