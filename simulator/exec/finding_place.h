// The place of a finding in the source.
#pragma once

#include <nlohmann/json.hpp>

namespace lockstep::exec {

// The innermost frame with a source line of a host stack (simulator/extension.h). Null if none has
// one.
const nlohmann::json& host_place(const nlohmann::json& stack);

// The part of a finding with `file` and `line`: the finding itself or, for a finding of the host,
// the frame of the call or allocation.
const nlohmann::json& finding_place(const nlohmann::json& finding);

}  // namespace lockstep::exec
