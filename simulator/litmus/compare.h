// Compares the simulated GPU with the oracle for one litmus program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/litmus/oracle.h"
#include "simulator/litmus/simulate.h"

namespace lockstep::litmus {

// The possible faults of a run.
enum class Fault : std::uint8_t {
  kMissed,   // every execution (with this outcome) has a race, and none was reported
  kFalse,    // no execution has a race, and one was reported
  kPair,     // no execution has a race of these two operations
  kOutcome,  // no execution has this outcome
  kTrouble,  // it did not run to its end, or there were other findings
};
inline constexpr int kFaults = 5;
const char* name(Fault f);

struct Difference {
  Fault fault = Fault::kMissed;
  std::uint64_t schedule = 0;
  // The name of the rule, or of two rules, that explains it; "several rules" or kThreeThreads.
  // Empty if nothing does.
  std::string rule;
  std::string report;  // of the run
};

// Races of two threads on bytes that a third thread accesses, too: the search's records are exact
// for two threads only.
inline constexpr const char* kThreeThreads = "three-threads";

// A rule by which a verdict may differ from the manual's, with its name.
struct NamedRules {
  std::string name;
  Rules rules;
};
std::span<const NamedRules> lenient_rules();

// The oracle's verdicts on a program, computed once and cached.
class Opinion {
 public:
  Opinion(const Program& program, const Rules& rules,
          std::uint64_t most_steps = Search{}.most_steps);
  Verdict verdict() const { return quick_.verdict; }
  // The fault of the run, if any.
  std::optional<Fault> fault(const Ran& ran);
  // Whether all races of all executions are on bytes that three threads access.
  bool needs_three_threads();

 private:
  const Judgement& everything();

  const Program* program_;
  Rules rules_;
  Judgement quick_;
  std::optional<Judgement> everything_;
};

// Runs program `n` of those that `gpu` has loaded under every schedule. Returns the first
// difference.
std::optional<Difference> compare(const Program& program, Opinion& opinion, Simulator& gpu,
                                  std::size_t n, std::span<const std::uint64_t> schedules);

}  // namespace lockstep::litmus
