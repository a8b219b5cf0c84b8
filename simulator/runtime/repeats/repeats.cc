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

// A launch that takes so many seconds is executed.
constexpr double kShort = 30e-6;
// Bytes that are read in a second, at least.
constexpr double kBytesPerSecond = 4e9;
constexpr std::size_t kMostRecords = 256;
// Bytes that are saved in all, and besides of launches that have not come again yet.
constexpr std::uint64_t kMostSaved = std::uint64_t{512} << 20,
                        kMostAtOnce = std::uint64_t{32} << 20;

double seconds_between(SteadyClock::time_point from, SteadyClock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double seconds_to_read(std::uint64_t bytes) { return static_cast<double>(bytes) / kBytesPerSecond; }

// Everything but memory on which the launch depends.
Digest digest_of_launch(const engine::Kernel& kernel, const engine::LaunchConfig& c, int device) {
  const std::uint64_t values[] = {reinterpret_cast<std::uintptr_t>(&kernel),
                                  c.grid.x,
                                  c.grid.y,
                                  c.grid.z,
                                  c.block.x,
                                  c.block.y,
                                  c.block.z,
                                  c.cluster.x,
                                  c.cluster.y,
                                  c.cluster.z,
                                  c.dynamic_shared,
                                  c.cooperative,
                                  c.checks,
                                  c.suppressed,
                                  c.instruction_limit,
                                  c.sample,
                                  c.count,
                                  static_cast<std::uint64_t>(device)};
  const auto bytes = std::as_bytes(std::span(values));
  std::vector<std::byte> all(bytes.begin(), bytes.end());
  all.insert(all.end(), c.parameters.begin(), c.parameters.end());
  return digest_of(all);
}

bool is_harmless_race(const check::Finding& f) {
  return f.kind == check::Kind::kRace && f.severity == check::Severity::kInformation;
}

// Whether the launch has done nothing but change memory, and perhaps met races that do no harm.
bool only_changed_memory(const engine::Outcome& o) {
  return std::all_of(o.findings.begin(), o.findings.end(), is_harmless_race) &&
         o.unwritten_stores.empty() && o.heap.empty() && o.launches.empty() &&
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

bool Repeats::Record::does_not_matter(std::size_t i) const {
  return before[i].fresh && after[i].contents == before[i].contents;
}

bool Repeats::Record::fits(const MemoryState& state) const {
  if (state.size() != before.size()) return false;
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (state[i].place != before[i].place) return false;
    if (state[i].contents == before[i].contents) continue;
    if (!before[i].fresh) return false;
    if (!state[i].fresh && !does_not_matter(i) && state[i].contents != after[i].contents)
      return false;
  }
  return true;
}

std::uint64_t Repeats::Record::saved_bytes() const {
  std::uint64_t bytes = 0;
  for (const Saved& s : saved) bytes += s.contents.size() + s.written.size();
  return bytes;
}

std::vector<Piece> Repeats::Record::differing(const MemoryState& state) const {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (state[i].contents != after[i].contents && !does_not_matter(i)) pieces.push_back(after[i]);
  }
  return pieces;
}

bool Repeats::is_affordable(const KnownKernel& kernel, double seconds) const {
  return mode_ != Mode::kOn || budget_.allows(seconds, kernel.in_vain);
}

// The present state of memory, if it is worth looking at it so many times.
const MemoryState* Repeats::look(const KnownKernel& kernel, memory::DeviceMemory& memory,
                                 int times) {
  if (!is_affordable(kernel, times * seconds_to_read(digests_.unread_bytes(memory))))
    return nullptr;
  return digests_.now(memory);
}

Repeats::Begun Repeats::begin(const engine::Kernel& kernel, const engine::LaunchConfig& config,
                              int device, memory::DeviceMemory& memory) {
  const auto before = SteadyClock::now();
  Begun begun;
  begun.attempt.since = before;
  const auto [it, is_new] = kernels_.try_emplace(&kernel);
  if (is_new) it->second.is_repeatable = engine::depends_on_memory_alone(kernel);
  KnownKernel& known = it->second;
  const bool is_short = mode_ == Mode::kOn && known.seconds > 0 && known.seconds < kShort;
  if (!known.is_repeatable || is_short || !is_affordable(known, 0) || !config.closed())
    return begun;
  begun = find_or_attempt(known, kernel, config, device, memory);
  begun.attempt.since = SteadyClock::now();
  budget_.spent(seconds_between(before, begun.attempt.since));
  return begun;
}

Repeats::Begun Repeats::find_or_attempt(KnownKernel& known, const engine::Kernel& kernel,
                                        const engine::LaunchConfig& config, int device,
                                        memory::DeviceMemory& memory) {
  Begun begun;
  // If it is recorded, its memory is looked at once more when it has ended.
  const MemoryState* const state = look(known, memory, 2);
  if (state == nullptr) return begun;
  begun.attempt.launch = digest_of_launch(kernel, config, device);
  const auto record = find(begun.attempt.launch, *state);
  if (record != records_.end() && mode_ != Mode::kCompare) {
    const std::vector<Piece> pieces = record->differing(*state);
    if (pieces.empty() || !record->saved.empty()) {
      restore(*record, pieces, memory);
      ++count_;
      known.in_vain = 0;
      record->came_again = true;
      budget_.gained(record->seconds);
      begun.outcome.emplace();
      begun.outcome->findings = record->findings;
      begun.outcome->counters = record->counters;
      begun.outcome->first_record = begun.outcome->end_of_records = memory.race_records();
      return begun;
    }
  }
  begun.attempt.before = *state;
  if ((config.checks & check::kInitialisation) == 0) {
    // It may depend on unwritten bytes.
    for (Piece& p : *begun.attempt.before) p.fresh = false;
  }
  return begun;
}

