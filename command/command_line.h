// The command line of `lockstep` and of the tools behind it: each option is defined here once, and
// its help, its errors and its completion follow from that.
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
  // Commands of a checkout's script: listed there alone.
  kTest,
  kFormat,
  kBundle,
  kPackage,
  kSelfMutate,
  // Of the Python package.
  kJudge,
  kCompare,
};

// Whether words after "--" are a program and its arguments.
bool takes_program(Command command);

// Whether options of the command may stand in lockstep.toml.
bool takes_config(Command command);

// Who offers which commands.
struct Offer {
  std::vector<Command> commands;
  // A checkout's script is the caller: `coverage` and `mutate` without a program are about the
  // suites.
  bool checkout = false;
  // Whether lockstep.toml is read: a tool behind the command has got its options as words.
  bool reads_config = true;
};
Offer whole_offer(bool checkout);

struct CommandLine {
  // All is said, on stdout (0: help, a version) or stderr (2: wrong usage): exit with it.
  std::optional<int> status;
  Command command = Command::kRun;
  RunArguments run;
  ExecArguments exec;
  MutateArguments mutate;
  PassportArguments passport;
  JudgeArguments judge;
  // What follows "--". Of exec, counters, coverage and mutate it is empty only where the suites
  // stand in its place.
  std::vector<std::string> program;
  // What was typed for a command on the suites, each option as one word: its own options, and those
  // of the suites' run.
  std::vector<std::string> own_words, run_words;
  // The file whose options count beside those of the command line (config_file.h); empty: none.
  std::string config;
  // All words, with the file's options: the same command line for a tool, which reads no file
  // again.
  std::vector<std::string> words;
  std::string shell;             // of completion
  std::string family_namespace;  // of new
  bool check = false;            // of format
  bool prefix = false;           // --prefix, without a command
};

// `arguments` without the program's own name. Options take their value after a blank or `=`. What
// is wrong is said with what to do: the nearest command or option where one was misspelt. Reads
// lockstep.toml of the working folder, or of the nearest above it.
CommandLine parse(const Offer& offer, const std::vector<std::string>& arguments);

// The manual page of `lockstep`, for man(1): man(7)'s macros, from the table that help is made of.
std::string manual(const Offer& offer);

// The script that completes `lockstep` in "bash" or "zsh".
std::string completion(const Offer& offer, const std::string& shell);

}  // namespace lockstep::command
