// Laws that follow from a launcher's contract (harness/property/contract.h) or from a case's
// launch() alone. A family gets all of them if its laws are
//
//   return with_batteries<call_of, SmallCase>({law(...), law(...)});
//
// call_of returns the Call, or the Calls, of a case; SmallCase is a case type of moderate size.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
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

// A mistake in one argument must be refused with cudaErrorInvalidValue and a sentence, without a
// write to an array. kCalls returns the Call, or the Calls, of a case.
template <auto kCalls, class Case>
auto refusal_law(std::string name, const LawOptions& options,
                 std::source_location where = std::source_location::current()) {
  using Implementation =
      typename decltype(detail::as_calls(kCalls(std::declval<const Case&>())))::value_type::Judged;
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
    for (auto& call : detail::as_calls(kCalls(empty))) {
      call.allocate(/*null_where_empty=*/true);
      const Site site = {__FILE__, __LINE__, call.launcher().c_str()};
      require_no_launch([&](cudaStream_t stream) {
        lockstep::detail::require_success(site, call.launch(f, stream));
      });
    }
  }
}

template <auto kCalls, class Case, auto... kSizes>
auto no_work_law(std::string name, const LawOptions& options,
                 std::source_location where = std::source_location::current()) {
  using Implementation =
      typename decltype(detail::as_calls(kCalls(std::declval<const Case&>())))::value_type::Judged;
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

// A case without fields.
struct NoFields {
  static void fields(NoFields&, FieldVisitor&) {}
};

// Whether a stride or an offset among the arguments decides how far an array extends: a call's
// spreads (contract.h).
enum class Arrays : std::uint8_t { kContiguous, kStrided };

// Further statements of a family's contracts (contract.h). Each has its own battery.
enum Says : unsigned {
  kSaysImmaterial = 1,  // call.immaterial
  kSaysLengths = 2,     // call.lengthens
  kSaysReports = 4,     // call.reports
};

namespace battery {

template <auto kCalls, class Case>
using JudgedBy = typename decltype(lockstep::detail::as_calls(
    kCalls(std::declval<const Case&>())))::value_type::Judged;

// Makes unrelated calls: of the family's launcher `i` and of the next launcher.
template <auto kCalls, class Case, class Implementation>
void call_another(const Implementation& f, const Case& unrelated, std::size_t i) {
  auto calls = lockstep::detail::as_calls(kCalls(unrelated));
  for (const std::size_t which : {i % calls.size(), (i + 1) % calls.size()}) {
    calls[which].allocate();
    const Site site = {__FILE__, __LINE__, calls[which].launcher().c_str()};
    lockstep::detail::require_success(site, calls[which].launch(f, nullptr));
    lockstep::detail::require_success(site, cudaDeviceSynchronize());
  }
}

// Applies kLaw to each of a case's calls, with a trial and another call.
template <auto kCalls, auto kLaw, class Case, class Implementation>
void for_each_call(const Implementation& f, const Case& c) {
  const Case other = with_other_contents<kCalls>(c), unrelated = another_case(c);
  auto judged = lockstep::detail::as_calls(kCalls(c)),
       first = lockstep::detail::as_calls(kCalls(c)),
       others = lockstep::detail::as_calls(kCalls(other));
  for (std::size_t i = 0; i < judged.size(); ++i) {
    first[i].allocate(), others[i].allocate();
    Trial trial(judged[i].bind(f), first[i].bind(f), others[i].bind(f));
    if constexpr (std::is_invocable_v<decltype(kLaw), Trial&>) {
      kLaw(trial);
    } else {
      kLaw(trial, [&] { call_another<kCalls>(f, unrelated, i); });
    }
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
    require_no_state(one, two, [&] { call_another<kCalls>(f, unrelated, i); });
  }
}

// The same arrays with other arguments: one field of the case is changed.
template <auto kCalls, class Case, class Implementation>
void require_no_state_of_arguments_of(const Implementation& f, const Case& c) {
  constexpr int kFields = 4;  // the case determines which ones
  const auto calls = [](const Case& of) { return lockstep::detail::as_calls(kCalls(of)); };
  const std::vector<Case> redrawn = with_one_field_redrawn(c, kFields);
  // One of these cases, determined by the case, is also called from another host thread.
  const std::size_t meets =
      seed_of_case(lockstep::detail::BoxedCase<Case>(c)) % std::max<std::size_t>(redrawn.size(), 1);
  for (std::size_t k = 0; k < redrawn.size(); ++k) {
    auto ones = calls(c), others = calls(redrawn[k]), fresh = calls(redrawn[k]);
    for (auto& one : ones) {
      for (std::size_t i = 0; i < others.size(); ++i) {
        if (others[i].launcher() == one.launcher())
          require_no_state_of_arguments(one.bind(f), others[i].bind(f), fresh[i].bind(f),
                                        k == meets);
      }
    }
  }
}

template <auto kCalls, class Case, class Implementation>
void require_far_pieces_of(const Implementation& f, const Case& c) {
  auto judged = lockstep::detail::as_calls(kCalls(c)),
       first = lockstep::detail::as_calls(kCalls(c));
  const std::uint64_t seed = seed_of_case(lockstep::detail::BoxedCase<Case>(c));
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (judged[i].spreads().empty()) continue;  // for example a single row
    first[i].allocate();
    Trial trial(judged[i].bind(f), first[i].bind(f), first[i].bind(f));
    require_far_pieces(trial, seed);
  }
}

// Applies kLaw to each of a case's calls for which kApplies holds, with a trial and a seed that the
// case determines.
template <auto kCalls, auto kLaw, auto kApplies, class Case, class Implementation>
void for_each_call_with_seed(const Implementation& f, const Case& c) {
  auto judged = lockstep::detail::as_calls(kCalls(c)),
       first = lockstep::detail::as_calls(kCalls(c));
  const std::uint64_t seed = seed_of_case(lockstep::detail::BoxedCase<Case>(c));
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (!kApplies(judged[i])) continue;
    first[i].allocate();
    Trial trial(judged[i].bind(f), first[i].bind(f), first[i].bind(f));
    kLaw(trial, seed);
  }
}

