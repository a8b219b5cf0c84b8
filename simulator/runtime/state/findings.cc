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

json frames(const check::HostStack& stack) {
  json array = json::array();
  for (const check::HostFrame& f : stack.frames)
    array.push_back({{"function", f.function},
                     {"file", f.file},
                     {"line", f.line},
                     {"object", f.object},
                     {"offset", f.offset}});
  return array;
}

bool is_error(const check::Finding& f) { return f.severity == check::Severity::kError; }

// The kind in red (of information, yellow), places in cyan.
std::string coloured(const std::string& text, bool error) {
  constexpr const char *kRed = "\033[1;31m", *kYellow = "\033[1;33m", *kCyan = "\033[36m",
                       *kPlain = "\033[0m";
  const std::size_t kind = text.find_first_of(":\n");
  std::string out = error ? kRed : kYellow;
  out += text.substr(0, kind) + kPlain;
  for (std::size_t at = kind; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at + 1), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t word = line.find_first_not_of("\n ");
    const bool place = word != line.npos && line.compare(word, 3, "at ") == 0;
    out += place ? line.substr(0, word + 3) + kCyan + line.substr(word + 3) + kPlain : line;
    at = end;
  }
  return out;
}

// Runs after the program's own exit handlers and destructors, because it is registered when the
// library is loaded.
void show_in_exit_status(int status, void* log) {
  if (status != 0 || !static_cast<const FindingLog*>(log)->errors_untaken()) return;
  if (!static_cast<const FindingLog*>(log)->quiet())
    std::fprintf(stderr, "lockstep: errors were found: the exit status is %d instead of 0\n",
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
  const std::string text = finding.to_string();
  std::fprintf(stderr, "%s\n", (colours_ ? coloured(text, is_error(finding)) : text).c_str());
  std::fflush(stderr);
}

check::UniqueFindings::Added FindingLog::keep(check::Finding finding, bool suppressed, bool once) {
  const auto added = once ? kept_.add(std::move(finding))
                          : check::UniqueFindings::Added{kept_.add_apart(std::move(finding))};
  State& state = states_[added.number];
  if (added.fresh) {
    state.suppressed = suppressed;
    if (!suppressed) print(kept_.find(added.number)->finding);
  } else {
    state.changed = true;
  }
  return added;
}

Reported FindingLog::reported(std::uint64_t number) {
  return {number, states_[number].suppressed, kept_.find(number)->finding};
}

std::vector<Reported> FindingLog::add(std::vector<check::Finding> findings, bool suppressed) {
  std::lock_guard lock(mutex_);
  std::vector<Reported> fresh;
  for (check::Finding& f : findings) {
    const auto added = keep(std::move(f), suppressed, count_repeats_);
    if (added.fresh) fresh.push_back(reported(added.number));
  }
  return fresh;
}

std::uint64_t FindingLog::add_failure(check::Finding finding, bool suppressed,
                                      std::optional<Reported>* first) {
  std::lock_guard lock(mutex_);
  const auto added = keep(std::move(finding), suppressed, /*once=*/true);
  ++states_[added.number].not_looked_at;
  if (added.fresh) {
    *first = reported(added.number);
  } else {
    kept_.find(added.number)->finding.severity = check::Severity::kError;
  }
  return added.number;
}

std::optional<Reported> FindingLog::looked_at(std::uint64_t number, std::uint64_t times) {
  std::lock_guard lock(mutex_);
  auto* const kept = kept_.find(number);
  if (kept == nullptr) return std::nullopt;
  State& state = states_[number];
  state.not_looked_at -= std::min(times, state.not_looked_at);
  if (state.not_looked_at != 0) return std::nullopt;
  kept->finding.severity = check::Severity::kInformation;
  state.changed = true;
  return std::exchange(state.informed, true) ? std::nullopt : std::optional(reported(number));
}

void FindingLog::again(std::uint64_t number) {
  std::lock_guard lock(mutex_);
  auto* const kept = kept_.find(number);
  if (kept == nullptr) return;
  ++kept->finding.occurrences;
  states_[number].changed = true;
}

std::vector<Reported> FindingLog::changed() const {
  std::lock_guard lock(mutex_);
  std::vector<Reported> result;
  for (const auto& kept : kept_.all()) {
    const State& state = states_.at(kept.number);
    if (state.changed) result.push_back({kept.number, state.suppressed, kept.finding});
  }
  return result;
}

std::vector<check::Finding> FindingLog::take() {
  std::lock_guard lock(mutex_);
  std::vector<check::Finding> taken;
  for (auto& kept : kept_.all()) {
    if (!states_.at(kept.number).suppressed) taken.push_back(std::move(kept.finding));
  }
  kept_.take();
  states_.clear();
  return taken;
}

bool FindingLog::errors_untaken() const {
  std::lock_guard lock(mutex_);
  return std::any_of(kept_.all().begin(), kept_.all().end(), [&](const auto& kept) {
    return !states_.at(kept.number).suppressed && is_error(kept.finding);
  });
}

bool FindingLog::set_quiet(bool quiet) {
  std::lock_guard lock(mutex_);
  return std::exchange(quiet_, quiet);
}

void FindingLog::set_colours(bool colours) {
  std::lock_guard lock(mutex_);
  colours_ = colours;
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
    for (const check::HostStack& stack : f.host_stacks)
      out["host_stacks"].push_back({{"what", stack.what}, {"frames", frames(stack)}});
    array.push_back(std::move(out));
  }
  // Names come from programs and may hold anything: bytes that are not UTF-8 are replaced.
  return array.dump(-1, ' ', false, json::error_handler_t::replace);
}

void watch_exit(const FindingLog* log) {
  on_exit(show_in_exit_status, const_cast<FindingLog*>(log));
}

}  // namespace lockstep::runtime
