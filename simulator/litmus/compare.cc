#include "simulator/litmus/compare.h"

#include <string_view>
#include <utility>

namespace lockstep::litmus {

const char* name(Fault f) {
  switch (f) {
    case Fault::kMissed: return "missed";
    case Fault::kFalse: return "false";
    case Fault::kPair: return "false pair";
    case Fault::kOutcome: return "impossible outcome";
    case Fault::kTrouble: return "trouble";
  }
  return "";
}

std::span<const NamedRules> lenient_rules() {
  static const std::vector<NamedRules> all = [] {
    using Set = void (*)(Rules&);
    const std::pair<const char*, Set> each[] = {
        {"fence-sc", [](Rules& r) { r.fence_sc = false; }},
        {"block-fences", [](Rules& r) { r.block_fences = true; }},
        {"mixed-sizes", [](Rules& r) { r.mixed_sizes = true; }},
        {"unused-atom", [](Rules& r) { r.unused_atom_is_red = true; }},
        {"red-observes", [](Rules& r) { r.red_observes = true; }},
        {"barrier-fences", [](Rules& r) { r.barrier_fences = true; }},
        {"mbarrier-scopes", [](Rules& r) { r.mbarrier_scopes = true; }},
        {"chain-stands", [](Rules& r) { r.chain_stands = true; }},
        {"weak-observes", [](Rules& r) { r.weak_observes = false; }},
        {"parts-observe", [](Rules& r) { r.parts_observe = false; }},
    };
    std::vector<NamedRules> v;
    for (const auto& [name, set] : each) {
      v.push_back({name, {}});
      set(v.back().rules);
    }
    for (const auto& [name, set] : each) {
      for (const auto& [other_name, other_set] : each) {
        if (std::string_view(name) >= other_name) continue;
        v.push_back({std::string(name) + " and " + other_name, {}});
        set(v.back().rules);
        other_set(v.back().rules);
      }
    }
    v.push_back({"several rules", {}});
    for (const auto& [name, set] : each) {
      if (std::string_view(name) != "red-observes") set(v.back().rules);
    }
    return v;
  }();
  return all;
}

Opinion::Opinion(const Program& program, const Rules& rules, std::uint64_t most_steps)
    : program_(&program), rules_(rules) {
  Search s;
  s.rules = rules;
  s.most_steps = most_steps;
  quick_ = judge(program, s);
}

const Judgement& Opinion::everything() {
  if (!everything_) {
    Search s;
    s.rules = rules_;
    s.everything = true;
    s.most_steps = 300'000;
    everything_ = judge(*program_, s);
  }
  return *everything_;
}

std::optional<Fault> Opinion::fault(const Ran& ran) {
  if (!ran.trouble.empty()) return Fault::kTrouble;
  if (verdict() == Verdict::kRace && !ran.race) return Fault::kMissed;
  if (verdict() == Verdict::kFree && ran.race) return Fault::kFalse;
  if (verdict() != Verdict::kMixed && !ran.race) return std::nullopt;
  const Judgement& all = everything();
  if (all.verdict == Verdict::kTooLarge) return std::nullopt;
  if (verdict() == Verdict::kMixed) {
    bool races = false, free = true;  // certain of a copy; certain of no copy
    for (const std::uint64_t outcome : ran.outcomes) {
      const auto it = all.outcomes.find(outcome);
      if (it == all.outcomes.end()) return Fault::kOutcome;
      races |= !it->second.free;
      free &= !it->second.races;
    }
    if (races && !ran.race) return Fault::kMissed;
    if (free && ran.race) return Fault::kFalse;
  }
  for (const Race& r : ran.races) {
    if (!all.races.contains(r) && !all.races.contains({r.other_thread, r.other_op, r.thread, r.op}))
      return Fault::kPair;
  }
  return std::nullopt;
}

bool Opinion::needs_three_threads(const Ran& ran) const {
  Rules two = rules_;
  two.three_threads = false;
  return Opinion(*program_, two).fault(ran) != Fault::kMissed;
}

std::optional<Difference> compare(const Program& program, Opinion& opinion, Simulator& gpu,
                                  std::size_t n, std::span<const std::uint64_t> schedules) {
  for (const std::uint64_t seed : schedules) {
    const Ran ran = gpu.run(n, seed);
    const auto fault = opinion.fault(ran);
    if (!fault) continue;
    Difference d{*fault, seed, {}, ran.trouble.empty() ? ran.report : ran.trouble};
    if (*fault == Fault::kOutcome || *fault == Fault::kTrouble) return d;
    for (const NamedRules& other : lenient_rules()) {
      if (Opinion(program, other.rules).fault(ran)) continue;
      d.rule = other.name;
      break;
    }
    if (d.rule.empty() && *fault == Fault::kMissed && opinion.needs_three_threads(ran))
      d.rule = kThreeThreads;
    return d;
  }
  return std::nullopt;
}

}  // namespace lockstep::litmus
