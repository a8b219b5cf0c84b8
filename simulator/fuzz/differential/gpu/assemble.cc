#include "simulator/fuzz/differential/gpu/assemble.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

extern char** environ;

namespace lockstep::fuzz::differential {
namespace {

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Waits for a process. Returns its exit status, -1 if a signal killed it, -2 if it exceeded the
// time limit.
int wait_for(pid_t pid, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  auto pause = std::chrono::milliseconds(1);
  for (;;) {
    int status = 0;
    const pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (got < 0 && errno != EINTR) return -1;
    if (std::chrono::steady_clock::now() > end) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return -2;
    }
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds(8)) pause *= 2;
  }
}

}  // namespace

Assembled assemble(const std::string& ptxas, const std::string& folder, const std::string& name,
                   const std::string& ptx, int level, int seconds) {
  const std::string base = folder + "/" + name, source = base + ".ptx",
                    result = base + "-O" + std::to_string(level) + ".cubin", log = base + ".log";
  std::ofstream(source, std::ios::binary) << ptx;
  const std::string optimised = "-O" + std::to_string(level);
  const char* arguments[] = {ptxas.c_str(), "-arch=sm_90",  optimised.c_str(), "-w",
                             "-o",          result.c_str(), source.c_str(),    nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  const int failed =
      posix_spawn(&pid, ptxas.c_str(), &actions, nullptr, const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  Assembled a;
  if (failed != 0) {
    a.messages = ptxas + ": " + std::strerror(failed);
    return a;
  }
  const int status = wait_for(pid, seconds);
  a.ok = status == 0;
  if (a.ok)
    a.cubin = contents(result);
  else
    a.messages = (status == -1   ? "killed by a signal\n"
                  : status == -2 ? "took too long\n"
                                 : "") +
                 contents(log);
  unlink(source.c_str());
  unlink(result.c_str());
  unlink(log.c_str());
  return a;
}

}  // namespace lockstep::fuzz::differential
