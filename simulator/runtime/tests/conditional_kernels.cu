#include "simulator/runtime/tests/conditional_kernels.h"

namespace lockstep::runtime::kernels {
namespace {

__global__ void set_condition_kernel(cudaGraphConditionalHandle handle, unsigned value) {
  cudaGraphSetConditional(handle, value);
}

__global__ void count_down_kernel(cudaGraphConditionalHandle handle, int* left) {
  *left -= 1;
  cudaGraphSetConditional(handle, *left > 0);
}

__global__ void add_kernel(int* to, int value) { *to += value; }

}  // namespace

const void* set_condition_function() {
  return reinterpret_cast<const void*>(&set_condition_kernel);
}
const void* count_down_function() { return reinterpret_cast<const void*>(&count_down_kernel); }
const void* add_function() { return reinterpret_cast<const void*>(&add_kernel); }

}  // namespace lockstep::runtime::kernels
