// NVIDIA's driver on this machine, asked without a CUDA runtime: whether there is a GPU that a CUDA
// 13 program can use, and which. Nothing links libcuda; it is looked for at run time.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// The driver API version that programs of CUDA 13.0 need at least (CUDA compatibility guide: branch
// R580).
inline constexpr int kNeededDriver = 13000;

struct Gpu {
  std::string name;          // "NVIDIA H100 80GB HBM3"
  int major = 0, minor = 0;  // compute capability
  std::string uuid;          // "GPU-xxxxxxxx-xxxx-...", lower case; what CUDA_VISIBLE_DEVICES takes
};

struct Driver {
  int version = 0;  // 13000: CUDA 13.0; 0 when there is no driver
  std::string
      module_version;     // of the kernel module, "580.65.06"; empty where the system does not say
  std::vector<Gpu> gpus;  // in the driver's order, those that CUDA_VISIBLE_DEVICES leaves
  std::string error;      // why no GPU can be used, a sentence; empty when one can
};

// Asks once; a driver that is started stays so until the process ends.
const Driver& driver();

}  // namespace lockstep
