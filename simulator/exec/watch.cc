#include "simulator/exec/watch.h"

#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <tuple>

namespace lockstep::exec {
namespace {

volatile sig_atomic_t ended = 0;

void end(int) { ended = 1; }

// The attributes of a file that change when it is written or replaced. All 0 if it does not exist.
using State = std::tuple<ino_t, off_t, time_t, long>;

std::vector<State> states(const std::vector<std::string>& files) {
  std::vector<State> all;
  for (const std::string& file : files) {
    struct stat is {};
    all.push_back(stat(file.c_str(), &is) != 0
                      ? State{}
                      : State{is.st_ino, is.st_size, is.st_mtim.tv_sec, is.st_mtim.tv_nsec});
  }
  return all;
}

bool all_there(const std::vector<State>& states) {
  for (const State& one : states)
    if (one == State{}) return false;
  return true;
}

}  // namespace

int watch(const std::vector<std::string>& files, const std::function<int()>& run,
          const std::function<void()>& waiting) {
  constexpr auto kStep = std::chrono::milliseconds(100);
  constexpr int kQuietSteps = 3;
  ended = 0;
  int status = 0;
  while (true) {
    const std::vector<State> before = states(files);
    status = run();
    // Reinstalls the handlers, because the run has replaced them with its own.
    struct sigaction action {};
    action.sa_handler = end;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
    waiting();
    int quiet = 0;
    for (std::vector<State> last = before; ended == 0 && quiet < kQuietSteps;) {
      std::this_thread::sleep_for(kStep);
      std::vector<State> now = states(files);
      quiet = now != before && now == last && all_there(now) ? quiet + 1 : 0;
      last = std::move(now);
    }
    if (ended != 0) return status;
  }
}

}  // namespace lockstep::exec
