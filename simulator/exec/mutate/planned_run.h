// Processes of a program that follow plans (runtime/mutation/plan.h), and the files that they share
// with the command.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/exec/mutate/rounds.h"

namespace lockstep::exec {

inline constexpr auto kPoll = std::chrono::milliseconds(5);

std::vector<std::string> command_of(const Subject& subject, const Round& round);
Environment environment_of(const Subject& subject, const Round& round, const std::string& plan);

struct PlannedRun {
  nlohmann::json plan;
  std::string name;  // of its files
};

// Runs the program with each of the plans at the same time, until all have ended or the command is
// interrupted. Returns their exit statuses; -1: interrupted. Calls `tick` now and then.
std::vector<int> run_all(const Subject& subject, const Round& round,
                         const std::vector<PlannedRun>& runs, const std::function<void()>& tick);

// Throws if a file could not be written: without the file the state of some mutant is unknown.
void expect_written(const std::string& error);
// Appends a line.
void append(const std::string& path, const std::string& line);
void append(const std::string& path, const nlohmann::json& line);
// Throws if a process could not write a line. Such a process has made the file read-only
// (runtime/mutation/server.cc).
void expect_whole(const std::string& lines);

}  // namespace lockstep::exec
