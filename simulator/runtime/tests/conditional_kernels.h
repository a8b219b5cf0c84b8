// Kernels for graphs with conditional nodes. They call cudaGraphSetConditional; on hardware a
// program links it from libcudadevrt.
#pragma once

namespace lockstep::runtime::kernels {

// Addresses for kernel nodes.
const void* set_condition_function();  // (handle, unsigned value): sets it
const void* count_down_function();     // (handle, int* left): decrements; sets whether some is left
const void* add_function();            // (int* to, int value): *to += value

}  // namespace lockstep::runtime::kernels
