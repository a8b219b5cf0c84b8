// Compares a litmus program on the simulated GPU with the oracle.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/litmus/oracle.h"
#include "simulator/litmus/simulate.h"

namespace lockstep::litmus {

// The ways in which a run may be wrong.
enum class Fault : std::uint8_t {
  kMissed,   // every execution (with this outcome) has a race, and none was reported
  kFalse,    // no execution has a race, and one was reported
  kPair,     // no execution has a race of these two operations
  kOutcome,  // no execution has this outcome
  kTrouble,  // it did not run to its end, or had other findings
};
inline constexpr int kFaults = 5;
const char* name(Fault f);

struct Difference {
  Fault fault = Fault::kMissed;
  std::uint64_t schedule = 0;
  // The rule of Rules that explains the difference, or "several rules" if two are needed, or
  // kThreeThreads. Empty if nothing explains it.
  std::string rule;
  std::string report;  // the run's findings
};

// Races of two threads on bytes that a third thread accesses too. The search's data are exact only
// for two threads.
inline constexpr const char* kThreeThreads = "three-threads";

// Named rules, by which a verdict may differ from the manual's.
struct NamedRules {
  std::string name;
  Rules rules;
};
std::span<const NamedRules> lenient_rules();

// The oracle's results for a program, computed on demand and cached.
class Opinion {
 public:
  Opinion(const Program& program, const Rules& rules,
          std::uint64_t most_steps = Search{}.most_steps);
  Verdict verdict() const { return quick_.verdict; }
  // The fault of the run, if any.
  std::optional<Fault> fault(const Ran& ran);
  // Whether the run may have no race but on bytes that three threads access.
  bool needs_three_threads(const Ran& ran) const;

 private:
  const Judgement& everything();

  const Program* program_;
  Rules rules_;
  Judgement quick_;
  std::optional<Judgement> everything_;
};

// Runs the n-th program that `gpu` has loaded under every schedule. Returns the first difference.
std::optional<Difference> compare(const Program& program, Opinion& opinion, Simulator& gpu,
                                  std::size_t n, std::span<const std::uint64_t> schedules);

}  // namespace lockstep::litmus
