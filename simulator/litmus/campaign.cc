#include "simulator/litmus/campaign.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "simulator/litmus/reduce.h"
#include "simulator/litmus/text.h"
#include "simulator/splitmix64.h"

namespace lockstep::litmus {
namespace {

// Programs of a module: enough that loading costs little for each, and few enough to distribute.
constexpr std::uint64_t kBatch = 50;

class Campaign {
 public:
  Campaign(const Plan& plan, const std::function<void(const Tally&)>& progress)
      : plan_(plan), progress_(progress), seeds_(schedules(plan.schedules)), next_(plan.first) {}

  Tally run() {
    std::vector<std::thread> threads;
    for (int j = 1; j < plan_.jobs; ++j) threads.emplace_back([this] { work(); });
    work();
    for (std::thread& t : threads) t.join();
    std::sort(tally_.found.begin(), tally_.found.end(),
              [](const Found& a, const Found& b) { return a.number < b.number; });
    return std::move(tally_);
  }

 private:
  struct Differing {
    std::uint64_t place, number;
    Program program;
    Difference difference;
  };

  void work() {
    Simulator gpu, reducing;
    for (;;) {
      std::uint64_t first;
      {
        const std::lock_guard lock(mutex_);
        first = next_;
        next_ += kBatch;
      }
      const std::uint64_t end = plan_.first + plan_.programs;
      if (first >= end) return;
      batch(first, std::min(end, first + kBatch), gpu, reducing);
    }
  }

  // Program `n` of the campaign: the first of its own sequence that terminates.
  Program program(std::uint64_t n, std::uint64_t& number, Tally& tally) {
    for (std::uint64_t attempt = 0;; ++attempt) {
      number = mixed(plan_.seed * 0x9e3779b97f4a7c15 + n * 64 + attempt);
      Program p = random_program(number);
      if (!invalid(p).empty()) continue;
      const Judgement j = judge(p);
      tally.steps += j.steps;
      if (j.verdict == Verdict::kInvalid) {
        ++tally.blocking;
        continue;
      }
      if (j.verdict == Verdict::kTooLarge) {
        ++tally.too_large;
        continue;
      }
      return p;
    }
  }

  void batch(std::uint64_t first, std::uint64_t last, Simulator& gpu, Simulator& reducing) {
    Tally mine;
    std::vector<Program> programs;
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t n = first; n < last; ++n) {
      std::uint64_t number = 0;
      programs.push_back(program(n, number, mine));
      numbers.push_back(number);
    }
    gpu.load(programs);
    std::vector<Differing> differing;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      const Program& p = programs[i];
      Opinion opinion(p, Rules{});
      const auto where = static_cast<std::size_t>(placement_of(p)),
                 space = static_cast<std::size_t>(space_of(p));
      ++mine.programs;
      mine.runs += seeds_.size();
      ++mine.verdicts[where][space][static_cast<std::size_t>(opinion.verdict())];
      auto d = compare(p, opinion, gpu, i, seeds_);
      if (!d) continue;
      if (d->rule == kThreeThreads) {
        const Program small = minimised(p, *d, reducing, seeds_);
        Opinion of_small(small, Rules{});
        reducing.load({&small, 1});
        const auto again = compare(small, of_small, reducing, 0, seeds_);
        if (again && again->rule.empty()) d = again;
      }
      if (d->rule.empty()) {
        ++mine.faults[where][space][static_cast<std::size_t>(d->fault)];
      } else {
        ++mine.by_rule[d->rule][static_cast<std::size_t>(d->fault)];
      }
      differing.push_back({first + i, numbers[i], p, *d});
    }
    for (const Differing& d : differing) {
      const std::string kind = std::string(name(d.difference.fault)) + " " + d.difference.rule;
      {
        const std::lock_guard lock(mutex_);
        if (reduced_[kind]++ >= plan_.most_shown * 4) continue;
      }
      Found f{d.place, d.number, d.difference,
              minimised(d.program, d.difference, reducing, seeds_)};
      const std::lock_guard lock(mutex_);
      if (!shapes_.insert(kind + "\n" + shape(f.program)).second) continue;
      if (shown_[kind]++ < plan_.most_shown) tally_.found.push_back(std::move(f));
    }
    add(mine);
  }

  void add(const Tally& mine) {
    const std::lock_guard lock(mutex_);
    tally_.programs += mine.programs;
    tally_.runs += mine.runs;
    tally_.blocking += mine.blocking;
    tally_.too_large += mine.too_large;
    tally_.steps += mine.steps;
    for (int p = 0; p < kPlacements; ++p) {
      for (int s = 0; s < kSpaces; ++s) {
        for (int v = 0; v < 3; ++v) tally_.verdicts[p][s][v] += mine.verdicts[p][s][v];
        for (int f = 0; f < kFaults; ++f) tally_.faults[p][s][f] += mine.faults[p][s][f];
      }
    }
    for (const auto& [rule, counts] : mine.by_rule) {
      for (int f = 0; f < kFaults; ++f) tally_.by_rule[rule][f] += counts[f];
    }
    const auto now = std::chrono::steady_clock::now();
    if (progress_ && now - last_progress_ > std::chrono::seconds(5)) {
      last_progress_ = now;
      progress_(tally_);
    }
  }

  const Plan plan_;
  const std::function<void(const Tally&)> progress_;
  const std::vector<std::uint64_t> seeds_;
  std::mutex mutex_;
  std::uint64_t next_;
  Tally tally_;
  std::set<std::string> shapes_;
  std::map<std::string, std::size_t> reduced_, shown_;
  std::chrono::steady_clock::time_point last_progress_ = std::chrono::steady_clock::now();
};

}  // namespace

std::uint64_t Tally::unexplained() const {
  std::uint64_t n = 0;
  for (const auto& of_space : faults) {
    for (const auto& of_fault : of_space) {
      for (const std::uint64_t f : of_fault) n += f;
    }
  }
  return n;
}

std::vector<std::uint64_t> schedules(int n) {
  std::vector<std::uint64_t> all;
  for (int i = 0; i < n; ++i) all.push_back(static_cast<std::uint64_t>(i));
  return all;
}

std::string shape(const Program& p) {
  Program q = p;
  for (std::size_t l = 0; l < q.locations.size(); ++l)
    q.locations[l].name = std::string(1, static_cast<char>('a' + l));
  for (Thread& t : q.threads) {
    for (Op& op : t.ops) op.value = op.compare = 0;
  }
  return to_text(q, "");
}

Tally run(const Plan& plan, const std::function<void(const Tally&)>& progress) {
  return Campaign(plan, progress).run();
}

}  // namespace lockstep::litmus
