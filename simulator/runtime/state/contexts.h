// Contexts of the driver API. A device has one primary context, which the runtime API works in, and
// any number that a program creates. They share the device and its memory: what a created context
// is more than its device is who frees what was made in it.
//
// Each thread has a stack of contexts; the uppermost is current, and its device is the thread's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

class Runtime;

struct Context {
  int device = 0;
  bool primary = false;
  unsigned flags = 0;
  unsigned long long id = 0;
  bool active = false;     // of a primary one: it has been used or retained since it was last reset
  unsigned retained = 0;   // of a primary one
  bool destroyed = false;  // of a created one
  // What was made in a created one, and goes with it.
  std::set<memory::Address> memory;
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
};

// Guarded by the device lock.
class Contexts {
 public:
  Context& primary(int device);
  Context* create(int device, unsigned flags);
  // nullptr for a handle that is none. One that was destroyed is found, and says so.
  Context* find(const void* handle) const;
  // Who made a stream: a created context, or its device's primary one.
  const Context* owner_of(cudaStream_t stream, int device);
  // Frees what was made in it.
  void destroy(Runtime& runtime, Context& context);
  void reset(int device);  // what is left of the primary one

  // Of the calling thread; nullptr: none.
  static Context* current();
  // Puts it in the place of the current one; nullptr takes that away.
  static void set_current(Context* context);
  static void push(Context* context);
  static Context* pop();
  // For the runtime API: a thread without a context works in its device's primary one.
  void bind(int device);
  // cudaSetDevice.
  void use_primary(int device);

  // What is made in the current context, if that was created, is its own.
  static Context* created_current();

 private:
  std::map<int, Context> primaries_;
  std::map<const void*, std::unique_ptr<Context>> created_;
  unsigned long long ids_ = 0;
};
Contexts& contexts();

}  // namespace lockstep::runtime