bool Repeats::ended(const Attempt& attempt, const engine::Kernel& kernel,
                    const engine::Outcome& outcome, bool waited, memory::DeviceMemory& memory) {
  const auto now = SteadyClock::now();
  const double seconds = seconds_between(attempt.since, now);
  budget_.executed(seconds);
  kernels_[&kernel].seconds = seconds;
  wrote();
  if (!attempt.before || waited || !only_changed_memory(outcome)) return false;
  const bool compared = record(attempt, kernel, outcome, seconds, memory);
  budget_.spent(seconds_between(now, SteadyClock::now()));
  return compared;
}

// Records a launch, or compares it with its record. Returns whether it was compared.
bool Repeats::record(const Attempt& attempt, const engine::Kernel& kernel,
                     const engine::Outcome& outcome, double seconds, memory::DeviceMemory& memory) {
  KnownKernel& known = kernels_[&kernel];
  const MemoryState* const after = look(known, memory, 1);
  if (after == nullptr || after->size() != attempt.before->size()) return false;
  const auto earlier = find(attempt.launch, *attempt.before);
  if (earlier == records_.end()) {
    ++known.in_vain;
    budget_.recorded();
    add({attempt.launch,
         *attempt.before,
         *after,
         outcome.findings,
         outcome.counters,
         seconds,
         false,
         {}});
    save(known, records_.front(), memory);
  } else if (!earlier->differing(*after).empty()) {
    if (mode_ == Mode::kCompare) report_difference(kernel);
    drop(earlier);  // its outcome depends on more than memory
  } else if (mode_ == Mode::kCompare) {
    ++count_;
    return true;
  } else if (earlier->saved.empty()) {
    earlier->came_again = true;
    save(known, *earlier, memory);
  }
  return false;
}

void Repeats::forget() {
  records_.clear();
  by_launch_.clear();
  kernels_.clear();
}

Repeats::Records::iterator Repeats::find(const Digest& launch, const MemoryState& state) {
  const auto [first, last] = by_launch_.equal_range(launch);
  const auto it = std::find_if(first, last, [&](const auto& r) { return r.second->fits(state); });
  if (it == last) return records_.end();
  records_.splice(records_.begin(), records_, it->second);
  return it->second;
}

void Repeats::add(Record record) {
  if (records_.size() >= kMostRecords) drop(std::prev(records_.end()));
  records_.push_front(std::move(record));
  by_launch_.emplace(records_.front().launch, records_.begin());
}

void Repeats::drop(Records::iterator record) {
  const auto [first, last] = by_launch_.equal_range(record->launch);
  by_launch_.erase(std::find_if(first, last, [&](const auto& r) { return r.second == record; }));
  records_.erase(record);
}

// Saves what the launch has changed, in place of what was not needed for the longest time. Where
// too little room is left, nothing is saved. Results that may never be needed take no room from
// those that were.
void Repeats::save(const KnownKernel& kernel, Record& record, memory::DeviceMemory& memory) {
  const std::uint64_t most = record.came_again ? kMostSaved : kMostAtOnce;
  std::uint64_t bytes = 0;
  const std::vector<Piece> changed = record.differing(record.before);
  for (const Piece& p : changed) bytes += p.allocation->size + shadow_bytes(memory, *p.allocation);
  if (bytes > most || !is_affordable(kernel, seconds_to_read(2 * bytes))) return;
  const auto gives_way = [&](const Record& r) { return record.came_again || !r.came_again; };
  std::uint64_t taken = 0;
  for (const Record& r : records_) taken += gives_way(r) ? r.saved_bytes() : 0;
  for (auto last = records_.end(); taken + bytes > most;) {
    --last;
    if (!gives_way(*last)) continue;
    taken -= last->saved_bytes();
    last->saved.clear();
  }
  for (const Piece& p : changed) {
    const memory::Allocation& a = *p.allocation;
    const std::byte* const contents = memory.host(a, a.base);
    const auto* const written = reinterpret_cast<const std::byte*>(memory.written_shadow(a.base));
    record.saved.push_back(
        {a.base, {contents, contents + a.size}, {written, written + shadow_bytes(memory, a)}});
  }
}

// Makes the allocations of `pieces` what the launch left.
void Repeats::restore(const Record& record, const std::vector<Piece>& pieces,
                      memory::DeviceMemory& memory) {
  for (const Piece& p : pieces) {
    const memory::Allocation& a = *p.allocation;
    const auto saved = std::find_if(record.saved.begin(), record.saved.end(),
                                    [&](const Saved& s) { return s.base == a.base; });
    std::memcpy(memory.host(a, a.base), saved->contents.data(), saved->contents.size());
    if (!saved->written.empty())
      std::memcpy(memory.written_shadow(a.base), saved->written.data(), saved->written.size());
  }
  digests_.became(pieces);
}

}  // namespace lockstep::runtime
