#include "simulator/exec/mutate/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace lockstep::exec {

Process::Process(const std::vector<std::string>& command, const Environment& set,
                 const std::string& output) {
  Image image(command, set);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644),
              in = open("/dev/null", O_RDONLY);
    if (out >= 0) dup2(out, STDOUT_FILENO), dup2(out, STDERR_FILENO);
    if (in >= 0) dup2(in, STDIN_FILENO);
    execve(image.argv[0], image.argv.data(), image.envp.data());
    _exit(126);
  }
  if (process_ < 0) status_ = 126;
}

Process::~Process() { stop(); }

std::optional<int> Process::poll() {
  int status = 0;
  if (!status_ && waitpid(process_, &status, WNOHANG) == process_)
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

void Process::stop() {
  if (process_ <= 0 || status_) return;
  kill(-process_, SIGKILL);
  kill(process_, SIGKILL);
  int status = 0;
  waitpid(process_, &status, 0);
  status_ = 128 + SIGKILL;
}

}  // namespace lockstep::exec
