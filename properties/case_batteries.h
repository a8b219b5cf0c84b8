// The batteries (properties/batteries.h) applied to a case: to each of the subject's calls of it.
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "properties/law.h"
#include "properties/subject.h"

namespace lockstep::properties {

// Whether a stride or an offset among the arguments decides how far an array extends: a call's
// spreads (contract.h).
enum class Arrays : std::uint8_t { kContiguous, kStrided };

// Further statements of a family's contracts (contract.h). Each has its own battery.
enum Says : unsigned {
  kSaysImmaterial = 1,  // call.immaterial
  kSaysLengths = 2,     // call.lengthens
  kSaysReports = 4,     // call.reports
};

// Requires that a call with one argument of zero, bound already, is legal, and that it launches no
// kernel. Arrays without elements are null.
void require_no_work(const BoundCalls& calls);

namespace battery {

void require_stream_order_of(const Subject& subject, const AnyCase& c);
void require_capture_of(const Subject& subject, const AnyCase& c);
void require_errors_returned_of(const Subject& subject, const AnyCase& c);
void require_no_schedule_of(const Subject& subject, const AnyCase& c);
void require_grid_of(const Subject& subject, const AnyCase& c);
void require_no_state_of(const Subject& subject, const AnyCase& c);
void require_no_state_of_arguments_of(const Subject& subject, const AnyCase& c);
void require_no_state_between_devices_of(const Subject& subject, const AnyCase& c);
void require_same_without_other_properties_of(const Subject& subject, const AnyCase& c);
void require_no_effect_of_immaterial_arguments_of(const Subject& subject, const AnyCase& c);
void require_reports_filled_of(const Subject& subject, const AnyCase& c);
void require_far_pieces_of(const Subject& subject, const AnyCase& c);
// Few cases of a family are long enough for a grid of two blocks. Therefore this tries a sequence
// of cases, which the case determines, and judges each launcher in the first case that is suitable.
void require_far_ends_of(const Subject& subject, const AnyCase& c);

// Requires the promise of this name, or with detail::kEach every promise. `arrays` and `says` are
// those of the family's batteries: a contract that states more fails.
void require_promises_of(const Subject& subject, const AnyCase& c, const std::string& promise,
                         Arrays arrays, unsigned says);

}  // namespace battery

// The batteries as laws of any family whose contracts have such arrays and make such statements.
Laws<Subject> batteries_of(Arrays arrays, unsigned says, std::source_location where);

// A law that judges one implementation.
struct AppliedLaw {
  std::string_view name;
  LawOptions options;
  std::function<PropertyResult(const PropertyOptions&)> judge;
};

// Judges by each of `laws` on arrays of another device, with at most as many cases as `options`
// have. Omits laws with one huge case (kCostOfHugeWork): the size does not affect the preparation
// of a device. A counterexample is the law's name and its case: "MatchesItsReference: n=1 ...".
PropertyResult judge_on_second_device(std::string_view name, const std::vector<AppliedLaw>& laws,
                                      const PropertyOptions& options);

}  // namespace lockstep::properties
