// Judges a litmus program by looking at every execution of it.
//
// Of executions that differ only in the order of steps that do not touch each other one is looked
// at (sleep sets, Godefroid 1996): orders and races are the same in all of them.
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
  kInvalid,  // it may block for ever, or uses a barrier as PTX forbids
  kTooLarge,
};
const char* name(Verdict v);

// Of the executions with one outcome: what the threads have read, and what is left in global
// memory.
struct OfOutcome {
  bool races = false, free = false;
};

struct Judgement {
  Verdict verdict = Verdict::kFree;
  std::uint64_t steps = 0, executions = 0;
  bool cut = false;      // executions that go round a loop many times were not looked at
  std::set<Race> races;  // of all executions, with `everything`
  std::map<std::uint64_t, OfOutcome> outcomes;  // likewise
};

struct Search {
  Rules rules;
  // Looks at all that follows a race, for Judgement::races and ::outcomes. Else only where the
  // program might block.
  bool everything = false;
  std::uint64_t most_steps = 20'000;
  bool every_order =
      false;  // of steps that do not touch each other, too: a test of the search itself
};

Judgement judge(const Program& program, const Search& search = {});

}  // namespace lockstep::litmus
