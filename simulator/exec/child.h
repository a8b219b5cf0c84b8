// Running the program.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lockstep::exec {

using Environment = std::map<std::string, std::string>;

// A program as execve() wants it: pointers into strings of its own.
struct Image {
  Image(const std::vector<std::string>& command, const Environment& set);
  std::vector<std::string> words, variables;
  std::vector<char*> argv, envp;
};

// Runs `command` (command[0] is a path) with `set` added to the environment and everything else
// inherited, and waits. SIGTERM and SIGHUP are passed on; SIGINT and SIGQUIT the terminal sends to
// both. Where this process is killed, the command is killed too. Its exit status, 128 + the signal
// that ended it, or 126 when it cannot be started (a sentence is on stderr).
int run_child(const std::vector<std::string>& command, const Environment& set);

// What a command writes to stdout; its stderr is left out.
std::string output_of(const std::vector<std::string>& command, const Environment& set);

// `first`, and then what the environment has in a list with colons, such as LD_LIBRARY_PATH.
std::string with_first(const char* variable, const std::string& first);

}  // namespace lockstep::exec
