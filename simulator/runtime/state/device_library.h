// The functions of libcudadevrt that the simulated GPU has: those by which a grid waits for itself,
// as cooperative groups and compilers that do without its headers (numba) call them,
// cudaGraphSetConditional, and launches (device_launch_library.h). Others of that library are
// refused by name.
#pragma once

#include <string>
#include <vector>

namespace lockstep::runtime {

// PTX to link with these texts, because they call some of it.
//
// What it computes is what an H100 answered: the handle of a grid that was not launched as a
// cooperative one, or of another scope, is 0, with which every function answers cudaErrorUnknown; a
// grid is the only one of its launch, and its own rank is 1. A conditional handle is the address of
// its value (condition.h).
std::vector<std::string> device_libraries_for(const std::vector<std::string>& texts);

}  // namespace lockstep::runtime
