#include "harness/conform/repeat.h"

#include <fmt/format.h>

#include <mutex>
#include <system_error>
#include <utility>

#include "harness/conform/thread_pool.h"

namespace lockstep {

RepeatedRuns repeat_suites(const std::vector<Suite>& suites, const SuiteOptions& options, int runs,
                           int jobs, const std::filesystem::path& out,
                           const std::function<void(int run, const Tally& tally)>& green_run) {
  RepeatedRuns all = {.planned = runs};
  std::error_code error;
  std::filesystem::remove_all(out / "runs", error);
  if (error) {
    all.error = fmt::format("{} cannot be replaced: {}", (out / "runs").string(), error.message());
    return all;
  }
  for (const Suite& s : suites) all.sums.push_back({s.family, {}, 0});
  struct Run {
    bool has_folder = false;
    std::size_t green = 0;  // green suites
    Tally tally;
  };
  std::vector<Run> state(runs);
  std::mutex mutex;
  run_tasks(jobs, suites.size() * runs, [&](std::size_t task) {
    const std::size_t run = task / suites.size(), suite = task % suites.size();
    const std::filesystem::path folder = out / "runs" / std::to_string(run + 1);
    {
      // Once per run: another suite of the run may already write to the folder.
      const std::lock_guard lock(mutex);
      if (std::string problem = state[run].has_folder ? "" : make_run_folder(folder);
          !problem.empty()) {
        all.error = std::move(problem);
        return false;
      }
      state[run].has_folder = true;
    }
    SuiteOptions with = options;
    with.random_seed += run;
    SuiteResult result = run_suite(suites[suite], with, folder);
    const std::lock_guard lock(mutex);
    if (!result.green()) {
      all.red.push_back(std::move(result));
      return false;
    }
    const Tally tally = result.ledger.tally();
    add(all.sums[suite].tally, tally);
    all.sums[suite].seconds += result.end.seconds;
    add(state[run].tally, tally);
    if (++state[run].green == suites.size()) {
      ++all.green;
      green_run(static_cast<int>(run) + 1, state[run].tally);
    }
    return true;
  });
  return all;
}

}  // namespace lockstep
