// Decides from reason and message alone whether two failures have the same cause.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// A key that is equal for failures with the same cause: the same reason and the same source lines
// in the findings of the simulated GPU. Without source lines, the whole message must be the same.
// Empty: unknown; the failure counts separately.
std::string cause_of(std::string_view reason, std::string_view message);

}  // namespace lockstep
