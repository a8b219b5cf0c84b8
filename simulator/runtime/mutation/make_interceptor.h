// What `lockstep mutate` asks of this process.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "simulator/runtime/state/interceptor.h"

namespace lockstep::runtime {

// As the plan in the file says (plan.h), or a sentence about what is wrong with it.
std::variant<std::unique_ptr<Interceptor>, std::string> make_interceptor(const std::string& path);

}  // namespace lockstep::runtime
