// Laws that follow from a launcher's contract (harness/property/contract.h) or from a case's
// launch() alone. A family gets all of them if its laws are
//
//   return with_batteries<call_of, SmallCase>({law(...), law(...)});
//
// call_of returns the Call, or the Calls, of a case; SmallCase is a case type of moderate size.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/property/compare.h"
#include "harness/property/contract.h"
#include "properties/case_batteries.h"
#include "properties/law.h"
#include "properties/subject.h"

namespace lockstep::properties {

// A mistake in one argument must be refused with cudaErrorInvalidValue and a sentence, without a
// write to an array. kCalls returns the Call, or the Calls, of a case.
template <auto kCalls, class Case>
auto refusal_law(std::string name, const LawOptions& options,
                 std::source_location where = std::source_location::current()) {
  using Implementation = detail::JudgedBy<kCalls, Case>;
  return law<Refused<kCalls, Case>, Implementation>(
      std::move(name), require_refusal<kCalls, Case, Implementation>, options, where);
}

// If any one of these sizes is 0, the call must be legal, arrays without elements may be null, and
// no kernel may be launched.
template <auto kCalls, auto... kSizes, class Case, class Implementation>
void require_no_work(const Implementation& f, const Case& c) {
  for (const auto size : {kSizes...}) {
    Case empty = c;
    empty.*size = 0;
    require_no_work(bind_calls(detail::as_calls(kCalls(empty)), f));
  }
}

template <auto kCalls, class Case, auto... kSizes>
auto no_work_law(std::string name, const LawOptions& options,
                 std::source_location where = std::source_location::current()) {
  using Implementation = detail::JudgedBy<kCalls, Case>;
  return law<Case, Implementation>(std::move(name), require_no_work<kCalls, kSizes...>, options,
                                   where);
}

// Case::launch() must give the same bits under 50 schedules; on silicon, in 50 runs.
template <class Case, class Implementation>
void require_same_bits(const Implementation& f, const Case& c) {
  constexpr int kSchedules = 50;
  REQUIRE_DETERMINISTIC(kSchedules, [&] {
    if constexpr (requires { c.launch(f).fetch(); }) {
      return c.launch(f).fetch();
    } else {
      return c.launch(f);
    }
  });
}

// Runs every law of the list on arrays of another device, with at most as many cases as this law
// (judge_on_second_device). A launcher must prepare each device that it uses, on every path that a
// law uses.
template <class Implementation>
Law<Implementation> second_device_law(std::string name, const Laws<Implementation>& laws,
                                      const LawOptions& options, std::source_location where) {
  auto judge = [laws](std::string_view name, const Implementation& f,
                      const PropertyOptions& options) {
    std::vector<AppliedLaw> applied;
    for (const Law<Implementation>& law : laws) {
      applied.push_back({law.name, law.options, [&](const PropertyOptions& options) {
                           return law.judge(law.name, f, options);
                         }});
    }
    return judge_on_second_device(name, applied, options);
  };
  return {std::move(name), options, std::move(judge), where};
}

// A law of a subject as a law of its implementation.
template <auto kCalls, class Case, class Implementation>
Law<Implementation> law_of(Law<Subject> law) {
  auto judge = [judge = std::move(law.judge)](std::string_view name, const Implementation& f,
                                              const PropertyOptions& options) {
    return judge(name, SubjectOf<kCalls, Case, Implementation>(f), options);
  };
  return {std::move(law.name), law.options, std::move(judge), law.where};
}

// The laws of a family, followed by the batteries.
template <auto kCalls, class Case, Arrays kArrays = Arrays::kContiguous, unsigned kSays = 0>
auto with_batteries(Laws<detail::JudgedBy<kCalls, Case>> laws,
                    std::source_location where = std::source_location::current()) {
  using Implementation = detail::JudgedBy<kCalls, Case>;
  laws.push_back(second_device_law("HoldsOnASecondDevice", laws, {.cases = 2, .cost = 20}, where));
  for (Law<Subject>& battery : batteries_of(kArrays, kSays, where))
    laws.push_back(law_of<kCalls, Case, Implementation>(std::move(battery)));
  return laws;
}

}  // namespace lockstep::properties
