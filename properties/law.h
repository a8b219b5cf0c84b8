// A law, independent of the implementation that it judges: used by the tests of the real kernels
// and by the known-bad tests. A family lists its laws once; tests/law_coverage.h makes each a test.
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/device/device.h"
#include "harness/property/compare.h"
#include "harness/property/property.h"

namespace lockstep::properties {

struct LawOptions {
  int cases = kDefaultCases;  // cases in the test of the real kernel
  // Tests that judge many kernels run 1 / cost of the law's cases. Set it to about the launches of
  // a case, or higher if few cases suffice.
  int cost = 1;
  bool in_turns = false;  // as in PropertyOptions: for laws with few cases
};
// The cost of a law whose single case is a huge grid, or hundreds of launches or stages.
inline constexpr int kCostOfHugeWork = 1000;

// A case without fields.
struct NoFields {
  static void fields(NoFields&, FieldVisitor&) {}
};

template <class Implementation>
struct Law {
  std::string name;
  LawOptions options;
  // Runs the law on generated cases of this implementation. The name determines the seed. Shrinks a
  // failing case.
  std::function<PropertyResult(std::string_view, const Implementation&, const PropertyOptions&)>
      judge;
  std::source_location where;  // its entry in the family's list
};

template <class Implementation>
using Laws = std::vector<Law<Implementation>>;

// `check` takes the implementation and a case. It is a function, so that the case type can be
// deduced.
template <class Case, class Implementation>
Law<Implementation> law(std::string name, void (*check)(const Implementation&, const Case&),
                        const LawOptions& options = {},
                        std::source_location where = std::source_location::current()) {
  auto judge = [check, in_turns = options.in_turns](std::string_view name,
                                                    const Implementation& implementation,
                                                    PropertyOptions options) {
    options.in_turns = options.in_turns || in_turns;
    return run_property<Case>(
        name, [&](const Case& c) { check(implementation, c); }, options);
  };
  return {std::move(name), options, std::move(judge), where};
}

// The simulated GPU's counters for `run`; all 0 on silicon, which does not count.
template <class Run>
lockstepCounters counters_of(Run&& run) {
  lockstepCounters counters = {};
  counters.size = sizeof counters;
  const Extension& simulator = extension();
  const bool counts = simulator.reset_counters != nullptr && simulator.read_counters != nullptr;
  if (counts) simulator.reset_counters();
  run();
  if (counts) simulator.read_counters(&counters);
  return counters;
}

}  // namespace lockstep::properties
