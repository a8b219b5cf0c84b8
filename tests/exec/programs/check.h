// Common to all programs here: the first CUDA error or wrong result ends the program with status
// 1.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CUDA(call)                                                                         \
  do {                                                                                     \
    const cudaError_t error_ = (call);                                                     \
    if (error_ != cudaSuccess) {                                                           \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);         \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)
