// Mutation tests. The laws of a family must reject every mutant for its stated reason, and accept
// every negative control. Each is a gtest test, KnownBad.<family>_<name> or
// KnownGood.<family>_<name>; the program ends with a table of all verdicts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device/device.h"
#include "harness/property/property.h"
#include "properties/law.h"
#include "tests/known_bad/mutant.h"

namespace lockstep::known_bad {

// The number of cases of each law, round by round. The first round has few cases, because most
// faults show at once, though perhaps only to the last law. The last round is enough for the rarest
// fault (a size past 2^16).
inline constexpr std::array kRoundsToReject = {8, 40, 300, 2000};
// The number of cases that a negative control must pass; almost all mutants fail within it.
inline constexpr std::array kRoundsToAccept = {40};
// The largest number of runs to shrink a failing case, for laws of cost 1 to 4; fewer for higher
// costs. A number of runs rather than a time: the result must not depend on the load of the
// machine.
inline constexpr int kMaxShrinks = 150;
inline constexpr int shrinks_of(int cost) {
  return std::min(kMaxShrinks, 4 * kMaxShrinks / std::max(cost, 1));
}

inline constexpr char kAccepted[] = "accepted";

// The result of the laws: the first law that does not hold, or none.
struct MutationResult {
  std::string law, label = kAccepted, minimal_case, message;
  std::uint64_t cases = 0;  // summed over all laws
};

// The test of one mutant or negative control, of any family.
struct MutationTest {
  std::string family, name, change;
  bool has_fault = false;
  Labels rejected_for;  // for the current device
  bool runs_here = true;
  std::string why_not_here;  // why silicon cannot show the fault
  std::function<MutationResult(std::span<const int> rounds)> run;

  std::string full_name() const { return family + "/" + name; }
};

void register_mutation_test(MutationTest test);

template <class Launcher, class Implementation>
MutationResult run_laws(Launcher* launch, const properties::Laws<Implementation>& laws,
                        std::span<const int> rounds) {
  MutationResult found;
  int earlier = 0;
  for (const int cases : rounds) {
    for (const auto& law : laws) {
      PropertyOptions options;
      options.cases = std::max(cases / law.options.cost, 1);
      // The cases of a round include those of the previous round.
      if (earlier > 0 && options.cases == std::max(earlier / law.options.cost, 1)) continue;
      options.max_shrinks = shrinks_of(law.options.cost);
      options.cost = law.options.cost;
      const PropertyResult result = law.judge(law.name, *launch, options);
      found.cases += result.cases;
      if (result.held || result.not_applicable) continue;  // the law needs more than the device has
      found.law = law.name;
      found.label = result.failure.label();
      found.minimal_case = result.minimal_case;
      found.message = result.failure.message;
      if (result.not_run) found.label = "not run", found.message = *result.not_run;
      return found;
    }
    earlier = cases;
  }
  return found;
}

// The laws for mutants of kernels, cheapest first, because a mutant seldom survives to the laws
// with huge grids. Mutants choose their grids themselves. So laws about launchers are left out:
// accepted sizes, grids, queries and reports, and the far ends of grids. launchers_test.cc covers
// them.
template <class Implementation>
properties::Laws<Implementation> of_kernels(properties::Laws<Implementation> laws) {
  constexpr std::string_view kOfTheGrid[] = {
      "TakesWhatItPromises",      "LaunchesTheGridItPromises", "HoldsAtItsFarEnds",
      "FillsInWhatItReports",     "CoversFarColumns",          "CoversTilesPast16Bits",
      "MovesNeighboursAtFarEnds", "NeedsNoOtherProperty"};
  std::erase_if(laws, [&](const auto& law) {
    return std::ranges::find(kOfTheGrid, law.name) != std::end(kOfTheGrid);
  });
  std::ranges::stable_sort(laws, {}, [](const auto& law) { return law.options.cost; });
  return laws;
}

// Registers the mutation tests of a family. Returns true, so that a file can call it before main().
template <class Launcher, class Implementation>
bool add_mutation_tests(const std::string& family, const Mutants<Launcher>& mutants,
                        const properties::Laws<Implementation>& laws) {
  for (const auto& m : mutants) {
    register_mutation_test({.family = family,
                            .name = m.name,
                            .change = m.change,
                            .has_fault = m.has_fault(),
                            .rejected_for = is_simulator() ? m.rejected_for : m.on_silicon,
                            .runs_here = is_simulator() || m.simulator_only.empty(),
                            .why_not_here = m.simulator_only,
                            .run = [launch = m.launch, laws](std::span<const int> rounds) {
                              return run_laws(launch, laws, rounds);
                            }});
  }
  return true;
}

}  // namespace lockstep::known_bad
