// A litmus program on the simulated GPU against the oracle.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/litmus/oracle.h"
#include "simulator/litmus/simulate.h"

namespace lockstep::litmus {

// What a run may get wrong.
enum class Fault : std::uint8_t {
  kMissed,   // every execution (with this outcome) has a race, and none was reported
  kFalse,    // none has, and one was reported
  kPair,     // no execution has a race of these two operations
  kOutcome,  // no execution has this outcome
  kTrouble,  // it did not run to its end, or there were other findings
};
inline constexpr int kFaults = 5;
const char* name(Fault f);

struct Difference {
  Fault fault = Fault::kMissed;
  std::uint64_t schedule = 0;
  // The one of Rules that explains it, or the two of them, "several rules", or kThreeThreads; or
  // empty: nothing does.
  std::string rule;
  std::string report;  // of the run
};

// Races of two threads on bytes that a third one accesses, too: the search keeps what is exact for
// two.
inline constexpr const char* kThreeThreads = "three-threads";

// The rules by which a verdict may differ from the manual's, each by its name.
struct NamedRules {
  std::string name;
  Rules rules;
};
std::span<const NamedRules> lenient_rules();

// What a program's executions say, looked up once and kept.
class Opinion {
 public:
  Opinion(const Program& program, const Rules& rules,
          std::uint64_t most_steps = Search{}.most_steps);
  Verdict verdict() const { return quick_.verdict; }
  // What the run got wrong.
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

// Runs the n-th program that `gpu` has loaded under every schedule; the first difference.
std::optional<Difference> compare(const Program& program, Opinion& opinion, Simulator& gpu,
                                  std::size_t n, std::span<const std::uint64_t> schedules);

}  // namespace lockstep::litmus
