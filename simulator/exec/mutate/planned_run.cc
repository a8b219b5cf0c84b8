#include "simulator/exec/mutate/planned_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>

#include "command/save_file.h"
#include "simulator/exec/mutate/process.h"

namespace lockstep::exec {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {
constexpr auto kLook = std::chrono::milliseconds(1000);
}

std::vector<std::string> command_of(const Subject& subject, const Round& round) {
  std::vector<std::string> command = subject.command;
  command.insert(command.end(), round.arguments.begin(), round.arguments.end());
  return command;
}

Environment environment_of(const Subject& subject, const Round& round, const std::string& plan) {
  Environment set = subject.set;
  set["LOCKSTEP_MUTATION"] = plan;
  set["LOCKSTEP_QUIET"] = "1";
  if (!round.checks) set["LOCKSTEP_CHECKS"] = "none";
  return set;
}

std::vector<int> run_all(const Subject& subject, const Round& round,
                         const std::vector<PlannedRun>& runs, const std::function<void()>& tick) {
  std::vector<std::unique_ptr<Process>> processes;
  for (const PlannedRun& r : runs) {
    const std::string path = subject.folder + "/" + r.name + ".plan";
    expect_written(command::write_file(path, r.plan.dump()));
    processes.push_back(std::make_unique<Process>(command_of(subject, round),
                                                  environment_of(subject, round, path),
                                                  subject.folder + "/" + r.name + ".log"));
  }
  for (auto next = Clock::now();;) {
    std::vector<int> statuses;
    for (const auto& process : processes) {
      if (const auto status = process->poll()) statuses.push_back(*status);
    }
    if (statuses.size() == processes.size()) return statuses;
    if (interrupted) return std::vector<int>(processes.size(), -1);
    std::this_thread::sleep_for(kPoll);
    if (Clock::now() < next) continue;
    next = Clock::now() + kLook;
    tick();
  }
}

void expect_written(const std::string& error) {
  if (!error.empty()) throw std::runtime_error(error);
}

void append(const std::string& path, const std::string& line) {
  expect_written(command::append_to_file(path, line + "\n"));
}

void append(const std::string& path, const json& line) {
  append(path, line.dump(-1, ' ', false, json::error_handler_t::replace));
}

void expect_whole(const std::string& lines) {
  struct stat is {};
  if (stat(lines.c_str(), &is) != 0 || (is.st_mode & S_IWUSR) != 0) return;
  chmod(lines.c_str(), 0644);
  throw std::runtime_error(lines +
                           " cannot be written: what became of some mutants is not known; --resume "
                           "goes on when there is room");
}

}  // namespace lockstep::exec
