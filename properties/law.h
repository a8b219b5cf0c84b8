// A law, apart from the implementation that it judges: what the tests of the real kernels and the known-bad tests
// share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "harness/compare.h"
#include "harness/device.h"
#include "harness/property.h"

namespace lockstep::properties {

template <class Implementation>
struct Law {
  std::string name;
  // Who judges many kernels gives a law a share of 1 / cost of the cases: about the launches that a case takes, more
  // where few cases say it all.
  int cost = 1;
  // Runs the law on generated cases with this implementation; shrinks when one breaks it.
  std::function<PropertyResult(const Implementation&, const PropertyOptions&)> judge;
};

template <class Case, class Implementation>
Law<Implementation> law(std::string name, void (*check)(const Implementation&, const Case&), int cost = 1) {
  return {name, cost, [name, check](const Implementation& implementation, const PropertyOptions& options) {
            return run_property<Case>(
                name, [&](const Case& c) { check(implementation, c); }, options);
          }};
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
