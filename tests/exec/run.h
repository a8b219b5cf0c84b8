// Runs commands through a shell and returns their output and status; for tests of `lockstep exec`
// and other commands.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace lockstep {

struct Outcome {
  int status = -1;  // exit status; -1: a signal ended the shell
  std::string out, err;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The path of a file for the current test.
inline std::string scratch(const std::string& name) { return testing::TempDir() + "/" + name; }

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

inline Outcome shell(const std::string& command) {
  const std::string out = scratch("out"), err = scratch("err");
  const int status = std::system(("( " + command + " ) >" + out + " 2>" + err).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
}

// Runs lockstep-exec with these words; `environment` holds assignments before the command.
inline Outcome run(const std::string& words, const std::string& environment = "") {
  const char* const tool = std::getenv("LOCKSTEP_EXEC");
  EXPECT_NE(tool, nullptr);
  return shell(environment + " " + tool + " " + words);
}

}  // namespace lockstep
