// The place of a finding in the source.
#pragma once

#include <nlohmann/json.hpp>

namespace lockstep::exec {

// The innermost frame of a host stack (simulator/extension.h) that has a source line. Null if no
// frame has one.
const nlohmann::json& host_place(const nlohmann::json& stack);

// The object with the finding's `file` and `line`: the finding itself or, for a finding about the
// host, the frame of the call or allocation.
const nlohmann::json& finding_place(const nlohmann::json& finding);

}  // namespace lockstep::exec
