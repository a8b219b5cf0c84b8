#include "harness/conform/ledger_monitor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "harness/conform/stop.h"
#include "harness/ledger/exit_guard.h"
#include "harness/ledger/session.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Reads the ledger of a running program: which property runs, and since when.
class LedgerMonitor {
 public:
  explicit LedgerMonitor(fs::path ledger) : path_(std::move(ledger)) {}

  // `seconds`: time since the program began.
  void look(double seconds) {
    std::error_code error;
    const auto written = fs::last_write_time(path_, error);
    if (error || written == seen_) return;
    std::string unreadable;
    if (!read_ledger(path_.string(), file_, unreadable)) return;
    seen_ = written;
    if (file_.running == running_) return;
    running_ = file_.running;
    since_ = seconds;
  }

  const LedgerFile& file() const { return file_; }
  // How long the running property has run, in seconds; 0 between properties.
  double property_seconds(double seconds) const { return running_.empty() ? 0 : seconds - since_; }

 private:
  fs::path path_;
  fs::file_time_type seen_{};
  LedgerFile file_;
  std::string running_;
  double since_ = 0;
};

struct Attempt {
  ProcessEnd end;
  LedgerFile file;
  std::string ledger_error;
  std::string log;  // text that the process printed

  bool died() const { return ledger_error.empty() && !file.complete; }
};

// The text after `begin` in the last line that begins so; empty: no such line.
std::string last_line(const std::string& text, const char* begin) {
  const std::size_t at = text.rfind(begin);
  if (at == text.npos) return "";
  const std::size_t from = at + std::strlen(begin);
  return text.substr(from, text.find('\n', from) - from);
}

// The property that ran when the process ended, with its case if known.
Record culprit_of(const Attempt& a) {
  Record r;
  r.property = a.file.running;
  r.reason = fmt::format("the process ended while it ran: {}", a.end.describe());
  std::ifstream log(a.log);
  std::string text{std::istreambuf_iterator<char>(log), {}};
  const std::size_t end = text.rfind("\n[ LEDGER ] The ");
  if (end == text.npos) return r;
  text.erase(0, end);
  r.minimal_case = last_line(text, exit_guard::kCase);
  r.replay = last_line(text, exit_guard::kReplay);
  if (!r.minimal_case.empty()) r.reason += "; its case: " + r.minimal_case;
  return r;
}

// Runs one process: the whole suite, or, in a later process, the properties `only`.
Attempt attempt(const Suite& suite, const SuiteProcesses& processes, int number,
                const std::vector<std::string>& only,
                const std::function<void(const LedgerFile&, double)>& tick) {
  const std::string stem = number == 1 ? suite.family : fmt::format("{}.{}", suite.family, number);
  const fs::path ledger = processes.ledgers / (stem + ".json");
  Command c = processes.command;
  c.argv.push_back("--ledger=" + ledger.string());
  if (!only.empty()) {
    c.argv.push_back(fmt::format("--gtest_filter={}", fmt::join(only, ":")));
    c.set["LOCKSTEP_EXPECT_KERNELS"] = "some";  // the remaining properties may launch no kernel
  }
  Attempt a;
  c.output = a.log = (processes.logs / (stem + ".log")).string();
  LedgerMonitor monitor(ledger);
  c.overrun = [&](double seconds) {
    if (const std::string reason = stop_reason(); !reason.empty()) return reason;
    return monitor.property_seconds(seconds) > processes.property_limit
               ? fmt::format("the limit of {:g} s for one property", processes.property_limit)
               : "";
  };
  a.end = run_process(c, [&](double seconds) {
    monitor.look(seconds);
    if (tick) tick(monitor.file(), seconds);
  });
  read_ledger(ledger.string(), a.file, a.ledger_error);
  return a;
}

void remove_earlier(const fs::path& folder, const std::string& family) {
  std::error_code error;
  for (const fs::directory_entry& e : fs::directory_iterator(folder, error)) {
    const std::string name = e.path().filename().string();
    if (name.starts_with(family + ".")) fs::remove(e.path(), error);
  }
}

}  // namespace

