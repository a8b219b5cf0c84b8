#include "simulator/runtime/repeats/repeats.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>

#include "simulator/engine/launch/repeatable.h"

namespace lockstep::runtime {
namespace {

using SteadyClock = std::chrono::steady_clock;

// What a process may spend before any launch has ended, and the share of the time of executed
// launches, and of the time that repetitions have saved.
constexpr double kAtFirst = 0.02, kOfExecuted = 0.05, kOfGained = 0.5;
// Bytes that are read in a second, at least.
constexpr double kBytesPerSecond = 4e9;
constexpr std::size_t kMostRecords = 1024;
constexpr std::uint64_t kMostSaved = std::uint64_t{512} << 20;

double seconds_since(SteadyClock::time_point t) {
  return std::chrono::duration<double>(SteadyClock::now() - t).count();
}

double seconds_to_read(std::uint64_t bytes) { return static_cast<double>(bytes) / kBytesPerSecond; }

// Everything but memory on which the launch depends.
Digest digest_of_launch(const engine::Kernel& kernel, const engine::LaunchConfig& c, int device) {
  const auto* const address = &kernel;
  const std::uint32_t shape[] = {c.grid.x,    c.grid.y,    c.grid.z,
                                 c.block.x,   c.block.y,   c.block.z,
                                 c.cluster.x, c.cluster.y, c.cluster.z,
                                 c.dynamic_shared, c.cooperative, c.count, c.suppressed,
                                 static_cast<std::uint32_t>(device)};
  std::vector<std::byte> all(sizeof address + sizeof shape + sizeof c.sample);
  std::memcpy(all.data(), &address, sizeof address);
  std::memcpy(all.data() + sizeof address, shape, sizeof shape);
  std::memcpy(all.data() + sizeof address + sizeof shape, &c.sample, sizeof c.sample);
  all.insert(all.end(), c.parameters.begin(), c.parameters.end());
  return digest_of(all);
}

// Whether the launch has done nothing but change memory.
bool only_changed_memory(const engine::Outcome& o) {
  return o.findings.empty() && o.unwritten_stores.empty() && o.heap.empty() && o.launches.empty() &&
         !o.started_dependents && !o.waited && !o.informed_host && !o.heard_host;
}

std::size_t shadow_bytes(const memory::DeviceMemory& memory, const memory::Allocation& a) {
  return a.has_shadow ? static_cast<std::size_t>(memory.written_shadow(a.base + a.size - 1) + 1 -
                                                 memory.written_shadow(a.base))
                      : 0;
}

[[noreturn]] void report_difference(const engine::Kernel& kernel) {
  std::fprintf(stderr,
               "lockstep: LOCKSTEP_REPEATS=compare: a launch of kernel %s has left other memory "
               "than an earlier launch with the same memory and parameters\n"
               "  Please report this: LOCKSTEP_REPEATS=off executes every launch.\n",
               kernel.name().c_str());
  std::abort();
}

}  // namespace

bool Repeats::is_affordable(double seconds) const {
  return mode != Mode::kOn ||
         spent_ + seconds <= kAtFirst + kOfExecuted * executed_ + kOfGained * gained_;
}

// The present state of memory, if that is worth looking at.
const MemoryState* Repeats::look(memory::DeviceMemory& memory) {
  if (!is_affordable(seconds_to_read(digests_.unread_bytes(memory)))) return nullptr;
  const auto since = SteadyClock::now();
  const MemoryState* const state = digests_.now(memory);
  spent_ += seconds_since(since);
  return state;
}

bool Repeats::is_repeatable(const engine::Kernel& kernel) {
  const auto [it, made] = repeatable_.try_emplace(&kernel, false);
  if (made) it->second = engine::depends_on_memory_alone(kernel);
  return it->second;
}

Repeats::Begun Repeats::begin(const engine::Kernel& kernel, const engine::LaunchConfig& config,
                              int device, memory::DeviceMemory& memory) {
  Begun begun;
  begun.attempt.since = SteadyClock::now();
  if (!is_repeatable(kernel)) return begun;
  const MemoryState* const state = look(memory);
  if (state == nullptr) return begun;
  begun.attempt.launch = digest_of_launch(kernel, config, device);
  const auto record = find({begun.attempt.launch, state->whole});
  const bool is_known = record != records_.end() && mode != Mode::kCompare &&
                        (record->after == record->before || !record->saved.empty());
  if (!is_known) {
    begun.attempt.before = *state;
    return begun;
  }
  restore(*record, memory);
  ++count_;
  gained_ += record->seconds;
  begun.outcome.emplace();
  begun.outcome->counters = record->counters;
  begun.outcome->first_record = begun.outcome->end_of_records = memory.race_records();
  return begun;
}

void Repeats::ended(const Attempt& attempt, const engine::Kernel& kernel,
                    const engine::Outcome& outcome, bool waited, memory::DeviceMemory& memory) {
  const double seconds = seconds_since(attempt.since);
  executed_ += seconds;
  wrote();
  if (!attempt.before || waited || !only_changed_memory(outcome)) return;
  const MemoryState* const after = look(memory);
  if (after == nullptr || after->pieces.size() != attempt.before->pieces.size()) return;
  const auto known = find({attempt.launch, attempt.before->whole});
  if (known == records_.end()) {
    Record record{attempt.launch, attempt.before->whole, after->whole, {},
                  outcome.counters, seconds, {}};
    for (std::size_t i = 0; i < after->pieces.size(); ++i) {
      if (after->pieces[i] != attempt.before->pieces[i]) record.changed.push_back(after->pieces[i]);
    }
    add(std::move(record));
  } else if (known->after != after->whole) {
    if (mode == Mode::kCompare) report_difference(kernel);
    drop(known);  // its outcome depends on more than memory
  } else {
    if (mode == Mode::kCompare) ++count_;
    if (known->after != known->before && known->saved.empty() && !save(*known, memory)) drop(known);
  }
}

void Repeats::forget() {
  records_.clear();
  by_key_.clear();
  repeatable_.clear();
  saved_bytes_ = 0;
}

Repeats::Records::iterator Repeats::find(const Key& key) {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return records_.end();
  records_.splice(records_.begin(), records_, it->second);
  return it->second;
}

void Repeats::add(Record record) {
  if (records_.size() >= kMostRecords) drop(std::prev(records_.end()));
  records_.push_front(std::move(record));
  by_key_[{records_.front().launch, records_.front().before}] = records_.begin();
}

void Repeats::drop(Records::iterator record) {
  for (const Saved& s : record->saved) saved_bytes_ -= s.contents.size() + s.written.size();
  by_key_.erase({record->launch, record->before});
  records_.erase(record);
}

// Saves the contents of the changed allocations, in place of those that were not needed for the
// longest time. Returns false if there is no room.
bool Repeats::save(Record& record, memory::DeviceMemory& memory) {
  std::uint64_t bytes = 0;
  for (const Piece& p : record.changed)
    bytes += p.allocation->size + shadow_bytes(memory, *p.allocation);
  if (bytes > kMostSaved) return false;
  for (auto last = records_.end(); saved_bytes_ + bytes > kMostSaved;) {
    --last;
    if (!last->saved.empty()) drop(last++);
  }
  const auto since = SteadyClock::now();
  for (const Piece& p : record.changed) {
    const memory::Allocation& a = *p.allocation;
    const std::byte* const contents = memory.host(a, a.base);
    const auto* const written = reinterpret_cast<const std::byte*>(memory.written_shadow(a.base));
    record.saved.push_back({a.base,
                            {contents, contents + a.size},
                            {written, written + shadow_bytes(memory, a)}});
  }
  saved_bytes_ += bytes;
  spent_ += seconds_since(since);
  return true;
}

void Repeats::restore(const Record& record, memory::DeviceMemory& memory) {
  if (record.after == record.before) return;
  const auto since = SteadyClock::now();
  for (const Saved& s : record.saved) {
    const memory::Allocation& a = *memory.find(s.base);
    std::memcpy(memory.host(a, a.base), s.contents.data(), s.contents.size());
    if (!s.written.empty())
      std::memcpy(memory.written_shadow(a.base), s.written.data(), s.written.size());
  }
  digests_.became(record.changed);
  spent_ += seconds_since(since);
}

}  // namespace lockstep::runtime
