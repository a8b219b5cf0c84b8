// Defines the command line: a CLI11 application with a subcommand for each offered command.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "command/command_line.h"

namespace lockstep::command {

struct Tree {
  std::unique_ptr<CLI::App> app;
  std::map<const CLI::App*, Command> commands;
  std::map<const CLI::Option*, std::vector<std::string>>
      choices;  // values for completion, if known
  std::set<const CLI::Option*>
      of_a_run;  // options that a command on the suites passes to their run
};

// Parsing stores its results in `line`, which must live as long as the tree. If `only` is the name
// of a command, the other commands have no options: to make them all takes a tenth of a short run.
Tree make_tree(const Offer& offer, CommandLine& line, const std::string& only = "");

}  // namespace lockstep::command
