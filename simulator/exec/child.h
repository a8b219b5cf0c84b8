// Runs the program.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lockstep::exec {

using Environment = std::map<std::string, std::string>;

// Arguments and environment of a program in the form of execve(): pointers into its own strings.
struct Image {
  Image(const std::vector<std::string>& command, const Environment& set);
  std::vector<std::string> words, variables;
  std::vector<char*> argv, envp;
};

// Runs `command` (command[0] is a path) and waits for it. Adds `set` to the inherited environment.
// SIGTERM and SIGHUP are passed on; the terminal sends SIGINT and SIGQUIT to both processes. If
// this process is killed, the command is killed, too. Returns the command's exit status, 128 + the
// signal that ended it, or 126 if it cannot be started (with a message on stderr).
int run_child(const std::vector<std::string>& command, const Environment& set);

// The stdout of a command; its stderr is discarded.
std::string output_of(const std::vector<std::string>& command, const Environment& set);

// `first`, followed by the value of an environment variable with a colon-separated list, such as
// LD_LIBRARY_PATH.
std::string with_first(const char* variable, const std::string& first);

}  // namespace lockstep::exec
