// Helpers of the tests in this folder: run a program under `lockstep exec`, and read tables.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::streams {

using nlohmann::json;

struct Outcome {
  int status = -1;
  std::string out, err;
  json findings = json::array();

  std::string text() const { return "exit status " + std::to_string(status) + "\n" + out + err; }
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The words of a command line. '...' encloses a word with spaces.
inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, any = false;
  for (const char c : line + " ") {
    if (c == '\'') {
      quoted = !quoted;
      any = true;
    } else if (c != ' ' || quoted) {
      word += c;
      any = true;
    } else if (any) {
      words.push_back(std::exchange(word, ""));
      any = false;
    }
  }
  return words;
}

// Starts the command without a shell, as most of these programs end within milliseconds. Returns
// its exit status, or -1 if a signal or the time limit has ended it.
inline int run_words(const std::vector<std::string>& words, const std::string& out,
                     const std::string& err, int most_seconds) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kFlags, 0666);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), kFlags, 0666);
  posix_spawnattr_t group;
  posix_spawnattr_init(&group);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &files, &group, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&group);
  if (error != 0) return -1;
  const int ended = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd end{ended, POLLIN, 0};
  if (poll(&end, 1, 1000 * most_seconds) == 0) kill(-child, SIGKILL);
  close(ended);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Whether this test is one of those named *_proved_test.
inline bool is_proved() { return std::getenv("STREAMS_PROVED") != nullptr; }

// Runs a program of this folder under `lockstep exec` with these options. `scratch` is the prefix
// of the files that it writes. STREAMS_PROVED: whatever is proved before a launch is left out from
// the first launch on.
inline Outcome run(const std::string& options, const std::string& command,
                   const std::string& scratch) {
  // Every program runs for less than a second; the limit ends one that hangs.
  constexpr int kMostSeconds = 100;
  const std::string whole = std::getenv("LOCKSTEP_EXEC") + std::string(" exec ") +
                            (is_proved() ? "--certificate=" + scratch + ".certificate " : "") +
                            options + " --report=" + scratch + ".json -- tests/streams/" + command;
  std::ofstream(scratch + ".json") << "{}";  // overwrites the findings of an earlier run
  const int status = run_words(words_of(whole), scratch + ".out", scratch + ".err", kMostSeconds);
  Outcome o{status, contents(scratch + ".out"), contents(scratch + ".err")};
  const json report = json::parse(contents(scratch + ".json"), nullptr, false);
  if (report.is_object() && report.contains("findings")) o.findings = report["findings"];
  return o;
}

// The number of seeds: STREAMS_SEEDS, or LOCKSTEP_SCALE times `usual`.
inline int seeds_or(int usual) {
  if (const char* const words = std::getenv("STREAMS_SEEDS")) return std::atoi(words);
  const char* const scale = std::getenv("LOCKSTEP_SCALE");
  return scale ? std::max(1, static_cast<int>(usual * std::atof(scale))) : usual;
}

// The tab-separated fields of each line. Skips lines that begin with #.
inline std::vector<std::vector<std::string>> table(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) rows.back().push_back(field);
  }
  return rows;
}

}  // namespace lockstep::streams
