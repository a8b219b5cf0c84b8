// Contexts of the driver API. A device has one primary context, which the runtime API uses, and any
// number of contexts that a program creates. They share the device and its memory. A created
// context adds only ownership: destroying it frees what was created in it.
//
// Each thread has a stack of contexts. The top one is current, and its device is the thread's
// device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

class Runtime;

struct Context {
  int device = 0;
  bool primary = false;
  unsigned flags = 0;
  std::optional<unsigned> set_flags;  // cuCtxSetFlags; cuDevicePrimaryCtxGetState leaves it out
  unsigned long long id = 0;
  bool active = false;     // for a primary one: it has been used or retained since its last reset
  unsigned retained = 0;   // for a primary one
  bool destroyed = false;  // for a created one
  // Objects made in a created context, which are destroyed with it.
  std::set<memory::Address> memory;
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
};

// Guarded by the device lock.
class Contexts {
 public:
  Context& primary(int device);
  Context* create(int device, unsigned flags);
  // Returns nullptr for an invalid handle. A destroyed context is returned, with `destroyed` set.
  Context* find(const void* handle) const;
  // The context in which a stream was created: a created one, or its device's primary one.
  const Context* owner_of(cudaStream_t stream, int device);
  // The same for memory that begins at an address.
  const Context* owner_of(memory::Address base, int device);
  // Frees everything that was created in the context.
  void destroy(Runtime& runtime, Context& context);
  void reset(int device);  // resets the device's primary context

  // The calling thread's current context; nullptr: none.
  static Context* current();
  // Replaces the current context; nullptr removes it.
  static void set_current(Context* context);
  static void push(Context* context);
  static Context* pop();
  // For the runtime API: a thread without a context uses its device's primary one.
  void bind(int device);
  // cudaSetDevice.
  void use_primary(int device);

  // The current context if it is a created one, which then owns new objects; nullptr otherwise.
  static Context* created_current();

 private:
  std::map<int, Context> primaries_;
  std::map<const void*, std::unique_ptr<Context>> created_;
  unsigned long long ids_ = 0;
};
Contexts& contexts();

}  // namespace lockstep::runtime
