// NVIDIA's libraries: those with a simulated replacement, and those that launch kernels of their
// own as machine code, which the simulated GPU does not run.
//
// Does not allocate: the audit library uses it before the program's own libraries are loaded.
#pragma once

#include <string_view>

namespace lockstep::exec {

// NVIDIA's libraries that have a simulated replacement. The replacements are in one folder.
inline constexpr std::string_view kStandIns[] = {
    "libcudart.so.13",   "libcuda.so.1",   "libnvJitLink.so.13", "libcublas.so.13",
    "libcublasLt.so.13", "libcufft.so.12", "libcurand.so.10"};

// By the beginning of a file's name, such as "libcublas.so.12" or "libcudnn.so.9". False for
// replacements.
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
