// A law, apart from the implementation that it judges: what the tests of the real kernels and the
// known-bad tests share. A family lists its laws once; tests/law_coverage.h makes each a test.
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
  int cases = kDefaultCases;  // that the test of the real kernel generates
  // Who judges many kernels gives a law a share of 1 / cost of the cases: about the launches that a
  // case takes, more where few cases say it all.
  int cost = 1;
  bool in_turns = false;  // as of PropertyOptions: for laws of few cases
};

template <class Implementation>
struct Law {
  std::string name;
  LawOptions options;
  // Runs the law on generated cases with this implementation. The seed comes from the name. Shrinks
  // a case that breaks the law.
  std::function<PropertyResult(std::string_view, const Implementation&, const PropertyOptions&)>
      judge;
  std::source_location where;  // its entry in the family's list
};

template <class Implementation>
using Laws = std::vector<Law<Implementation>>;

// `check` takes the implementation and a case: a function, so that the type of the case is known.
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

// What the simulated GPU counts while `run` runs; all 0 where nothing counts, on silicon.
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