inline bool has_immaterial_arguments(const Contract& contract) {
  return !contract.immaterial_arguments().empty();
}
inline bool reports(const Contract& contract) { return !contract.reported().empty(); }

// Few cases of a family are long enough for a grid of two blocks. Therefore this tries a sequence
// of cases, which the case determines, and judges each launcher in the first case that is suitable.
template <auto kCalls, class Case, class Implementation>
void require_far_ends_of(const Implementation& f, const Case& c) {
  require_capability({Capability::kSimulator});  // silicon would execute the whole grid
  constexpr int kDrawn = 200;
  std::set<std::string> left, judged;  // launchers
  Case at = c;
  for (int i = 0; i < kDrawn && (i == 0 || !left.empty()); ++i, at = another_case(at)) {
    auto calls = lockstep::detail::as_calls(kCalls(at)),
         first = lockstep::detail::as_calls(kCalls(at));
    const std::uint64_t seed = seed_of_case(lockstep::detail::BoxedCase<Case>(at));
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const std::string& launcher = calls[k].launcher();
      if (calls[k].lengthenings().empty() || judged.contains(launcher)) continue;
      left.insert(launcher);
      if (!may_have_far_ends(calls[k])) continue;
      left.erase(launcher), judged.insert(launcher);
      first[k].allocate();
      Trial trial(calls[k].bind(f), first[k].bind(f), first[k].bind(f));
      require_far_ends(trial, seed);
    }
  }
}

template <auto kCalls, class Case, class Implementation>
void require_no_state_between_devices_of(const Implementation& f, const Case& c) {
  require_capability({Capability::kDevices, 2});
  const Case other = with_other_contents<kCalls>(c);
  const auto calls = [](const Case& of) { return lockstep::detail::as_calls(kCalls(of)); };
  auto judged = calls(c), first = calls(c), others = calls(other), judged_there = calls(c),
       first_there = calls(c), others_there = calls(other);
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

template <auto kCalls, Arrays kArrays = Arrays::kContiguous, unsigned kSays = 0, class Case,
          class Implementation>
void require_promises_of(const Implementation& f, const Promised<kCalls, Case>& c) {
  auto calls = Promised<kCalls, Case>::calls(c);
  for (auto& call : calls) {
    REQUIRE_LAW(kArrays == Arrays::kStrided || call.spreads().empty(),
                "{} has strides, and no battery tries them: with_batteries<call_of, Case, "
                "Arrays::kStrided> does",
                call.launcher());
    unsigned says = 0;
    if (!call.immaterial_arguments().empty()) says |= kSaysImmaterial;
    if (!call.lengthenings().empty()) says |= kSaysLengths;
    if (!call.reported().empty()) says |= kSaysReports;
    REQUIRE_LAW((says & ~kSays) == 0,
                "{} says more (Says {}) than the family's batteries try ({}): with_batteries",
                call.launcher(), says, kSays);
    const std::vector<std::string> promises = lockstep::detail::asked_for(
        call.promises(), lockstep::detail::prefix_of(calls, call), c.promise);
    require_promises(call.bind(f), promises);
    if (!promises.empty()) require_same_limits(call.bind(f), promises);
  }
}

template <auto kCalls, class Case, class Implementation>
void require_same_without_other_properties_of(const Implementation& f, const Case& c) {
  require_capability({Capability::kSimulator});  // silicon's properties cannot be changed
  const std::uint64_t seed = seed_of_case(lockstep::detail::BoxedCase<Case>(c));
  for (auto& call : lockstep::detail::as_calls(kCalls(c)))
    require_same_without_other_properties(call.bind(f), seed);
}

}  // namespace battery

// The cost of a law (law.h) whose single case is a huge grid, or hundreds of launches or stages.
inline constexpr int kCostOfHugeWork = 1000;

