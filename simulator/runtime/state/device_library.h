// The supported functions of libcudadevrt: grid synchronisation, as cooperative groups and
// compilers without its headers (numba) call it, cudaGraphSetConditional, and launches
// (device_launch_library.h). Other functions of that library are refused by name.
#pragma once

#include <string>
#include <vector>

namespace lockstep::runtime {

// Returns the PTX to link with these texts because they call functions of the library.
//
// The functions return what an H100 returns. The handle of a grid is 0 if the launch was not
// cooperative, or if another scope is requested; every function then returns cudaErrorUnknown. A
// grid is the only one of its launch, with rank 1. A conditional handle is the address of its value
// (condition.h).
std::vector<std::string> device_libraries_for(const std::vector<std::string>& texts);

}  // namespace lockstep::runtime
