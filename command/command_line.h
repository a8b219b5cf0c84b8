// The command line of `lockstep` and of its tools. Each option is defined once; help, errors and
// completion follow from the definition.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/arguments.h"

namespace lockstep::command {

enum class Command {
  kRun,
  kList,
  kExec,
  kCounters,
  kCoverage,
  kMutate,
  kInspect,
  kDiff,
  kReport,
  kNew,
  kCompletion,
  // Commands of a checkout's script, offered only there.
  kTest,
  kFormat,
  kBundle,
  kPackage,
  kSelfMutate,
  // Commands of the Python package.
  kJudge,
  kCompare,
};

// Whether the command runs a program, given after "--".
bool takes_program(Command command);

// Whether lockstep.toml may contain options of the command.
bool takes_config(Command command);

// The commands that a caller offers.
struct Offer {
  std::vector<Command> commands;
  // The caller is a checkout's script: without a program, `coverage` and `mutate` apply to the
  // suites.
  bool checkout = false;
  // Whether lockstep.toml is read. A tool behind the command gets its options as words instead.
  bool reads_config = true;
};
Offer whole_offer(bool checkout);

struct CommandLine {
  // The exit status if the program must exit now: 0 after help or a version on stdout, 2 after an
  // error on stderr.
  std::optional<int> status;
  Command command = Command::kRun;
  RunArguments run;
  ExecArguments exec;
  MutateArguments mutate;
  PassportArguments passport;
  JudgeArguments judge;
  // The words after "--". For exec, counters, coverage and mutate, empty only if the suites take
  // the place of a program.
  std::vector<std::string> program;
  // For a command on the suites: the given options, each as one word. own_words: of the command
  // itself; run_words: of the suites' run.
  std::vector<std::string> own_words, run_words;
  // The configuration file whose options were added (config_file.h); empty: none.
  std::string config;
  // All words with the file's options: the equivalent command line for a tool, which does not read
  // the file again.
  std::vector<std::string> words;
  std::string shell;             // for completion
  std::string family_namespace;  // for new
  bool check = false;            // for format
  bool prefix = false;           // --prefix, without a command
};

// Parses `arguments`, without the program's name. An option's value follows a blank or `=`. An
// error names the remedy, such as the nearest command or option to a misspelt one. Reads
// lockstep.toml of the working folder, or of the nearest folder above with one.
CommandLine parse(const Offer& offer, const std::vector<std::string>& arguments);

// The manual page of `lockstep` for man(1), in man(7) macros, from the definitions that help uses.
std::string manual(const Offer& offer);

// The completion script for `lockstep` in "bash" or "zsh".
std::string completion(const Offer& offer, const std::string& shell);

}  // namespace lockstep::command