// Runs every law of the list on arrays of another device, with at most as many cases as this law. A
// launcher must prepare each device that it uses, on every path that a law uses. Omits laws with
// one huge case: the size does not affect the preparation. A counterexample is the law's name and
// its case: "MatchesItsReference: n=1 ...".
template <class Implementation>
Law<Implementation> second_device_law(std::string name, const Laws<Implementation>& laws,
                                      const LawOptions& options, std::source_location where) {
  auto judge = [laws](std::string_view name, const Implementation& f,
                      const PropertyOptions& options) {
    PropertyOptions once;
    once.cases = 1;
    PropertyResult all = run_property<NoFields>(
        name,
        [](const NoFields&) {
          require_capability({Capability::kDevices, 2});
        },
        once);
    all.cases = 0;
    if (!all.held) return all;
    const OnOtherDevice other_device;
    bool replayed = false;
    for (const Law<Implementation>& law : laws) {
      if (law.options.cost >= kCostOfHugeWork && !options.replay) continue;
      PropertyOptions of_law = options;
      of_law.cases = std::min(options.cases, law.options.cases);
      of_law.in_turns = true;
      const std::string prefix = law.name + ": ";
      if (options.replay) {
        if (!options.replay->starts_with(prefix)) continue;
        of_law.replay = options.replay->substr(prefix.size());
        replayed = true;
      }
      PropertyResult result = law.judge(law.name, f, of_law);
      all.cases += result.cases;
      all.budget = std::max(all.budget, result.budget);
      if (result.held || result.not_applicable) continue;
      result.cases = all.cases;
      result.minimal_case = prefix + result.minimal_case;
      if (result.not_run) result.not_run = prefix + *result.not_run;
      return result;
    }
    if (options.replay && !replayed) all.held = false, all.not_run = "--case: no law of that name";
    return all;
  };
  return {std::move(name), options, std::move(judge), where};
}

// The laws of a family, followed by the batteries.
template <auto kCalls, class Case, Arrays kArrays, unsigned kSays, class Implementation>
Laws<Implementation> with_batteries_of(Laws<Implementation> laws, std::source_location where) {
  const LawOptions options = {.cases = 20, .cost = 20, .in_turns = true},
                   few = {.cases = 10, .cost = 40, .in_turns = true};
  laws.push_back(second_device_law("HoldsOnASecondDevice", laws, {.cases = 2, .cost = 20}, where));
  const auto add = [&](const char* name, void (*check)(const Implementation&, const Case&),
                       const LawOptions& cases) { laws.push_back(law(name, check, cases, where)); };
  add("WorksOnItsStream", battery::for_each_call<kCalls, require_stream_order>, options);
  add("CanBeCaptured", battery::for_each_call<kCalls, require_capture>, options);
  add("ReturnsEachErrorOfCuda", battery::for_each_call<kCalls, require_errors_returned>, few);
  add("GivesTheSameUnderEachSchedule", battery::for_each_call<kCalls, require_no_schedule>,
      {.cases = 5, .cost = 40, .in_turns = true});
  add("LaunchesTheGridItPromises", battery::for_each_call<kCalls, require_grid>, options);
  add("KeepsNoState", battery::require_no_state_of<kCalls>, few);
  add("KeepsNoStateOfArguments", battery::require_no_state_of_arguments_of<kCalls>, few);
  add("KeepsNoStateBetweenDevices", battery::require_no_state_between_devices_of<kCalls>, few);
  add("NeedsNoOtherProperty", battery::require_same_without_other_properties_of<kCalls>, few);
  laws.push_back(law("TakesWhatItPromises",
                     battery::require_promises_of<kCalls, kArrays, kSays, Case, Implementation>,
                     options, where));
  if constexpr ((kSays & kSaysImmaterial) != 0) {
    add("HoldsForImmaterialArguments",
        battery::for_each_call_with_seed<kCalls, require_no_effect_of_immaterial_arguments,
                                         battery::has_immaterial_arguments>,
        options);
  }
  if constexpr ((kSays & kSaysReports) != 0) {
    add("FillsInWhatItReports",
        battery::for_each_call_with_seed<kCalls, require_reports_filled, battery::reports>, few);
  }
  if constexpr ((kSays & kSaysLengths) != 0) {
    add("HoldsAtItsFarEnds", battery::require_far_ends_of<kCalls>,
        {.cases = 20, .cost = 20, .in_turns = true});
  }
  if constexpr (kArrays == Arrays::kStrided)
    add("ReachesFarElements", battery::require_far_pieces_of<kCalls>, options);
  return laws;
}

template <auto kCalls, class Case, Arrays kArrays = Arrays::kContiguous, unsigned kSays = 0>
auto with_batteries(Laws<battery::JudgedBy<kCalls, Case>> laws,
                    std::source_location where = std::source_location::current()) {
  return with_batteries_of<kCalls, Case, kArrays, kSays>(std::move(laws), where);
}

}  // namespace lockstep::properties
