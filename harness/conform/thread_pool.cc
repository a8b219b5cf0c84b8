#include "harness/conform/thread_pool.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep {

std::size_t run_tasks(int workers, std::size_t count,
                      const std::function<bool(std::size_t)>& task) {
  std::mutex mutex;
  std::size_t begun = 0;
  bool stop = false;
  const auto work = [&] {
    while (true) {
      std::size_t mine = 0;
      {
        const std::lock_guard lock(mutex);
        if (stop || begun == count) return;
        mine = begun++;
      }
      if (task(mine)) continue;
      const std::lock_guard lock(mutex);
      stop = true;
    }
  };
  // A child process ends with the thread that started it (PR_SET_PDEATHSIG in subprocess.cc). A
  // task that starts one must wait for it on the same thread.
  const std::size_t helpers =
      std::min<std::size_t>(std::max(workers, 1), std::max<std::size_t>(count, 1)) - 1;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < helpers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return begun;
}

}  // namespace lockstep
