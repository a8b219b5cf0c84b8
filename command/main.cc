// lockstep: the user's command. It parses the whole command line and replaces itself with the tool
// for the command.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "command/command_line.h"
#include "command/on_project.h"
#include "command/on_suites.h"
#include "command/save_file.h"

namespace lockstep::command {
namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2, kIncomplete = 3;

struct Tool {
  const char* file;      // in libexec/lockstep
  const char* variable;  // the variable with its path, in a checkout
};

Tool tool_of(Command c) {
  switch (c) {
    case Command::kRun:
    case Command::kList: return {"conform", "LOCKSTEP_TOOL_CONFORM"};
    case Command::kDiff:
    case Command::kReport: return {"passport_tool", "LOCKSTEP_TOOL_PASSPORT"};
    case Command::kInspect: return {"inspect", "LOCKSTEP_TOOL_INSPECT"};
    case Command::kNew: return {"new", "LOCKSTEP_TOOL_NEW"};
    case Command::kJudge:
    case Command::kCompare: return {"python", "LOCKSTEP_TOOL_PYTHON"};
    default: return {"lockstep-exec", "LOCKSTEP_TOOL_EXEC"};
  }
}

// The folder above bin/, which also contains lib/ and libexec/. Resolves links, because package
// managers install some.
fs::path prefix() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

int become(Command command, std::vector<std::string> words) {
  const Tool tool = tool_of(command);
  const char* named = std::getenv(tool.variable);
  const std::string path =
      named != nullptr ? named : (prefix() / "libexec/lockstep" / tool.file).string();
  if (access(path.c_str(), X_OK) != 0) {
    std::fprintf(stderr, "lockstep: this installation has no %s (%s), which '%s' needs\n",
                 tool.file, path.c_str(), words.front().c_str());
    return kIncomplete;
  }
  setenv("LOCKSTEP_COMMAND", "lockstep run", 0);  // the beginning of replay lines
  std::error_code error;
  if (const fs::path files = prefix() / "lib/lockstep/runfiles"; fs::is_directory(files, error))
    setenv("RUNFILES_DIR", files.c_str(), 1);  // the tools' own files, for every caller
  // These two are separate tools, and do not use the command's name.
  const bool one_command = command == Command::kInspect || command == Command::kNew;
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (std::size_t i = one_command ? 1 : 0; i < words.size(); ++i) argv.push_back(words[i].data());
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  std::fprintf(stderr, "lockstep: %s cannot be started: %s\n", path.c_str(), std::strerror(errno));
  return kIncomplete;
}

int main(const std::vector<std::string>& words) {
  const char* checkout = std::getenv("LOCKSTEP_CHECKOUT");  // set by the checkout's script
  const Offer offer = whole_offer(checkout != nullptr);
  const CommandLine line = parse(offer, words);
  if (line.status) return *line.status;
  if (line.prefix) {
    std::puts(prefix().c_str());
    return 0;
  }
  if (std::getenv("LOCKSTEP_PARSE_ONLY") != nullptr)
    return 0;  // the script then knows that the command line is valid, before it builds
  switch (line.command) {
    case Command::kCompletion:
      std::fputs(completion(offer, line.shell).c_str(), stdout);
      if (const std::string error = flush_stdout(); !error.empty()) {
        std::fprintf(stderr, "lockstep: %s\n", error.c_str());
        return 1;
      }
      return 0;
    case Command::kTest:
    case Command::kFormat:
    case Command::kBundle:
    case Command::kPackage:
    case Command::kSelfMutate:
      std::fprintf(stderr, "lockstep: ./lockstep of a checkout does this\n");
      return kIncomplete;
    default: break;
  }
  if (!line.config.empty() && !line.exec.quiet)
    std::fprintf(stderr, "lockstep: options of %s\n", line.config.c_str());
  const bool on_suites = takes_program(line.command) && line.program.empty();
  if (on_suites) return run_on_suites(line, checkout);
  std::vector<std::string> passed = line.config.empty() ? words : line.words;
  const bool of_project = line.command == Command::kRun || line.command == Command::kList;
  if (of_project && line.run.manifest.empty()) {
    if (checkout == nullptr) {
      if (const auto status = enter_project(line, passed)) return *status;
    } else if (!line.run.target.empty()) {
      std::fprintf(stderr,
                   "lockstep: --target is for a project of yours; this checkout's suites "
                   "are chosen by --suite\n");
      return kUsage;
    }
  }
  return become(line.command, passed);
}

}  // namespace
}  // namespace lockstep::command

int main(int argc, char** argv) { return lockstep::command::main({argv + 1, argv + argc}); }
