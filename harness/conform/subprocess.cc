#include "harness/conform/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

extern char** environ;

namespace lockstep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kGrace{2000};

bool removed(std::string_view variable, const Command& command) {
  for (const std::string& pattern : command.unset) {
    const std::string_view p = pattern;
    if (p.ends_with('*') ? variable.starts_with(p.substr(0, p.size() - 1)) : variable == p)
      return true;
  }
  return command.set.contains(std::string(variable));
}

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    if (!removed(entry.substr(0, entry.find('=')), command)) out.emplace_back(entry);
  }
  for (const auto& [name, value] : command.set) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

// Runs in the child; makes only async-signal-safe calls. A successful exec closes `report`;
// otherwise `report` carries errno to the parent.
[[noreturn]] void become(char** argv, char** envp, const char* output, pid_t parent, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  bool ready = getppid() == parent;
  if (ready && output != nullptr) {
    const int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ready = fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0;
  }
  if (ready) execve(argv[0], argv, envp);
  const int error = errno;
  [[maybe_unused]] const ssize_t n = write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

std::string ProcessEnd::describe() const {
  switch (how) {
    case How::kExited: return fmt::format("exit status {}", status);
    case How::kSignalled:
      return fmt::format("signal SIG{}",
                         sigabbrev_np(status) != nullptr ? sigabbrev_np(status) : "?");
    case How::kTimedOut:
      return error.empty() ? fmt::format("its time limit, after {:.0f} s", seconds) : error;
    case How::kNotStarted: return "not started: " + error;
  }
  return "";
}

ProcessEnd run_process(const Command& command, const std::function<void(double)>& tick) {
  ProcessEnd end;
  std::vector<std::string> arguments = command.argv, environment = environment_of(command);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  int report[2];
  if (argv.front() == nullptr || pipe2(report, O_CLOEXEC) != 0) {
    end.error = argv.front() == nullptr ? "no program named" : std::strerror(errno);
    return end;
  }
  const auto start = Clock::now();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0)
    become(const_cast<char**>(argv.data()), const_cast<char**>(envp.data()),
           command.output.empty() ? nullptr : command.output.c_str(), parent, report[1]);
  close(report[1]);
  int error = 0;
  const bool exec_failed = child > 0 && read(report[0], &error, sizeof error) == sizeof error;
  close(report[0]);
  if (child < 0 || exec_failed) {
    end.error =
        fmt::format("{}: {}", command.argv.front(), std::strerror(child < 0 ? errno : error));
    if (child > 0) waitpid(child, nullptr, 0);
    return end;
  }

  int status = 0;
  bool timed_out = false, killed = false;
  std::optional<Clock::time_point> terminated;
  auto next_tick = start + kTick;
  auto pause = std::chrono::milliseconds(1);
  while (waitpid(child, &status, WNOHANG) == 0) {
    const auto now = Clock::now();
    const auto run = now - start;
    const double seconds = std::chrono::duration<double>(run).count();
    if (command.time_limit.count() > 0 && run > command.time_limit) timed_out = true;
    if (now >= next_tick) {
      if (tick) tick(seconds);
      if (command.overrun && !timed_out) end.error = command.overrun(seconds);
      timed_out = timed_out || !end.error.empty();
      next_tick = now + kTick;
    }
    if (timed_out && !terminated) {
      terminated = now;
      kill(-child, SIGTERM);
    }
    if (terminated && !killed && now > *terminated + kGrace) {
      killed = true;
      kill(-child, SIGKILL);
    }
    // Short at first, for short programs; then longer, so that long programs cost no polling.
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds(20)) pause *= 2;
  }
  kill(-child, SIGKILL);  // processes that it has left behind
  end.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  end.how = timed_out           ? ProcessEnd::How::kTimedOut
            : WIFEXITED(status) ? ProcessEnd::How::kExited
                                : ProcessEnd::How::kSignalled;
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  return end;
}

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace lockstep
