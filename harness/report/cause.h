// Whether two failures have the same cause, judged by reason and message alone.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Equal for failures of one reason that happened at the same lines of source, as findings of the
// simulated GPU name them; where none is named, for those that say the same, to the last number.
// Empty: nothing is known, and the failure is one of its own.
std::string cause_of(std::string_view reason, std::string_view message);

}  // namespace lockstep
