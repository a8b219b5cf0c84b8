// Starts programs, or replaces this process with one.
#pragma once

#include <string>
#include <vector>

namespace lockstep::command {

// Exit statuses: kIncomplete if a part of this command is missing, kNotStarted for a process that
// did not start.
inline constexpr int kIncomplete = 3, kNotStarted = 127;

// Replaces this process with words[0], which is searched for in PATH if it contains no slash. stdin
// is empty. If that fails, reports it on stderr and returns kIncomplete.
int become(std::vector<std::string> words);

struct Ended {
  int status = 0;  // as in a shell: 128 + N for signal N; or kNotStarted
  std::string out;
};

// The destination of a process's stdout: unchanged, stderr, or Ended::out.
enum class Stdout { kStays, kToStderr, kKept };

// Runs `words` as a separate process in `folder`, with an empty stdin.
Ended run(const std::vector<std::string>& words, const std::string& folder, Stdout stdout_goes);

}  // namespace lockstep::command
