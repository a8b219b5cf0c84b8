// Functions of the driver API for operations on values in memory.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include "case.h"

namespace lockstep::streams {
namespace {

// A function of the driver API, looked up at run time: the program does not link its library.
template <class Function>
Function* driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion(name, &found, 13000, cudaEnableDefault, &result);
  return reinterpret_cast<Function*>(found);
}
#define DRIVER(name) (*driver<decltype(name)>(#name))

void wait_for_value(cudaStream_t stream, const int* at, unsigned value) {
  want(DRIVER(cuStreamWaitValue32)(stream, reinterpret_cast<CUdeviceptr>(at), value,
                                   CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
}
void write_value(cudaStream_t stream, const int* at, unsigned value) {
  want(DRIVER(cuStreamWriteValue32)(stream, reinterpret_cast<CUdeviceptr>(at), value, 0) ==
       CUDA_SUCCESS);
}

}  // namespace
}  // namespace lockstep::streams
