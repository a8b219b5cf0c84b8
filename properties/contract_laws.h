// Laws that follow from a launcher's contract (harness/property/contract.h) or from a case's launch(), and take no
// words of a family's own. A family whose laws are
//
//   return with_batteries<call_of, SmallCase>({law(...), law(...)});
//
// owes them all: call_of gives the Call, or the Calls, of a case, and SmallCase is of moderate size.
#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "harness/property/compare.h"
#include "harness/property/contract.h"
#include "properties/batteries.h"
#include "properties/law.h"
#include "properties/no_launch.h"
#include "properties/trial.h"

namespace lockstep::properties {

// A mistake in one argument is refused with cudaErrorInvalidValue and a sentence, and no array is written. kCalls gives
// the Call, or the Calls, of a case.
template <auto kCalls, class Case>
auto refusal_law(std::string name, const LawOptions& options,
                 std::source_location where = std::source_location::current()) {
  using Implementation = typename decltype(detail::as_calls(kCalls(std::declval<const Case&>())))::value_type::Judged;
  return law<Refused<kCalls, Case>, Implementation>(std::move(name), require_refusal<kCalls, Case, Implementation>,
                                                    options, where);
}

// With any one of these sizes 0 the call is legal, arrays without elements may be null, and no kernel is launched.
template <auto kCalls, auto... kSizes, class Case, class Implementation>
void require_no_work(const Implementation& f, const Case& c) {
  for (const auto size : {kSizes...}) {
    Case empty = c;
    empty.*size = 0;
    for (auto& call : detail::as_calls(kCalls(empty))) {
      call.allocate(/*null_where_empty=*/true);
      const Site site = {__FILE__, __LINE__, call.launcher().c_str()};
      require_no_launch([&](cudaStream_t stream) { lockstep::detail::require_success(site, call.launch(f, stream)); });
    }
  }
}

template <auto kCalls, class Case, auto... kSizes>
auto no_work_law(std::string name, const LawOptions& options,
                 std::source_location where = std::source_location::current()) {
  using Implementation = typename decltype(detail::as_calls(kCalls(std::declval<const Case&>())))::value_type::Judged;
  return law<Case, Implementation>(std::move(name), require_no_work<kCalls, kSizes...>, options, where);
}

// Case::launch() gives the same bits under 50 schedules; on silicon, in 50 runs.
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

namespace battery {

template <auto kCalls, class Case>
using JudgedBy = typename decltype(lockstep::detail::as_calls(kCalls(std::declval<const Case&>())))::value_type::Judged;

// kLaw for each of a case's calls.
template <auto kCalls, void (*kLaw)(Trial&), class Case, class Implementation>
void for_each_call(const Implementation& f, const Case& c) {
  const Case other = with_other_contents<kCalls>(c);
  auto judged = lockstep::detail::as_calls(kCalls(c)), first = lockstep::detail::as_calls(kCalls(c)),
       others = lockstep::detail::as_calls(kCalls(other));
  for (std::size_t i = 0; i < judged.size(); ++i) {
    first[i].allocate(), others[i].allocate();
    Trial trial(judged[i].bind(f), first[i].bind(f), others[i].bind(f));
    kLaw(trial);
  }
}

template <auto kCalls, class Case, class Implementation>
void require_no_state_of(const Implementation& f, const Case& c) {
  const Case other = with_other_contents<kCalls>(c), unrelated = another_case(c);
  const auto calls = [](const Case& of) { return lockstep::detail::as_calls(kCalls(of)); };
  auto judged = calls(c), twins = calls(c), first = calls(c), others = calls(other);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    first[i].allocate(), others[i].allocate();
    Trial one(judged[i].bind(f), first[i].bind(f), others[i].bind(f)),
        two(twins[i].bind(f), first[i].bind(f), others[i].bind(f));
    // The same launcher, and the family's next.
    const auto another = [&] {
      auto unrelated_calls = calls(unrelated);
      const std::size_t count = unrelated_calls.size();
      for (const std::size_t which : {i % count, (i + 1) % count}) {
        unrelated_calls[which].allocate();
        const Site site = {__FILE__, __LINE__, unrelated_calls[which].launcher().c_str()};
        lockstep::detail::require_success(site, unrelated_calls[which].launch(f, nullptr));
        lockstep::detail::require_success(site, cudaDeviceSynchronize());
      }
    };
    require_no_state(one, two, another);
  }
}

template <auto kCalls, class Case, class Implementation>
void require_no_state_between_devices_of(const Implementation& f, const Case& c) {
  require_capability({Capability::kDevices, 2});
  const Case other = with_other_contents<kCalls>(c);
  const auto calls = [](const Case& of) { return lockstep::detail::as_calls(kCalls(of)); };
  auto judged = calls(c), first = calls(c), others = calls(other), judged_there = calls(c), first_there = calls(c),
       others_there = calls(other);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    first[i].allocate(), others[i].allocate();
    Trial one(judged[i].bind(f), first[i].bind(f), others[i].bind(f));
    std::optional<Trial> two;
    {
      const OnOtherDevice other_device;
      first_there[i].allocate(), others_there[i].allocate();
      two.emplace(judged_there[i].bind(f), first_there[i].bind(f), others_there[i].bind(f));
    }
    require_no_state_between_devices(one, *two);
  }
}

template <auto kCalls, class Case, class Implementation>
void require_promises_of(const Implementation& f, const Promised<kCalls, Case>& c) {
  auto calls = Promised<kCalls, Case>::calls(c);
  for (auto& call : calls) {
    require_promises(call.bind(f),
                     lockstep::detail::asked_for(call.promises(), lockstep::detail::prefix_of(calls, call), c.promise));
  }
}

}  // namespace battery

// The laws of a family, and after them the batteries: what every launcher owes.
template <auto kCalls, class Case, class Implementation>
Laws<Implementation> with_batteries_of(Laws<Implementation> laws, std::source_location where) {
  const LawOptions options = {.cases = 20, .cost = 20}, few = {.cases = 10, .cost = 40};
  const auto add = [&](const char* name, void (*check)(const Implementation&, const Case&), const LawOptions& cases) {
    laws.push_back(law(name, check, cases, where));
  };
  add("WorksOnItsStream", battery::for_each_call<kCalls, require_stream_order>, options);
  add("CanBeCaptured", battery::for_each_call<kCalls, require_capture>, options);
  add("KeepsNoState", battery::require_no_state_of<kCalls>, few);
  add("KeepsNoStateBetweenDevices", battery::require_no_state_between_devices_of<kCalls>, few);
  laws.push_back(
      law("TakesWhatItPromises", battery::require_promises_of<kCalls, Case, Implementation>, options, where));
  return laws;
}

template <auto kCalls, class Case>
auto with_batteries(Laws<battery::JudgedBy<kCalls, Case>> laws,
                    std::source_location where = std::source_location::current()) {
  return with_batteries_of<kCalls, Case>(std::move(laws), where);
}

}  // namespace lockstep::properties
