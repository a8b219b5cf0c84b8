// libcuda.so.1: the names of the driver API (libcuda.awk), led to the functions in the simulated libcudart.so.13, so that there is one simulated GPU in a
// process whichever API it is reached by.
#include <cstddef>
#include <cstdio>

extern "C" {

// In the simulated runtime, and in no other.
void* lockstepDriverEntryPoint(const char* name) __attribute__((weak));
int lockstepUnsupportedDriverCall(const char* name) __attribute__((weak));

extern __attribute__((visibility("hidden"))) void* lockstep_slots[];
extern __attribute__((visibility("hidden"))) const char* const lockstep_names[];

__attribute__((visibility("hidden"))) int lockstep_refuse_driver_call(int number) {
  constexpr int kSystemNotReady = 802;
  if (lockstepUnsupportedDriverCall != nullptr) return lockstepUnsupportedDriverCall(lockstep_names[number]);
  std::fprintf(stderr, "lockstep: %s: this process has another libcudart.so.13 than the simulated one, without which there is no simulated driver\n",
               lockstep_names[number]);
  return kSystemNotReady;
}

}  // extern "C"

namespace {

__attribute__((constructor)) void fill_slots() {
  if (lockstepDriverEntryPoint == nullptr) return;
  for (std::size_t i = 0; lockstep_names[i] != nullptr; ++i) {
    if (void* const function = lockstepDriverEntryPoint(lockstep_names[i])) lockstep_slots[i] = function;
  }
}

}  // namespace
