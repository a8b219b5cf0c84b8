// libcuda.so.1: exports the names of the driver API (libcuda.awk) and forwards each to the
// simulated libcudart.so.13. A process thus has one simulated GPU, whichever API the program calls.
// The dynamic linker does not load this library beside another libcudart.so.13, which has no
// LOCKSTEP_1.
#include <cstddef>

extern "C" {

// Defined in the simulated runtime (entry_points.cc). Weak, so that a program can be linked with
// this library and NVIDIA's runtime.
void* lockstepDriverEntryPoint(const char* name) __attribute__((weak));
int lockstepUnsupportedDriverCall(const char* name) __attribute__((weak));
void lockstepStandIn(const void* address) __attribute__((weak));

extern __attribute__((visibility("hidden"))) void* lockstep_slots[];
extern __attribute__((visibility("hidden"))) const char* const lockstep_names[];

// Called for names that are not simulated.
__attribute__((visibility("hidden"))) int lockstep_refuse_driver_call(int number) {
  return lockstepUnsupportedDriverCall(lockstep_names[number]);
}

}  // extern "C"

namespace {

__attribute__((constructor)) void fill_slots() {
  // Makes findings name the code that calls this library, not the library.
  lockstepStandIn(reinterpret_cast<const void*>(&fill_slots));
  for (std::size_t i = 0; lockstep_names[i] != nullptr; ++i) {
    if (void* const function = lockstepDriverEntryPoint(lockstep_names[i]))
      lockstep_slots[i] = function;
  }
}

}  // namespace
