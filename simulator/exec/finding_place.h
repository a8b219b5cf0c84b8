// The place of a finding in the source.
#pragma once

#include <nlohmann/json.hpp>

namespace lockstep::exec {

// The innermost frame with a source line, of a stack of the host (simulator/extension.h). Null:
// none has one.
const nlohmann::json& host_place(const nlohmann::json& stack);

// What has `file` and `line` of a finding: itself, or, of the host's, the frame that made the call
// or the allocation.
const nlohmann::json& finding_place(const nlohmann::json& finding);

}  // namespace lockstep::exec
