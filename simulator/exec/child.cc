#include "simulator/exec/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern char** environ;

namespace lockstep::exec {
namespace {

constexpr int kCannotStart = 126;

volatile sig_atomic_t child_process = 0;

void pass_on(int signal) {
  if (child_process > 0) kill(static_cast<pid_t>(child_process), signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

std::vector<std::string> environment_with(const Environment& set) {
  std::vector<std::string> result;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    if (!set.contains(std::string(entry.substr(0, entry.find('='))))) result.emplace_back(entry);
  }
  for (const auto& [name, value] : set) result.push_back(name + "=" + value);
  return result;
}

// Called in the child: ends it when its parent is killed, so that it does not run on unseen.
void end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotStart);
}

// Whether a signal means that the program failed, not that a user or a reader ended it.
bool is_failure(int signal) {
  return signal != SIGINT && signal != SIGTERM && signal != SIGHUP && signal != SIGQUIT &&
         signal != SIGPIPE;
}

// The exit status, or 128 + the signal. `name`: of the program, for a message; or null.
int wait_for(pid_t child, const char* name) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return kCannotStart;
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  if (name != nullptr && is_failure(signal))
    std::fprintf(stderr, "lockstep: %s: ended by signal %d (%s)\n", name, signal,
                 strsignal(signal));
  return 128 + signal;
}

}  // namespace

Image::Image(const std::vector<std::string>& command, const Environment& set)
    : words(command), variables(environment_with(set)) {
  for (std::string& s : words) argv.push_back(s.data());
  for (std::string& s : variables) envp.push_back(s.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
}

int run_child(const std::vector<std::string>& command, const Environment& set, const char* name) {
  Image image(command, set);
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    end_with(parent);
    execve(image.argv[0], image.argv.data(), image.envp.data());
    const char* const why = errno == ENOEXEC
                                ? "it is neither an ELF program nor a script that begins with #!"
                            : errno == ENOENT ? "the interpreter that it names is not there"
                                              : std::strerror(errno);
    std::fprintf(stderr, "lockstep: %s cannot be started: %s\n", image.argv[0], why);
    _exit(kCannotStart);
  }
  if (child < 0) {
    std::fprintf(stderr, "lockstep: no process for %s: %s\n", image.argv[0], std::strerror(errno));
    return kCannotStart;
  }
  child_process = child;
  for (const int signal : {SIGINT, SIGQUIT}) handle(signal, SIG_IGN);
  for (const int signal : {SIGTERM, SIGHUP}) handle(signal, pass_on);
  return wait_for(child, name);
}

std::string output_of(const std::vector<std::string>& command, const Environment& set) {
  Image image(command, set);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    end_with(parent);
    dup2(ends[1], STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    execve(image.argv[0], image.argv.data(), image.envp.data());
    _exit(kCannotStart);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t n; child > 0 && (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  if (child > 0) wait_for(child, nullptr);
  return text;
}

std::string with_first(const char* variable, const std::string& first) {
  const char* before = std::getenv(variable);
  return before == nullptr || *before == '\0' ? first : first + ":" + before;
}

}  // namespace lockstep::exec
