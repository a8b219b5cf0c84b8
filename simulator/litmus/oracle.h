// Judges a litmus program by examining every execution of it.
//
// Of executions that differ only in the order of independent steps, one is examined (sleep sets,
// Godefroid 1996): orders and races are the same in all of them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "simulator/litmus/execution.h"

namespace lockstep::litmus {

enum class Verdict : std::uint8_t {
  kRace,     // every execution has a race
  kFree,     // none has
  kMixed,    // some have
  kInvalid,  // it may block forever, or uses a barrier in a way that PTX forbids
  kTooLarge,
};
const char* name(Verdict v);

// About the executions with one outcome: the values that the threads read, and those left in global
// memory.
struct OfOutcome {
  bool races = false, free = false;
};

struct Judgement {
  Verdict verdict = Verdict::kFree;
  std::uint64_t steps = 0, executions = 0;
  bool cut = false;      // executions that iterate a loop many times were not examined
  std::set<Race> races;  // of all executions; only with `everything`
  std::map<std::uint64_t, OfOutcome> outcomes;  // only with `everything`
};

struct Search {
  Rules rules;
  // Continues after a race, for Judgement::races and ::outcomes. Otherwise only if the program
  // might block.
  bool everything = false;
  std::uint64_t most_steps = 20'000;
  bool every_order = false;  // also for independent steps: a test of the search itself
};

Judgement judge(const Program& program, const Search& search = {});

}  // namespace lockstep::litmus
