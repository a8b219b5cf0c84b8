// Laws that apply only to devices with a capability.
#pragma once

#include <string_view>
#include <utility>

#include "harness/property/property.h"
#include "properties/law.h"

namespace lockstep::properties {

template <class Case, class Implementation>
Law<Implementation> needing(const Requirement& needs, Law<Implementation> law) {
  law.judge = [needs, judge = law.judge](std::string_view name, const Implementation& judged,
                                         const PropertyOptions& options) {
    PropertyOptions once;
    once.cases = 1;
    PropertyResult clause = run_property<Case>(
        name, [&](const Case&) { require_capability(needs); }, once);
    return clause.held ? judge(name, judged, options) : clause;
  };
  return law;
}

}  // namespace lockstep::properties
