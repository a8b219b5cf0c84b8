// Judges a litmus program by examining all of its executions.
//
// Of executions that differ only in the order of independent steps, one is examined (sleep sets,
// Godefroid 1996): all have the same orderings and races.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "simulator/litmus/execution.h"

namespace lockstep::litmus {

enum class Verdict : std::uint8_t {
  kRace,     // every execution has a race
  kFree,     // no execution has a race
  kMixed,    // some have
  kInvalid,  // it may block for ever, or uses a barrier in a way that PTX forbids
  kTooLarge,
};
const char* name(Verdict v);

// Whether executions with one outcome have races. An outcome is the values that threads have read
// and the final global memory.
struct OfOutcome {
  bool races = false, free = false;
};

struct Judgement {
  Verdict verdict = Verdict::kFree;
  std::uint64_t steps = 0, executions = 0;
  bool cut = false;      // executions with many loop iterations were not examined
  std::set<Race> races;  // of all executions, if `everything` is set
  std::map<std::uint64_t, OfOutcome> outcomes;  // the same
};

struct Search {
  Rules rules;
  // Continues after a race, for Judgement::races and ::outcomes. Otherwise continues only if the
  // program might block.
  bool everything = false;
  std::uint64_t most_steps = 20'000;
  bool every_order = false;  // also of independent steps: a test of the search itself
};

Judgement judge(const Program& program, const Search& search = {});

}  // namespace lockstep::litmus
