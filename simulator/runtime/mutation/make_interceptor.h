// Creates the interceptor that `lockstep mutate` requests of this process.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "simulator/runtime/state/interceptor.h"

namespace lockstep::runtime {

// Reads the plan in the file (plan.h). Returns an error message if it is invalid.
std::variant<std::unique_ptr<Interceptor>, std::string> make_interceptor(const std::string& path);

}  // namespace lockstep::runtime
