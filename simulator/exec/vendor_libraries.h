// NVIDIA's libraries: those that have a simulated stand-in, and those that launch their own kernels
// as machine code, which the simulated GPU does not run.
//
// Allocates nothing: the audit library uses it before the program's own libraries are loaded.
#pragma once

#include <string_view>

namespace lockstep::exec {

// NVIDIA's libraries that have a simulated stand-in. All stand-ins lie in one folder.
inline constexpr std::string_view kStandIns[] = {
    "libcudart.so.13",   "libcuda.so.1",   "libnvJitLink.so.13", "libcublas.so.13",
    "libcublasLt.so.13", "libcufft.so.12", "libcurand.so.10"};

// Whether a file, such as "libcublas.so.12" or "libcudnn.so.9", is a library of NVIDIA's without a
// stand-in. Compares the beginning of the name.
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
