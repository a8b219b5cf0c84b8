// PTX of the libcudadevrt functions by which kernels launch kernels. nvcc compiles a launch to a
// call that returns a parameter buffer, stores, and a call that launches (CUDA C++ Programming
// Guide, "CUDA Dynamic Parallelism", "Device-side Launch from PTX").
#pragma once

#include <string>

namespace lockstep::runtime {

// The PTX text of the module.
std::string device_launch_library();

}  // namespace lockstep::runtime
