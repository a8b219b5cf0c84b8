#include "simulator/exec/mutate/rounds.h"

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
#include "simulator/exec/mutate/planned_run.h"
#include "simulator/exec/mutate/process.h"
#include "simulator/exec/mutate/shares.h"
#include "simulator/mutation/time_limit.h"

namespace lockstep::exec {

using nlohmann::json;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::atomic<bool> interrupted{false};

namespace {

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

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
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
  if (m.verdict == Verdict::kSurvived) j["survived"] = true;
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

bool has_line_with(const std::string& lines, const std::string& text) {
  std::ifstream file(lines);
  for (std::string line; std::getline(file, line);)
    if (line.find(text) != line.npos) return true;
  return false;
}

bool went_otherwise(const std::string& lines) { return has_line_with(lines, "\"otherwise\":true"); }

// Throws if the unchanged program has a finding: it would count as one of every mutant. Removes the
// lines then, because verdicts in them may rest on that finding.
void expect_no_finding(const std::string& lines) {
  std::ifstream file(lines);
  for (std::string line; std::getline(file, line);) {
    if (line.find("\"unchanged\":true") == line.npos) continue;
    const json finding = json::parse(line, nullptr, false);
    if (!finding.is_object()) continue;
    std::error_code ignored;
    fs::remove(lines, ignored);
    throw std::runtime_error(
        "the unchanged program has findings, so that checks cannot judge its mutants. Repair them, "
        "or suppress them (LOCKSTEP_SUPPRESSIONS). The first one:\n" +
        finding.value("text", ""));
  }
}

// Makes a run that of one share of the parts (runtime/mutation/plan.h).
void of_share(std::size_t share, std::size_t shares, PlannedRun* run) {
  if (shares <= 1) return;
  run->plan["share"] = share;
  run->plan["shares"] = shares;
  run->name += "-" + std::to_string(share);
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

// A mutant to be judged, and where a run reaches it.
using Left = std::pair<Reached, Mutant*>;

// Those that the round has not judged yet.
json plan_of_rest(const Subject& subject, const Round& round, const Survey& survey,
                  const std::vector<Left>& left, const std::map<int, Trace>& traces) {
  json plan = plan_of(subject, round, survey, "serve");
  plan["mutants"] = json::array();
  for (const auto& [when, m] : left) {
    const auto known = traces.find(m->id);
    if (known != traces.end() && known->second.over()) continue;
    Reached reached = when;
    if (m->felt && knows_felt(round, survey)) reached.parts = index_of(*m->felt, plan["sets"]);
    plan["mutants"].push_back(planned(*m, reached));
  }
  return plan;
}

// The most processes that judge shares of a program.
constexpr int kMostShares = 16;

// In how many shares of the program's parts the mutants are judged. Survivors need all parts.
// Others are mostly killed in each share, which costs more than it saves.
std::size_t shares_of(const Subject& subject, const Survey& survey, const std::vector<Left>& left) {
  const int shares = std::min(subject.jobs, kMostShares);
  constexpr std::uint64_t kLeastParts = 4;  // of a share
  if (!subject.compare || survey.part_count < kLeastParts * static_cast<std::uint64_t>(shares))
    return 1;
  if (std::any_of(left.begin(), left.end(), [](const Left& m) { return m.second->of_call; }))
    return 1;
  const auto survivors = std::count_if(left.begin(), left.end(), [](const Left& m) {
    return m.second->verdict == Verdict::kSurvived;
  });
  return 2 * static_cast<std::size_t>(survivors) >= left.size() ? static_cast<std::size_t>(shares)
                                                                : 1;
}

// Judges the plan's mutants in shares of the program's parts. Appends what is known then to
// `lines`.
void run_shares(const Subject& subject, const Round& round, const Survey& survey, const json& plan,
                std::size_t shares, const std::string& lines, const std::function<void()>& tick) {
  std::vector<PlannedRun> runs;
  std::vector<Share> ended;
  std::error_code ignored;
  const auto outputs = [&](std::size_t n) {
    return subject.folder + "/outputs-" + std::to_string(n);
  };
  for (std::size_t n = 0; n < shares; ++n) {
    PlannedRun& r = runs.emplace_back(PlannedRun{plan, "serve-" + round.name});
    of_share(n, shares, &r);
    ended.push_back({subject.folder + "/" + round.name + "-" + std::to_string(n) + ".jsonl"});
    r.plan["out"] = ended[n].lines;
    r.plan["outputs"] = outputs(n);
    r.plan["jobs"] = 1;
    fs::remove(ended[n].lines, ignored);
    fs::create_directories(outputs(n), ignored);
  }
  const std::vector<int> statuses = run_all(subject, round, runs, tick);
  std::vector<int> ids;
  for (const json& m : plan["mutants"]) ids.push_back(m.at("id"));
  for (std::size_t n = 0; n < shares; ++n) {
    expect_whole(ended[n].lines);
    expect_no_finding(ended[n].lines);
    ended[n].whole = statuses[n] == survey.status &&
                     has_line_with(ended[n].lines, "\"whole\":true") &&
                     !went_otherwise(ended[n].lines);
  }
  const JoinedLines joined = joined_lines(ended, ids, survey.status, round.checks);
  for (const std::string& line : joined.lines) append(lines, line);
  for (const auto& [id, share] : joined.killed_by) {
    const std::string name = "/" + std::to_string(id) + ".txt";
    fs::rename(outputs(share) + name, subject.folder + "/outputs" + name, ignored);
  }
  for (std::size_t n = 0; n < shares; ++n) {
    fs::remove_all(outputs(n), ignored);
    for (const char* end : {"", ".trying"}) fs::remove(ended[n].lines + end, ignored);
  }
}

}  // namespace

bool make_survey(const Subject& subject, const Round& round, Survey* survey, std::string* error) {
  std::vector<PlannedRun> runs;
  for (std::size_t n = 0; n < subject.survey_shares; ++n) {
    PlannedRun& r = runs.emplace_back(PlannedRun{{{"mode", "survey"}}, "survey-" + round.name});
    of_share(n, subject.survey_shares, &r);
    r.plan["out"] = subject.folder + "/" + r.name + ".json";
    std::error_code ignored;
    fs::remove(subject.folder + "/" + r.name + ".json", ignored);
  }
  const auto begin = Clock::now();
  const std::vector<int> statuses = run_all(subject, round, runs, [] {});
  std::vector<Survey> shares;
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const std::string path = subject.folder + "/" + runs[n].name, out = path + ".json";
    Survey& share = shares.emplace_back();
    share.checks = round.checks;
    if (n == 0) share.seconds = seconds_since(begin) * static_cast<double>(runs.size());
    if (interrupted) {
      *error = "interrupted";
    } else if (statuses[n] == kUnwritten) {
      *error = out + " cannot be written; what the program printed is in " + path + ".log";
    } else if (statuses[n] != 0) {
      *error = "the unchanged program ends with status " + std::to_string(statuses[n]) +
               (round.checks ? "" : " when no checks run") +
               ": tests that fail by themselves cannot judge mutants. What it printed is in " +
               path + ".log";
    } else {
      if (!read_survey(out, &share)) shares.pop_back();
      continue;
    }
    return false;
  }
  if (shares.empty()) {
    *error = "the program launched no kernel on the simulated GPU: there is nothing to change";
    return false;
  }
  *survey = shares.size() == 1 ? std::move(shares[0]) : joined_surveys(std::move(shares));
  return true;
}

bool run_round(const Subject& subject, const Round& round, const Survey& survey,
               std::vector<Mutant>& mutants, const std::function<void(int done, int of)>& done) {
  std::unordered_map<std::string, Reached> at;
  for (std::size_t i = 0; i < survey.mutants.size(); ++i)
    at[survey.mutants[i].key()] = {survey.at[i], survey.parts[i]};
  std::vector<Left> left;
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
  if (const std::size_t shares = shares_of(subject, survey, left); shares > 1) {
    const json plan = plan_of_rest(subject, round, survey, left, file.read());
    if (!plan["mutants"].empty())
      run_shares(subject, round, survey, plan, shares, lines,
                 [&] { done(count(), static_cast<int>(of)); });
  }
  // Repeats once, for mutants that were left out because the program ended unexpectedly. Repeats
  // again whenever a mutant ended the program; that mutant then runs alone.
  for (int times = 0; times < 2 && !interrupted;) {
    const auto& traces = file.read();
    const json plan = plan_of_rest(subject, round, survey, left, traces);
    if (plan["mutants"].empty()) break;
    fs::remove(lines + ".trying", ignored);
    const int status = run_all(subject, round, {{plan, "serve-" + round.name}},
                               [&] { done(count(), static_cast<int>(of)); })[0];
    expect_whole(lines);
    expect_no_finding(lines);
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
