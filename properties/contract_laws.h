// Laws that follow from a launcher's contract (harness/property/contract.h) or from a case's launch(), and take no
// words of a family's own.
#pragma once

#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "harness/property/compare.h"
#include "harness/property/contract.h"
#include "properties/law.h"
#include "properties/no_launch.h"

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

}  // namespace lockstep::properties
