// Running the program.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lockstep::exec {

using Environment = std::map<std::string, std::string>;

// The arguments of execve() for a program, with the strings that they point to.
struct Image {
  Image(const std::vector<std::string>& command, const Environment& set);
  std::vector<std::string> words, variables;
  std::vector<char*> argv, envp;
};

// Runs `command` (command[0] is a path) and waits for its end. The command inherits the environment
// plus `set`. SIGTERM and SIGHUP are passed on; the terminal sends SIGINT and SIGQUIT to both
// processes. If this process is killed, the command is killed too. Returns the command's exit
// status, 128 + the signal that ended it, or 126 after a message on stderr if it cannot be started.
// Prints a line about a signal of a failure, with `name` for the command, unless that is null.
int run_child(const std::vector<std::string>& command, const Environment& set, const char* name);

// The standard output of a command, without its stderr.
std::string output_of(const std::vector<std::string>& command, const Environment& set);

// `first` prepended to the value of a colon-separated environment variable, such as
// LD_LIBRARY_PATH.
std::string with_first(const char* variable, const std::string& first);

}  // namespace lockstep::exec
