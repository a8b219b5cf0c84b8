#include "simulator/runtime/findings.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace lockstep::runtime {
namespace {

using nlohmann::json;

json coordinates(const check::Dim3& d) { return json::array({d.x, d.y, d.z}); }

void put_access(json& out, const check::Access& access) {
  out["block"] = coordinates(access.block);
  out["thread"] = coordinates(access.thread);
  out["address"] = access.address;
  out["size"] = access.size;
  out["write"] = access.is_write;
  out["atomic"] = access.is_atomic;
  out["file"] = access.site.file;
  out["line"] = access.site.line;
  out["inlined_into"] = access.site.inlined_into;
  out["ptx_line"] = access.site.ptx_line;
  out["instruction"] = access.site.instruction;
}

bool is_error(const check::Finding& f) { return f.severity == check::Severity::kError; }

// Runs after the program's own exit handlers and destructors, because it is registered when the library is loaded.
void tell_exit_status(int status, void* log) {
  if (status != 0 || !static_cast<const FindingLog*>(log)->errors_untaken()) return;
  std::fprintf(stderr, "lockstep: errors were found in kernels and nobody took them: the exit status is %d instead of 0\n", kExitWithFindings);
  std::fflush(nullptr);
  _exit(kExitWithFindings);
}

}  // namespace

void FindingLog::add(std::vector<check::Finding> findings) {
  std::lock_guard lock(mutex_);
  if (!quiet_ && !findings.empty()) {
    std::fflush(stdout);  // what the program printed before stays before
    for (const check::Finding& f : findings) std::fprintf(stderr, "%s\n", f.to_string().c_str());
    std::fflush(stderr);
  }
  std::move(findings.begin(), findings.end(), std::back_inserter(kept_));
}

std::vector<check::Finding> FindingLog::take() {
  std::lock_guard lock(mutex_);
  return std::exchange(kept_, {});
}

bool FindingLog::errors_untaken() const {
  std::lock_guard lock(mutex_);
  return std::any_of(kept_.begin(), kept_.end(), is_error);
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
    out["occurrences"] = f.occurrences;
    out["text"] = f.to_string();
    if (f.other) put_access(out["other"], *f.other);
    array.push_back(std::move(out));
  }
  // Names come from programs and may hold anything: bytes that are not UTF-8 are replaced.
  return array.dump(-1, ' ', false, json::error_handler_t::replace);
}

void watch_exit(const FindingLog* log) { on_exit(tell_exit_status, const_cast<FindingLog*>(log)); }

}  // namespace lockstep::runtime