std::vector<std::string> left_over(const LedgerFile& file, bool died) {
  std::set<std::string> has_verdict;
  for (const Record& r : file.records) {
    if (r.verdict != Verdict::kNotRun || !r.reason.starts_with(kDeviceLostAfter))
      has_verdict.insert(r.property);
  }
  if (died && !file.running.empty()) has_verdict.insert(file.running);
  std::vector<std::string> left;
  for (const std::string& property : file.planned) {
    const bool recorded = std::any_of(file.records.begin(), file.records.end(),
                                      [&](const Record& r) { return r.property == property; });
    // If a program ends normally without a verdict for a property, it has an error. A second
    // process would hide it.
    if (!has_verdict.contains(property) && (died || recorded)) left.push_back(property);
  }
  // No property got a verdict, so a next process would not either.
  return has_verdict.empty() ? std::vector<std::string>{} : left;
}

void add_later(LedgerFile& whole, const LedgerFile& later) {
  for (const Record& r : later.records) {
    const auto old = std::find_if(whole.records.begin(), whole.records.end(),
                                  [&](const Record& o) { return o.property == r.property; });
    if (old == whole.records.end()) {
      whole.records.push_back(r);
    } else {
      *old = r;
    }
  }
  // Reports of the first process about properties that run later no longer apply.
  std::erase_if(whole.problems,
                [](const std::string& p) { return p.find(kDeviceLostAfter) != p.npos; });
  for (const std::string& p : later.problems) {
    if (std::find(whole.problems.begin(), whole.problems.end(), p) == whole.problems.end())
      whole.problems.push_back(p);
  }
}

SuiteResult run_in_processes(const Suite& suite, const SuiteProcesses& processes,
                             const std::function<void(const SuiteProgress&)>& tick) {
  remove_earlier(processes.ledgers, suite.family);
  remove_earlier(processes.logs, suite.family);
  Attempt whole;
  double before = 0;  // seconds of earlier processes
  const auto report = [&](const LedgerFile& now, double seconds) {
    if (!tick) return;
    // A later process plans only the properties that the earlier ones left.
    const std::size_t planned = std::max(whole.file.planned.size(), now.planned.size());
    const std::size_t open = now.planned.size() - std::min(now.planned.size(), now.records.size());
    tick({planned - open, planned, now.running, before + seconds});
  };
  whole = attempt(suite, processes, 1, {}, report);

  Attempt last = whole;
  ProcessEnd first_bad = whole.end;
  std::vector<std::string> cut_short;
  // Terminates: each process gives at least one property a verdict.
  for (int number = 2; last.ledger_error.empty(); ++number) {
    const std::vector<std::string> left = left_over(last.file, last.died());
    if (last.died() && !last.file.running.empty()) {
      LedgerFile culprit;
      culprit.records.push_back(culprit_of(last));
      add_later(whole.file, culprit);
      cut_short.push_back(
          fmt::format("{} ended before its end: {}", suite.family, last.end.describe()));
    }
    if (left.empty() || !stop_reason().empty()) break;
    before += last.end.seconds;
    last = attempt(suite, processes, number, left, report);
    add_later(whole.file, last.file);
    whole.end.seconds += last.end.seconds;
    if (first_bad.succeeded()) first_bad = last.end;
  }
  first_bad.seconds = whole.end.seconds;
  // The ledger is complete if later processes gave verdicts to all remaining properties.
  const bool ended =
      last.ledger_error.empty() && (last.file.complete || !last.file.running.empty());
  if (ended && whole.file.records.size() == whole.file.planned.size()) whole.file.complete = true;
  for (const std::string& p : cut_short) {
    if (std::find(whole.file.problems.begin(), whole.file.problems.end(), p) ==
        whole.file.problems.end())
      whole.file.problems.push_back(p);
  }
  SuiteResult result =
      assess(suite, std::move(first_bad), std::move(whole.file), whole.ledger_error);
  result.log = (processes.logs / (suite.family + ".log")).string();
  return result;
}

}  // namespace lockstep
