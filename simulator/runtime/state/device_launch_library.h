// PTX of the functions of libcudadevrt by which kernels launch kernels: nvcc compiles a launch to a
// call for a parameter buffer, stores, and a call that launches (CUDA C++ Programming Guide, "CUDA
// Dynamic Parallelism", "Device-side Launch from PTX").
#pragma once

#include <string>

namespace lockstep::runtime {

// A module's text.
std::string device_launch_library();

}  // namespace lockstep::runtime
