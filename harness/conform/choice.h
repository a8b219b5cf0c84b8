// The properties that a run selects: -k, --lf, and the output of `list`.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/conform/suites.h"
#include "harness/conform/target.h"
#include "harness/report/passport_file.h"

namespace lockstep {

struct SuiteProperties {
  std::vector<std::string> names;  // "Stencil.MatchesItsReference", in the program's order
  std::string error;               // why the program did not list them; empty when it did
};
// Asks the suite's program for its list; no property runs.
SuiteProperties properties_of(const Suite& suite, const Target& target);

// Whether a property's name contains the pattern, or one of several between commas. Case does not
// count; * stands for any characters, ? for one. A leading ! negates the whole.
bool has_pattern(std::string_view property, std::string_view pattern);

// The properties that failed or did not run, and the suites that a run which was cut short did not
// come to.
struct LastFailed {
  std::set<std::string> properties, suites;
  bool none() const { return properties.empty() && suites.empty(); }
};
LastFailed last_failed(const Passport& passport);

// The suites that have properties which `wanted` takes, each with a filter for these. On an error,
// or if there are none, `suites` is empty and `error` a sentence; `why` begins it.
Manifest choose_properties(const std::vector<Suite>& suites, const Target& target,
                           const std::string& why,
                           const std::function<bool(const Suite&, const std::string&)>& wanted);

// The order in which to begin the suites so that those that run at the same time end together: the
// one that took longest in an earlier run first. A suite that `earlier` does not have may take any
// time: such suites come first of all.
std::vector<std::size_t> longest_first(const std::vector<Suite>& suites, const Passport& earlier);

}  // namespace lockstep
