#include "simulator/runtime/state/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {
namespace {

using nlohmann::json;

// One write a line: lines of several processes do not mix in a file opened for appending.
void put(int file, json line) {
  line["pid"] = getpid();
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const char* from = text.data();
  std::size_t left = text.size();
  while (left > 0) {
    const ssize_t done = write(file, from, left);
    if (done <= 0) return;
    from += done;
    left -= static_cast<std::size_t>(done);
  }
}

json counters_json(const engine::Counters& c) {
  return {{"warp_instructions", c.warp_instructions},
          {"thread_instructions", c.thread_instructions},
          {"global_load_requests", c.global_load_requests},
          {"global_load_sectors", c.global_load_sectors},
          {"global_load_lines", c.global_load_lines},
          {"global_store_requests", c.global_store_requests},
          {"global_store_sectors", c.global_store_sectors},
          {"global_store_lines", c.global_store_lines},
          {"shared_load_requests", c.shared_load_requests},
          {"shared_load_bank_conflicts", c.shared_load_bank_conflicts},
          {"shared_store_requests", c.shared_store_requests},
          {"shared_store_bank_conflicts", c.shared_store_bank_conflicts},
          {"shuffles", c.shuffles},
          {"votes", c.votes},
          {"atomics", c.atomics},
          {"barriers", c.barriers}};
}

// Names by number.
class Files {
 public:
  int number(const std::string& name) { return numbers_.try_emplace(name, static_cast<int>(numbers_.size())).first->second; }
  json names() const {
    json all = json::array();
    for (const auto& [name, number] : numbers_) all[static_cast<std::size_t>(number)] = name;
    return all;
  }

 private:
  std::map<std::string, int> numbers_;
};

json inlined_json(const engine::InlinedPlace& place, Files* files) {
  json calls = json::array();
  for (const engine::SourcePlace& call : place.calls) calls.push_back({files->number(call.file), call.line, call.column});
  return {demangled(place.function), std::move(calls)};
}

json function_json(const engine::FunctionCoverage& function, Files* files) {
  json instructions = json::array();
  for (const engine::InstructionCoverage& i : function.instructions) {
    const int file = i.source.line == 0 ? -1 : files->number(i.source.file);
    instructions.push_back(
        {i.text, i.ptx_line, file, i.source.line, i.inlined, i.guarded, i.count.reached, i.count.ran, i.count.partial, i.count.parted, i.jumps});
  }
  return {{"name", function.name},
          {"demangled", demangled(function.name)},
          {"kernel", function.is_kernel},
          {"text", function.text},
          {"instructions", std::move(instructions)}};
}

}  // namespace

bool Record::open(const std::string& path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  return is_open();
}

void Record::started(std::string_view device, std::uint64_t schedule, std::uint32_t checks) {
  if (is_open()) put(file_, {{"device", device}, {"schedule", schedule}, {"checks", checks}});
}

void Record::launched(std::string_view kernel, int device, const engine::Counters& counters) {
  if (!is_open()) return;
  std::lock_guard lock(mutex_);
  const auto [it, first] = totals_.try_emplace(std::pair(std::string(kernel), device));
  if (first) put(file_, {{"kernel", demangled(it->first.first)}});
  ++it->second.launches;
  it->second.counters.add(counters);
}

void Record::refused_launch() {
  std::lock_guard lock(mutex_);
  ++refused_launches_;
}

void Record::found(const std::vector<Reported>& findings) {
  if (!is_open()) return;
  for (const Reported& told : findings) {
    put(file_, {{"finding", json::parse(to_json({told.finding}))[0]}, {"number", told.number}, {"suppressed", told.suppressed}});
  }
}

void Record::taken() {
  if (is_open()) put(file_, {{"taken", true}});
}

void Record::covered(const std::vector<std::string>& texts, const engine::ModuleCoverage& coverage) {
  if (!is_open()) return;
  Files files;
  json functions = json::array(), inlined = json::array();
  for (const engine::FunctionCoverage& f : coverage.functions) functions.push_back(function_json(f, &files));
  for (const engine::InlinedPlace& place : coverage.inlined) inlined.push_back(inlined_json(place, &files));
  put(file_, {{"coverage", {{"module", hash_of(texts)}, {"files", files.names()}, {"inlined", std::move(inlined)}, {"functions", std::move(functions)}}}});
}

void Record::finish(const std::vector<Reported>& changed) {
  if (!is_open()) return;
  found(changed);
  std::lock_guard lock(mutex_);
  json totals = json::array();
  for (const auto& [key, total] : totals_) {
    json one = counters_json(total.counters);
    one["kernel"] = demangled(key.first);
    one["device"] = key.second;
    one["launches"] = total.launches;
    totals.push_back(std::move(one));
  }
  put(file_, {{"totals", std::move(totals)}, {"refused_launches", refused_launches_}});
}

void Record::forget() {
  std::lock_guard lock(mutex_);
  totals_.clear();
  refused_launches_ = 0;
}

}  // namespace lockstep::runtime
