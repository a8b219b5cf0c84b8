#include "command/processes.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace lockstep::command {
namespace {

void replace_by(std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (const int null = open("/dev/null", O_RDONLY); null >= 0) dup2(null, STDIN_FILENO);
  execvp(argv[0], argv.data());
}

}  // namespace

int become(std::vector<std::string> words) {
  replace_by(words);
  std::fprintf(stderr, "lockstep: %s cannot be started: %s\n", words.front().c_str(),
               std::strerror(errno));
  return kIncomplete;
}

Ended run(const std::vector<std::string>& words, const std::string& folder, Stdout stdout_goes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {kNotStarted, ""};
  const pid_t child = fork();
  if (child == 0) {
    if (stdout_goes != Stdout::kStays)
      dup2(stdout_goes == Stdout::kKept ? ends[1] : STDERR_FILENO, STDOUT_FILENO);
    std::vector<std::string> own = words;
    if (chdir(folder.c_str()) == 0) replace_by(own);
    _exit(kNotStarted);
  }
  close(ends[1]);
  Ended ended = {kNotStarted, ""};
  if (child > 0) {
    char text[4096];
    for (ssize_t got; (got = read(ends[0], text, sizeof text)) > 0 || (got < 0 && errno == EINTR);)
      if (got > 0) ended.out.append(text, static_cast<std::size_t>(got));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ended.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  close(ends[0]);
  return ended;
}

}  // namespace lockstep::command
