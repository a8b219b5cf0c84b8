#include "harness/device/gpu_policy.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "harness/device/device.h"

namespace lockstep {
namespace {

std::string library_of(const char* symbol) {
  void* const address = dlsym(RTLD_DEFAULT, symbol);
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  return info.dli_fname;
}

constexpr char kNeedsSilicon[] =
    "LOCKSTEP_GPU=required asks for silicon: check that nvidia-smi lists the GPU and that "
    "CUDA_VISIBLE_DEVICES does not hide it. Without a GPU, run the same test on the simulated GPU "
    "(//tests:stencil_test for //tests:stencil_gpu_test).";

constexpr char kStatic[] =
    "The program's CUDA runtime is linked into it, so the simulated GPU cannot take its place: "
    "compile and link with nvcc --cudart=shared (cuda_library does), so that the program loads "
    "libcudart.so.13.";

}  // namespace

std::optional<GpuPolicy> parse_gpu_policy(std::string_view text) {
  if (text.empty() || text == "auto") return GpuPolicy::kAuto;
  if (text == "required") return GpuPolicy::kRequired;
  if (text == "simulated") return GpuPolicy::kSimulated;
  if (text == "off") return GpuPolicy::kOff;
  return std::nullopt;
}

GpuFacts gpu_facts(GpuPolicy policy, bool expects_kernels) {
  // The driver reads this variable once, at the first call.
  if (policy == GpuPolicy::kOff) setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  GpuFacts f;
  f.expects_kernels = expects_kernels;
  f.simulator = is_simulator();
  f.runtime_library = library_of("cudaGetDeviceCount");
  // Starts no driver unless the process needs a device.
  if (expects_kernels || policy == GpuPolicy::kRequired || policy == GpuPolicy::kSimulated)
    f.error = device_error();
  return f;
}

std::string gpu_problem(GpuPolicy policy, const GpuFacts& facts) {
  switch (policy) {
    case GpuPolicy::kRequired:
      if (facts.simulator) {
        return fmt::format(
            "No GPU was found: the CUDA runtime of this process is the simulated GPU ({}). {}",
            facts.runtime_library, kNeedsSilicon);
      }
      if (!facts.error.empty())
        return fmt::format("No GPU was found: {}. {}", facts.error, kNeedsSilicon);
      return "";
    case GpuPolicy::kSimulated:
      if (!facts.simulator && facts.runtime_library.empty())
        return fmt::format("The simulated GPU was not found. {}", kStatic);
      if (!facts.simulator) {
        return fmt::format(
            "The simulated GPU was not found: {} answers the CUDA runtime API. Link "
            "//simulator:cudart (kernel_test does), or put the folder of its libcudart.so.13 first "
            "in LD_LIBRARY_PATH.",
            facts.runtime_library);
      }
      if (!facts.error.empty())
        return fmt::format("The simulated GPU does not answer: {}.", facts.error);
      return "";
    case GpuPolicy::kAuto:
    case GpuPolicy::kOff:
      if (facts.expects_kernels && !facts.error.empty()) {
        return fmt::format(
            "No GPU was found: {}. The properties of this program launch kernels; run them on a "
            "GPU, or link //simulator:cudart.",
            facts.error);
      }
      return "";
  }
  return "";
}

std::optional<unsigned long long> kernel_launches() {
  if (extension().read_counters == nullptr) return std::nullopt;
  lockstepCounters counters{};
  counters.size = sizeof counters;
  if (extension().read_counters(&counters) != 0) return std::nullopt;
  return counters.launches;
}

}  // namespace lockstep
