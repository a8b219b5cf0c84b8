#include "simulator/runtime/state/condition.h"

#include <mutex>

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

Condition::~Condition() {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.lock);
  runtime.memory->release(word);
}

std::shared_ptr<Condition> make_condition(Runtime& runtime, int device, unsigned default_value,
                                          bool assigns_default) {
  constexpr std::uint64_t kAlignment = 256;
  const memory::Allocation* const a =
      runtime.memory->allocate(sizeof(unsigned), kAlignment, memory::Kind::kDevice, device,
                               "the value of a conditional handle");
  if (a == nullptr) return nullptr;
  auto made = std::make_shared<Condition>();
  made->word = a->base;
  made->device = device;
  made->default_value = default_value;
  made->assigns_default = assigns_default;
  return made;
}

}  // namespace lockstep::runtime
