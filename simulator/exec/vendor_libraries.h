// Libraries of NVIDIA's that launch kernels of their own: machine code, which the simulated GPU
// does not run.
//
// Allocates nothing: the audit library uses it before the program's own libraries are there.
#pragma once

#include <string_view>

namespace lockstep::exec {

// By the beginning of a file's name, such as "libcublas.so.13" or "libcublasLt.so.13".
constexpr bool is_vendor_library(std::string_view name) {
  for (const std::string_view begin :
       {"libcublas", "libcufft", "libcurand", "libcusparse", "libcusolver", "libcudnn", "libnccl",
        "libnpp", "libnvjpeg", "libcufile", "libcutensor", "libcupti"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

}  // namespace lockstep::exec
