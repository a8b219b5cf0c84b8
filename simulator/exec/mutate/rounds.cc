#include "simulator/exec/mutate/rounds.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <utility>

#include "command/save_file.h"
#include "simulator/exec/mutate/judgement.h"
#include "simulator/exec/mutate/process.h"
#include "simulator/mutation/time_limit.h"

namespace lockstep::exec {

using nlohmann::json;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::atomic<bool> interrupted{false};

namespace {

constexpr auto kPoll = std::chrono::milliseconds(5);
constexpr auto kLook = std::chrono::milliseconds(1000);
// The exit status of a process that could not write its results (runtime/state/record.h).
constexpr int kUnwritten = 88;
// The time limit of a mutant, as a multiple of the whole unchanged program's time, and in seconds
// at least.
constexpr double kTimes = 4, kAtLeast = 3;
// An additional factor for runs with checks, if the survey ran without them, so that the checks'
// time kills no mutant.
constexpr double kTimesOfChecks = 8;
// The most instructions of a mutant's block, as a multiple of the largest launch, and at least.
constexpr std::uint64_t kMoreInstructions = 4, kLeastInstructions = 1'000'000;

// The launches of a mutant that --equivalents declares equivalent before the declaration is
// trusted. A wrong declaration shows in the first few launches.
constexpr int kEnough = 50;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
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

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Throws if a file could not be written: without the file the state of some mutant is unknown.
void expect_written(const std::string& error) {
  if (!error.empty()) throw std::runtime_error(error);
}
void append(const std::string& path, const json& line) {
  expect_written(command::append_to_file(
      path, line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"));
}

// Throws if a process of the round could not write a line. Such a process has made the file read-
// only (runtime/mutation/server.cc).
void expect_whole(const std::string& lines) {
  struct stat is {};
  if (stat(lines.c_str(), &is) != 0 || (is.st_mode & S_IWUSR) != 0) return;
  chmod(lines.c_str(), 0644);
  throw std::runtime_error(lines +
                           " cannot be written: what became of some mutants is not known; --resume "
                           "goes on when there is room");
}

// Runs the program with a plan until it ends or is interrupted. Returns its exit status.
int run(const Subject& subject, const Round& round, const json& plan, const std::string& name,
        const std::function<void()>& tick) {
  const std::string path = subject.folder + "/" + name + ".plan";
  expect_written(command::write_file(path, plan.dump()));
  Process process(command_of(subject, round), environment_of(subject, round, path),
                  subject.folder + "/" + name + ".log");
  for (auto next = Clock::now();;) {
    if (const auto status = process.poll()) return *status;
    if (interrupted) return -1;
    std::this_thread::sleep_for(kPoll);
    if (Clock::now() < next) continue;
    next = Clock::now() + kLook;
    tick();
  }
}

// The point of a run at which a mutant is reached.
struct Reached {
  std::uint64_t at = 0;   // the launch or call
  std::size_t parts = 0;  // index into Survey::sets
};

// Whether the parts that a mutant was found to have an effect in are those of this round. The round
// without checks of the whole program finds them.
bool knows_felt(const Round& round, const Survey& survey) {
  return round.checks && round.arguments.empty() && !survey.checks;
}

// `sets`: of the plan. Gets one that it lacks.
std::size_t index_of(const std::string& parts, json& sets) {
  const auto it = std::find(sets.begin(), sets.end(), parts);
  const auto index = static_cast<std::size_t>(it - sets.begin());
  if (it == sets.end()) sets.push_back(parts);
  return index;
}

json planned(const Mutant& m, const Reached& reached) {
  json j = {{"id", m.id}, {"at", reached.at}, {"parts", reached.parts}};
  if (m.excused) j["enough"] = kEnough;
  if (m.of_call) {
    j["site"] = m.site;
    j["change"] = m.call_change;
  } else {
    j["code"] = m.code;
    j["place"] = m.place;
  }
  return j;
}

double seconds_of_mutant(const Round& round, const Survey& survey) {
  return kAtLeast + kTimes * survey.seconds * (round.checks && !survey.checks ? kTimesOfChecks : 1);
}

json plan_of(const Subject& subject, const Round& round, const Survey& survey, const char* mode) {
  return {
      {"mode", mode},
      {"out", subject.folder + "/" + round.name + ".jsonl"},
      {"outputs", subject.folder + "/outputs"},
      {"jobs", subject.jobs},
      {"sets", survey.sets},
      {"compare", subject.compare},
      {"status", survey.status},
      {"parts", survey.part_count},
      {"counters", survey.counters},
      {"seconds", seconds_of_mutant(round, survey)},
      {"instruction_limit", std::max(kLeastInstructions, kMoreInstructions * survey.instructions)}};
}

bool went_otherwise(const std::string& lines) {
  std::ifstream file(lines);
  for (std::string line; std::getline(file, line);)
    if (line.find("\"otherwise\":true") != line.npos) return true;
  return false;
}

// The mutant whose launch was in progress when a server ended; 0 if none.
int tried(const std::string& lines) {
  std::ifstream file(lines + ".trying", std::ios::binary);
  int id = 0;
  file.read(reinterpret_cast<char*>(&id), sizeof id);
  return file ? id : 0;
}

// Runs one mutant in its own process, for programs that cannot be forked.
void run_alone(const Subject& subject, const Round& round, const Survey& survey,
               const Mutant& mutant, const Reached& reached) {
  json plan = plan_of(subject, round, survey, "become");
  plan["mutants"] = json::array({planned(mutant, {1, reached.parts})});
  const std::string name = "alone", path = subject.folder + "/" + name + ".plan";
  expect_written(command::write_file(path, plan.dump()));
  Environment set = environment_of(subject, round, path);
  mutation::TimeLimit limit(seconds_of_mutant(round, survey));
  bool late = false;
  int status = 0;
  {
    Process process(command_of(subject, round), set,
                    subject.folder + "/outputs/" + std::to_string(mutant.id) + ".txt");
    for (;;) {
      if (const auto ended = process.poll()) {
        status = *ended;
        break;
      }
      if (interrupted) return;
      late = limit.is_over(process.id());
      if (late) break;
      std::this_thread::sleep_for(kPoll);
    }
  }
  // In the format of wait(), like the lines that the parent of forked mutants writes.
  const int died = status >= 128 ? status - 128 : status << 8;
  append(subject.folder + "/" + round.name + ".jsonl",
         {{"id", mutant.id}, {"died", died}, {"seconds", limit.elapsed()}, {"late", late}});
}

}  // namespace

bool make_survey(const Subject& subject, const Round& round, Survey* survey, std::string* error) {
  const std::string name = "survey-" + round.name, out = subject.folder + "/" + name + ".json";
  std::error_code ignored;
  fs::remove(out, ignored);
  const auto begin = Clock::now();
  const int status = run(subject, round, {{"mode", "survey"}, {"out", out}}, name, [] {});
  survey->seconds = seconds_since(begin);
  survey->checks = round.checks;
  if (interrupted) {
    *error = "interrupted";
  } else if (status == kUnwritten) {
    *error = out + " cannot be written; what the program printed is in " + subject.folder + "/" +
             name + ".log";
  } else if (status != 0) {
    *error = "the unchanged program ends with status " + std::to_string(status) +
             (round.checks ? "" : " when no checks run") +
             ": tests that fail by themselves cannot judge mutants. What it printed is in " +
             subject.folder + "/" + name + ".log";
  } else if (!read_survey(out, survey)) {
    *error = "the program launched no kernel on the simulated GPU: there is nothing to change";
  } else {
    return true;
  }
  return false;
}

bool run_round(const Subject& subject, const Round& round, const Survey& survey,
               std::vector<Mutant>& mutants, const std::function<void(int done, int of)>& done) {
  std::unordered_map<std::string, Reached> at;
  for (std::size_t i = 0; i < survey.mutants.size(); ++i)
    at[survey.mutants[i].key()] = {survey.at[i], survey.parts[i]};
  std::vector<std::pair<Reached, Mutant*>> left;
  for (Mutant& m : mutants) {
    if (m.trusted || (m.verdict != Verdict::kNotJudged && m.verdict != Verdict::kSurvived))
      continue;
    if (const auto it = at.find(m.key()); it != at.end() && it->second.at != 0)
      left.emplace_back(it->second, &m);
  }
  const std::size_t of = left.size();
  const std::string lines = subject.folder + "/" + round.name + ".jsonl";
  std::error_code ignored;
  fs::create_directories(subject.folder + "/outputs", ignored);
  Traces file(lines);
  for (const auto& [when, m] : left) {
    const bool felt_nowhere = knows_felt(round, survey) && m->felt && m->felt->empty();
    if (!felt_nowhere || file.read().contains(m->id)) continue;
    append(lines, {{"id", m->id}, {"end", survey.status}});
    append(lines, {{"id", m->id}, {"died", survey.status << 8}});
  }
  const auto count = [&] {
    const auto& traces = file.read();
    return static_cast<int>(std::count_if(left.begin(), left.end(), [&](const auto& m) {
      return traces.contains(m.second->id) && traces.at(m.second->id).over();
    }));
  };
  std::stable_sort(left.begin(), left.end(),
                   [](const auto& a, const auto& b) { return a.first.at < b.first.at; });
  // Repeats once, for mutants that were left out because the program ended unexpectedly. Repeats
  // again whenever a mutant ended the program; that mutant then runs alone.
  for (int times = 0; times < 2 && !interrupted;) {
    const auto& traces = file.read();
    json plan = plan_of(subject, round, survey, "serve");
    plan["mutants"] = json::array();
    for (const auto& [when, m] : left) {
      const auto known = traces.find(m->id);
      if (known != traces.end() && known->second.over()) continue;
      Reached reached = when;
      if (m->felt && knows_felt(round, survey)) reached.parts = index_of(*m->felt, plan["sets"]);
      plan["mutants"].push_back(planned(*m, reached));
    }
    if (plan["mutants"].empty()) break;
    fs::remove(lines + ".trying", ignored);
    const int status = run(subject, round, plan, "serve-" + round.name,
                           [&] { done(count(), static_cast<int>(of)); });
    expect_whole(lines);
    const int culprit = status == survey.status || interrupted ? 0 : tried(lines);
    if (culprit == 0) {
      if (went_otherwise(lines)) {
        fs::remove(lines, ignored);
        return false;
      }
      ++times;
    } else {
      append(lines, {{"id", culprit}, {"skipped", "it ends the process that tries it"}});
    }
  }
  const auto& traces = file.read();
  for (const auto& [when, m] : left) {
    const auto known = traces.find(m->id);
    if (known == traces.end() || known->second.skipped.empty() || known->second.died || interrupted)
      continue;
    run_alone(subject, round, survey, *m, when);
    expect_whole(lines);
    done(count(), static_cast<int>(of));
  }
  file.read();
  for (const auto& [when, m] : left) {
    const auto known = traces.find(m->id);
    if (known == traces.end() || !known->second.died) continue;
    const std::string output = subject.folder + "/outputs/" + std::to_string(m->id) + ".txt";
    const Judgement judgement =
        judge_trace(known->second, survey.status, round.checks, text_of(output));
    if (!judgement.reason.empty() && known->second.reason.empty())
      append(lines, {{"id", m->id}, {"reason", judgement.reason}});
    m->verdict = judgement.verdict;
    m->reason = judgement.reason;
    m->seconds += known->second.seconds;
    if (!round.checks && round.arguments.empty()) m->felt = known->second.felt;
    fs::remove(output, ignored);
  }
  done(static_cast<int>(of), static_cast<int>(of));
  return true;
}

}  // namespace lockstep::exec
