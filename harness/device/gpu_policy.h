// Which device may run the kernels: LOCKSTEP_GPU. If a required device is absent, the program fails
// before the first property. It never skips: a skipped test passes, and a shared cache would give
// that pass to a machine with the GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

enum class GpuPolicy {
  kAuto,       // the device of the CUDA runtime; the default
  kRequired,   // silicon
  kSimulated,  // the simulated GPU
  kOff,        // no GPU, even if there is one
};

std::optional<GpuPolicy> parse_gpu_policy(
    std::string_view text);  // "auto", "required", "simulated", "off"; "" is auto

// What this process has found out about its device.
struct GpuFacts {
  std::string error;       // device_error(): "" if a device responds
  bool simulator = false;  // the runtime is the simulated GPU
  // Path of the loaded libcudart; "" if it is linked statically or absent.
  std::string runtime_library;
  bool expects_kernels =
      false;  // LOCKSTEP_EXPECT_KERNELS: the program's properties are about kernels
};
GpuFacts gpu_facts(GpuPolicy policy, bool expects_kernels);

// Empty if the properties may run; otherwise a sentence: what is missing, and what to do.
std::string gpu_problem(GpuPolicy policy, const GpuFacts& facts);

// The number of kernel launches so far; nothing on silicon, which does not count them.
std::optional<unsigned long long> kernel_launches();

}  // namespace lockstep
