// Which device may run the kernels: LOCKSTEP_GPU. A device that is asked for and absent is a
// failure before the first property, never a skip: a skipped test is a pass that a shared cache
// hands to the machine that does have the GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

enum class GpuPolicy {
  kAuto,       // whichever the CUDA runtime finds; the default
  kRequired,   // silicon
  kSimulated,  // the simulated GPU
  kOff,        // no silicon even where there is some
};

std::optional<GpuPolicy> parse_gpu_policy(
    std::string_view text);  // "auto", "required", "simulated", "off"; "" is auto

// What this process found.
struct GpuFacts {
  std::string error;       // device_error(): "" when a device answers
  bool simulator = false;  // the runtime is the simulated GPU
  // Path of the libcudart that answers; "" when it is part of the program (statically linked) or
  // absent.
  std::string runtime_library;
  bool expects_kernels =
      false;  // LOCKSTEP_EXPECT_KERNELS: the program's properties are about kernels
};
GpuFacts gpu_facts(GpuPolicy policy, bool expects_kernels);

// Empty when the properties may run; else the sentence that says what is missing and what to do.
std::string gpu_problem(GpuPolicy policy, const GpuFacts& facts);

// Kernel launches so far, or nothing on silicon, which does not count them.
std::optional<unsigned long long> kernel_launches();

}  // namespace lockstep
