// Libraries of NVIDIA's: those that others stand in for, and those that launch kernels of their
// own: machine code, which the simulated GPU does not run.
//
// Allocates nothing: the audit library uses it before the program's own libraries are there.
#pragma once

#include <string_view>

namespace lockstep::exec {

// Libraries of NVIDIA's that have a simulated one. The simulated ones lie in one folder.
inline constexpr std::string_view kStandIns[] = {
    "libcudart.so.13",   "libcuda.so.1",   "libnvJitLink.so.13", "libcublas.so.13",
    "libcublasLt.so.13", "libcufft.so.12", "libcurand.so.10"};

// By the beginning of a file's name, such as "libcublas.so.12" or "libcudnn.so.9". No stand-in.
constexpr bool is_vendor_library(std::string_view name) {
  for (const std::string_view one : kStandIns) {
    if (name == one) return false;
  }
  for (const std::string_view begin :
       {"libcublas", "libcufft", "libcurand", "libcusparse", "libcusolver", "libcudnn", "libnccl",
        "libnpp", "libnvjpeg", "libcufile", "libcutensor", "libcupti"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

}  // namespace lockstep::exec
