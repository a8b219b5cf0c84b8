#include "simulator/fuzz/differential/campaign.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "simulator/fuzz/differential/catalogue.h"
#include "simulator/fuzz/differential/printer.h"
#include "simulator/fuzz/differential/reduce.h"

namespace lockstep::fuzz::differential {

std::vector<int> possible_rows(bool silicon) {
  const Catalogue& all = Catalogue::get();
  std::vector<int> v;
  for (std::size_t r = 0; r < all.rows().size(); ++r) {
    const Row& row = all.rows()[r];
    if (row.place != Place::kNever && !(silicon && !row.not_on_silicon.empty()))
      v.push_back(static_cast<int>(r));
  }
  return v;
}

std::vector<int> rows_below(const Tally& tally, std::uint64_t least, bool silicon) {
  std::vector<int> v;
  for (const int r : possible_rows(silicon))
    if (tally.rows[static_cast<std::size_t>(r)] < least) v.push_back(r);
  return v;
}

int wanted_row(Choices& choose, const std::vector<std::uint64_t>& rows,
               const std::vector<int>& possible) {
  if (choose.percent(30)) return -1;
  int best = choose.of(possible);
  for (int i = 0; i < 6; ++i) {
    const int r = choose.of(possible);
    if (rows[static_cast<std::size_t>(r)] < rows[static_cast<std::size_t>(best)]) best = r;
  }
  return best;
}

Mismatch minimised(const Recipe& recipe, const Judgement& judgement, Simulator& simulator) {
  Mismatch m;
  m.number = recipe.number();
  m.judgement = judgement;
  // The finding must keep its kind: its first words.
  const std::string kind = judgement.voter == "finding" || judgement.voter == "refused"
                               ? judgement.detail.substr(0, judgement.detail.find(' '))
                               : std::string();
  // A smaller program may take other turns under the same seed, so more schedules are tried.
  const std::uint64_t schedules = judgement.voter == "schedule" ? 24 : 2;
  m.program = reduced(generate(recipe), [&](const Program& p) {
    const Judgement j = judge(p, simulator, schedules);
    return j.voter == judgement.voter && j.detail.starts_with(kind);
  });
  if (Judgement j = judge(m.program, simulator, schedules); !j.voter.empty())
    m.judgement = std::move(j);
  const Program programs[] = {m.program};
  m.ptx = module_of(programs);
  return m;
}

Tally run(const Plan& plan, const std::function<void(const Tally&)>& progress) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Tally tally;
  tally.rows.resize(Catalogue::get().rows().size());
  const std::vector<int> possible = possible_rows(plan.silicon);
  std::mutex mutex;
  std::uint64_t next = 0;
  bool stop = false;
  Clock::time_point reported = start;
  const auto work = [&] {
    Simulator simulator;
    for (;;) {
      Recipe recipe;
      {
        const std::lock_guard lock(mutex);
        const Clock::time_point now = Clock::now();
        if (stop || (plan.programs != 0 && next >= plan.programs) || now - start > plan.time)
          return;
        Choices choose(plan.seed * 0x100000001b3 + next++);
        recipe.seed = choose.bits() & 0x7fffffffffff;
        recipe.silicon = plan.silicon;
        recipe.row = wanted_row(choose, tally.rows, possible);
        if (now - reported > std::chrono::seconds(10)) {
          reported = now;
          tally.seconds = std::chrono::duration<double>(now - start).count();
          if (progress) progress(tally);
        }
      }
      const Program program = generate(recipe);
      const Judgement judgement = judge(program, simulator);
      Mismatch mismatch;
      if (!judgement.voter.empty()) mismatch = minimised(recipe, judgement, simulator);
      const std::lock_guard lock(mutex);
      ++tally.programs;
      tally.referenced += program.referenced;
      for (const int r : rows_of(program)) ++tally.rows[static_cast<std::size_t>(r)];
      if (!judgement.voter.empty()) {
        tally.mismatches.push_back(std::move(mismatch));
        if (tally.mismatches.size() >= plan.most_mismatches) stop = true;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < plan.jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  tally.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return tally;
}

}  // namespace lockstep::fuzz::differential
