// Selects the properties that a run executes: -k, --lf, and the output of `list`.
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
  std::string error;               // why the program did not list them; empty: it did
};
// Runs the suite's program to list its properties; no property runs.
SuiteProperties properties_of(const Suite& suite, const Target& target);

// Whether a property's name contains the pattern, or one of several patterns between commas.
// Case-insensitive; * matches any characters, ? matches one. A leading ! negates the whole.
bool has_pattern(std::string_view property, std::string_view pattern);

// The properties that failed or did not run, and the suites that did not begin before the run ended
// early.
struct LastFailed {
  std::set<std::string> properties, suites;
  bool none() const { return properties.empty() && suites.empty(); }
};
LastFailed last_failed(const Passport& passport);

// The suites with properties that `wanted` accepts, each with a filter for these. On an error, or
// if there are none, `suites` is empty and `error` is a sentence that begins with `why`.
Manifest choose_properties(const std::vector<Suite>& suites, const Target& target,
                           const std::string& why,
                           const std::function<bool(const Suite&, const std::string&)>& wanted);

// The order in which to start the suites so that parallel suites end at about the same time: the
// suite that took longest in an earlier run first. A suite that `earlier` does not contain has an
// unknown duration and comes before all others.
std::vector<std::size_t> longest_first(const std::vector<Suite>& suites, const Passport& earlier);

}  // namespace lockstep
