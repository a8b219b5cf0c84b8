#include "simulator/runtime/state/findings.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "simulator/runtime/state/output_signals.h"

namespace lockstep::runtime {
namespace {

using nlohmann::json;

json coordinates(const check::Dim3& d) { return json::array({d.x, d.y, d.z}); }

json site(const check::Site& s) {
  return {{"file", s.file},
          {"line", s.line},
          {"inlined_into", s.inlined_into},
          {"ptx_line", s.ptx_line},
          {"instruction", s.instruction}};
}

void put_access(json& out, const check::Access& access) {
  out["block"] = coordinates(access.block);
  out["thread"] = coordinates(access.thread);
  out["address"] = access.address;
  out["size"] = access.size;
  out["write"] = access.is_write;
  out["atomic"] = access.is_atomic;
  if (!access.operation.empty()) out["operation"] = access.operation;
  out.update(site(access.site));
}

bool is_error(const check::Finding& f) { return f.severity == check::Severity::kError; }

// Runs after the program's own exit handlers and destructors, because it is registered when the
// library is loaded.
void show_in_exit_status(int status, void* log) {
  if (status != 0 || !static_cast<const FindingLog*>(log)->errors_untaken()) return;
  std::fprintf(
      stderr,
      "lockstep: errors were found and nobody took them: the exit status is %d instead of 0\n",
      kExitWithFindings);
  std::fflush(nullptr);
  _exit(kExitWithFindings);
}

}  // namespace

void FindingLog::count_repeats() {
  std::lock_guard lock(mutex_);
  count_repeats_ = true;
}

void FindingLog::print(const check::Finding& finding) const {
  if (quiet_) return;
  const OutputSignalsHeldBack held_back;
  std::fflush(stdout);  // what the program printed before stays before
  std::fprintf(stderr, "%s\n", finding.to_string().c_str());
  std::fflush(stderr);
}

FindingLog::Entry& FindingLog::keep(check::Finding finding, bool suppressed) {
  if (!suppressed) print(finding);
  return kept_.emplace_back(Entry{{++last_number_, suppressed, std::move(finding)}});
}

FindingLog::Entry* FindingLog::find(std::uint64_t number) {
  const auto it = std::find_if(kept_.begin(), kept_.end(),
                               [&](const Entry& e) { return e.reported.number == number; });
  return it == kept_.end() ? nullptr : &*it;
}

std::vector<Reported> FindingLog::add(std::vector<check::Finding> findings, bool suppressed) {
  std::lock_guard lock(mutex_);
  std::vector<Reported> fresh;
  for (check::Finding& f : findings) {
    if (count_repeats_ && !f.by_host()) {
      const auto same = [&](const Entry& e) {
        return !e.reported.finding.by_host() && check::same_place(e.reported.finding, f);
      };
      if (const auto known = std::find_if(kept_.begin(), kept_.end(), same); known != kept_.end()) {
        known->reported.finding.occurrences += f.occurrences;
        known->changed = true;
        continue;
      }
    }
    fresh.push_back(keep(std::move(f), suppressed).reported);
  }
  return fresh;
}

std::vector<Reported> FindingLog::add_of_call(check::Finding finding, const void* caller,
                                              bool suppressed) {
  std::lock_guard lock(mutex_);
  const auto same = [&](const Entry& e) {
    return e.caller == caller && e.reported.finding.kind == finding.kind;
  };
  const auto known = count_repeats_ && caller != nullptr
                         ? std::find_if(kept_.begin(), kept_.end(), same)
                         : kept_.end();
  if (known != kept_.end()) {
    ++known->reported.finding.occurrences;
    known->changed = true;
    return {};
  }
  Entry& entry = keep(std::move(finding), suppressed);
  entry.caller = caller;
  return {entry.reported};
}

std::uint64_t FindingLog::add_failure(check::Finding finding, bool suppressed,
                                      std::optional<Reported>* first) {
  std::lock_guard lock(mutex_);
  const auto same = [&](const Entry& e) {
    const check::Finding& f = e.reported.finding;
    return f.kind == finding.kind && f.call == finding.call && f.error == finding.error &&
           f.kernel == finding.kernel && f.access.address == finding.access.address &&
           (!f.call.empty() || f.where == finding.where);
  };
  const auto known = std::find_if(kept_.begin(), kept_.end(), same);
  const bool fresh = known == kept_.end();
  Entry& entry = fresh ? keep(std::move(finding), suppressed) : *known;
  ++entry.not_looked_at;
  if (fresh) {
    *first = entry.reported;
  } else {
    ++entry.reported.finding.occurrences;
    entry.reported.finding.severity = check::Severity::kError;
    entry.changed = true;
  }
  return entry.reported.number;
}

std::optional<Reported> FindingLog::looked_at(std::uint64_t number, std::uint64_t times) {
  std::lock_guard lock(mutex_);
  Entry* entry = find(number);
  if (entry == nullptr || (entry->not_looked_at -= std::min(times, entry->not_looked_at)) != 0)
    return std::nullopt;
  entry->reported.finding.severity = check::Severity::kInformation;
  entry->changed = true;
  return std::exchange(entry->informed, true) ? std::nullopt : std::optional(entry->reported);
}

void FindingLog::again(std::uint64_t number) {
  std::lock_guard lock(mutex_);
  if (Entry* entry = find(number)) {
    ++entry->reported.finding.occurrences;
    entry->changed = true;
  }
}

std::vector<Reported> FindingLog::changed() const {
  std::lock_guard lock(mutex_);
  std::vector<Reported> result;
  for (const Entry& e : kept_) {
    if (e.changed) result.push_back(e.reported);
  }
  return result;
}

std::vector<check::Finding> FindingLog::take() {
  std::lock_guard lock(mutex_);
  std::vector<check::Finding> taken;
  for (Entry& e : kept_) {
    if (!e.reported.suppressed) taken.push_back(std::move(e.reported.finding));
  }
  kept_.clear();
  return taken;
}

bool FindingLog::errors_untaken() const {
  std::lock_guard lock(mutex_);
  return std::any_of(kept_.begin(), kept_.end(), [](const Entry& e) {
    return !e.reported.suppressed && is_error(e.reported.finding);
  });
}

bool FindingLog::set_quiet(bool quiet) {
  std::lock_guard lock(mutex_);
  return std::exchange(quiet_, quiet);
}

bool FindingLog::quiet() const {
  std::lock_guard lock(mutex_);
  return quiet_;
}

std::string to_json(const std::vector<check::Finding>& findings) {
  json array = json::array();
  for (const check::Finding& f : findings) {
    json out;
    out["kind"] = check::name(f.kind);
    out["severity"] = is_error(f) ? "error" : "information";
    out["kernel"] = f.kernel;
    out["space"] = f.space;
    put_access(out, f.access);
    out["where"] = f.where;
    out["detail"] = f.detail;
    if (!f.call.empty()) out["call"] = f.call;
    if (!f.error.empty()) out["error"] = f.error;
    if (f.origin) out["origin"] = site(*f.origin);
    if (f.survived) out["survived"] = true;
    out["occurrences"] = f.occurrences;
    out["text"] = f.to_string();
    if (f.other) put_access(out["other"], *f.other);
    array.push_back(std::move(out));
  }
  // Names come from programs and may hold anything: bytes that are not UTF-8 are replaced.
  return array.dump(-1, ' ', false, json::error_handler_t::replace);
}

void watch_exit(const FindingLog* log) {
  on_exit(show_in_exit_status, const_cast<FindingLog*>(log));
}

}  // namespace lockstep::runtime
