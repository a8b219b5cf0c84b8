// Programs that the command starts, or becomes.
#pragma once

#include <string>
#include <vector>

namespace lockstep::command {

// Exit statuses: of this command where a part of it is absent, and of a process that did not begin.
inline constexpr int kIncomplete = 3, kNotStarted = 127;

// Replaces this process by words[0], which is looked for in PATH where it has no slash; its stdin
// is empty. Returns kIncomplete where it cannot be started, and reports that on stderr.
int become(std::vector<std::string> words);

struct Ended {
  int status = 0;  // as a shell counts it: 128 + N for signal N; kNotStarted
  std::string out;
};

// What becomes of a process's stdout: it stays what it is, goes to stderr, or is Ended::out.
enum class Stdout { kStays, kToStderr, kKept };

// Runs `words` as a process of its own in `folder`, with an empty stdin.
Ended run(const std::vector<std::string>& words, const std::string& folder, Stdout stdout_goes);

}  // namespace lockstep::command
