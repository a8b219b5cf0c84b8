#include "simulator/runtime/mutation/make_interceptor.h"

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "simulator/runtime/mutation/plan.h"
#include "simulator/runtime/mutation/server.h"
#include "simulator/runtime/mutation/survey.h"

namespace lockstep::runtime {
namespace {

template <class T>
std::unique_ptr<Interceptor> watched(std::unique_ptr<T> interceptor) {
  // When the process ends, of its own status: the simulator may end it with another (findings.h).
  on_exit([](int status, void* self) { static_cast<T*>(self)->finish(status); }, interceptor.get());
  return interceptor;
}

}  // namespace

std::variant<std::unique_ptr<Interceptor>, std::string> make_interceptor(const std::string& path) {
  auto read = read_plan(path);
  if (auto* error = std::get_if<std::string>(&read)) return std::move(*error);
  Plan& plan = std::get<Plan>(read);
  try {
    if (plan.mode == Plan::Mode::kSurvey) return watched(std::make_unique<Survey>(std::move(plan)));
    return watched(std::make_unique<MutationServer>(std::move(plan)));
  } catch (const std::runtime_error& error) {
    return std::string(error.what());
  }
}

}  // namespace lockstep::runtime
