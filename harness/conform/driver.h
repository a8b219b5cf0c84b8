// NVIDIA's driver on this machine: reports, without a CUDA runtime, whether a GPU can run a CUDA 13
// program, and which. Loads libcuda at run time; no program links it.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// The least driver API version for programs of CUDA 13.0 (CUDA compatibility guide: branch R580).
inline constexpr int kNeededDriver = 13000;

struct Gpu {
  std::string name;          // "NVIDIA H100 80GB HBM3"
  int major = 0, minor = 0;  // compute capability
  std::string uuid;  // "GPU-xxxxxxxx-xxxx-...", lower case; a value for CUDA_VISIBLE_DEVICES
};

struct Driver {
  int version = 0;             // 13000: CUDA 13.0; 0: no driver
  std::string module_version;  // version of the kernel module, "580.65.06"; empty: unknown
  std::vector<Gpu> gpus;       // in the driver's order, as CUDA_VISIBLE_DEVICES restricts them
  std::string error;           // a sentence that says why no GPU can be used; empty: one can
};

// Queries once. A started driver stays loaded until the process ends.
const Driver& driver();

}  // namespace lockstep
