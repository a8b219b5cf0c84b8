#include "simulator/runtime/state/contexts.h"

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

Contexts& contexts() {
  static auto* const all = new Contexts;
  return *all;
}

Context& Contexts::primary(int device) {
  Context& context = primaries_[device];
  if (context.id == 0) {
    context.device = device;
    context.primary = true;
    context.id = ++ids_;
  }
  return context;
}

Context* Contexts::create(int device, unsigned flags) {
  auto context = std::make_unique<Context>();
  context->device = device;
  context->flags = flags;
  context->id = ++ids_;
  context->active = true;
  Context* const handle = context.get();
  created_.emplace(handle, std::move(context));
  return handle;
}

Context* Contexts::find(const void* handle) const {
  if (const auto it = created_.find(handle); it != created_.end()) return it->second.get();
  for (const auto& [device, context] : primaries_) {
    if (&context == handle) return const_cast<Context*>(&context);
  }
  return nullptr;
}

const Context* Contexts::owner_of(cudaStream_t stream, int device) {
  for (const auto& [handle, context] : created_) {
    if (context->streams.count(stream) != 0) return context.get();
  }
  return &primary(device);
}

const Context* Contexts::owner_of(memory::Address base, int device) {
  for (const auto& [handle, context] : created_) {
    if (context->memory.count(base) != 0) return context.get();
  }
  return &primary(device);
}

void Contexts::destroy(Runtime& runtime, Context& context) {
  // The handle stays known: other threads may have it on their stacks.
  context.destroyed = true;
  context.active = false;
  for (const cudaEvent_t event : context.events) runtime.streams.destroy_event(event);
  for (const cudaStream_t stream : context.streams) {
    runtime.streams.destroy_stream(stream, runtime.order);
  }
  for (const memory::Address address : context.memory) {
    const memory::Allocation* a = runtime.memory->find(address);
    if (a == nullptr || a->freed) continue;
    runtime.leaks.freed(address);
    runtime.memory->release(address);
  }
  context.events.clear();
  context.streams.clear();
  context.memory.clear();
  if (current() == &context) pop();
}

void Contexts::reset(int device) {
  Context& context = primary(device);
  context.active = false;
  context.flags = 0;
  context.set_flags.reset();
}

Context* Contexts::current() {
  const auto& stack = thread_state().contexts;
  return stack.empty() ? nullptr : stack.back();
}

void Contexts::set_current(Context* context) {
  auto& stack = thread_state().contexts;
  if (!stack.empty()) stack.pop_back();
  if (context != nullptr) push(context);
}

void Contexts::push(Context* context) {
  thread_state().contexts.push_back(context);
  thread_state().device = context->device;
}

Context* Contexts::pop() {
  auto& stack = thread_state().contexts;
  if (stack.empty()) return nullptr;
  Context* const last = stack.back();
  stack.pop_back();
  if (!stack.empty()) thread_state().device = stack.back()->device;
  return last;
}

void Contexts::bind(int device) {
  if (current() == nullptr) push(&primary(device));
  current()->active = !current()->destroyed;
}

void Contexts::use_primary(int device) {
  set_current(&primary(device));
  current()->active = true;
}

Context* Contexts::created_current() {
  Context* const context = current();
  return context == nullptr || context->primary ? nullptr : context;
}

}  // namespace lockstep::runtime
