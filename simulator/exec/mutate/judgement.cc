#include "simulator/exec/mutate/judgement.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace lockstep::exec {
namespace {

// The first line of a test program's output that reports a failure, in GoogleTest's format or
// another.
std::string failure_line(const std::string& output) {
  std::istringstream lines(output);
  std::string line, first;
  while (std::getline(lines, line)) {
    if (const std::size_t at = line.find("[  FAILED  ] "); at != std::string::npos)
      return line.substr(at + 13, line.find(" (", at) - at - 13);
    const bool names_failure = line.find("rror") != std::string::npos ||
                               line.find("ail") != std::string::npos ||
                               line.find("FAIL") != std::string::npos;
    if (first.empty() && names_failure) first = line.substr(0, 200);
  }
  return first;
}

void add(const std::string& line, std::map<int, Trace>& traces) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("id")) return;
  try {
    Trace& t = traces[json.at("id")];
    if (json.contains("end")) t.ended = true, t.end = json.at("end");
    if (json.contains("part")) t.part = std::max<std::uint64_t>(t.part, json.at("part"));
    if (json.contains("felt")) t.felt = json.at("felt");
    if (json.contains("reason")) t.reason = json.at("reason");
    if (json.contains("refused")) t.refused = json.at("refused");
    if (json.contains("skipped")) t.skipped = json.at("skipped");
    if (json.contains("finding") && t.finding.empty())
      t.finding = json.at("finding"), t.text = json.value("text", "");
    if (json.contains("died"))
      t.died = true, t.status = json.at("died"), t.seconds = json.value("seconds", 0.0),
      t.late = json.value("late", false);
  } catch (const std::exception&) {
    return;
  }
}

bool is_of_time(const std::string& kind) {
  return kind == "time-limit" || kind == "deadlock" || kind == "livelock";
}

}  // namespace

const std::map<int, Trace>& Traces::read() {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(read_);
  for (std::string line;
       std::getline(file, line) && !file.eof();) {  // a line without its end is still being written
    read_ += static_cast<std::streamoff>(line.size()) + 1;
    add(line, traces_);
  }
  return traces_;
}

Judgement judge_trace(const Trace& t, int usual, bool checks, const std::string& output) {
  if (!t.refused.empty()) return {Verdict::kInvalid, t.refused};
  if (!t.died) return {Verdict::kNotJudged, t.skipped};
  if (t.late) return {Verdict::kKilledByTime, "ran longer than it may"};
  if (t.ended) {
    if (t.end != usual) {
      if (is_of_time(t.finding)) return {Verdict::kKilledByTime, t.finding};
      if (checks && !t.finding.empty()) return {Verdict::kKilledByChecks, t.finding};
      std::string reason = t.reason.empty() ? failure_line(output) : t.reason;
      if (reason.empty())
        reason = t.finding.empty() ? "exit status " + std::to_string(t.end) : t.finding;
      return {Verdict::kKilledByLaw, reason};
    }
    if (!t.finding.empty()) return {Verdict::kKilledByChecks, t.finding};
    return {Verdict::kSurvived, ""};
  }
  if (WIFSIGNALED(t.status))
    return {Verdict::kKilledByCrash, std::string("signal ") + strsignal(WTERMSIG(t.status))};
  // The process called _exit.
  if (WEXITSTATUS(t.status) != usual)
    return {Verdict::kKilledByLaw, "exit status " + std::to_string(WEXITSTATUS(t.status))};
  return {t.finding.empty() ? Verdict::kSurvived : Verdict::kKilledByChecks, t.finding};
}

}  // namespace lockstep::exec
