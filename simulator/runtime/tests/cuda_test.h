// Tests of the CUDA runtime API that also hold on hardware. Each runs in a child process, because
// some errors end a process's use of CUDA.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace lockstep::runtime {

// Runs `body` in a child process. Fails if an expectation in it fails, or if the child does not
// reach the end of the body. The parent must not have used CUDA.
void in_child(void (*body)());
// Whether the simulated GPU serves this process's CUDA calls. Does not use CUDA.
bool on_simulated_gpu();

}  // namespace lockstep::runtime

#define CUDA_TEST(suite, name)                                         \
  static void suite##_##name();                                        \
  TEST(suite, name) { ::lockstep::runtime::in_child(suite##_##name); } \
  static void suite##_##name()

// A test that holds on the simulated GPU only. On hardware it is skipped with a message.
#define SIMULATED_TEST(suite, name)                                                             \
  static void suite##_##name();                                                                 \
  TEST(suite, name) {                                                                           \
    if (!::lockstep::runtime::on_simulated_gpu()) GTEST_SKIP() << "of the simulated GPU alone"; \
    ::lockstep::runtime::in_child(suite##_##name);                                              \
  }                                                                                             \
  static void suite##_##name()

// One line for a call and its expected error.
#define EXPECT_CUDA(error, call) EXPECT_EQ((call), (error)) << #call
#define ASSERT_CUDA(error, call) ASSERT_EQ((call), (error)) << #call

namespace lockstep::runtime {

// Allocates ints in device memory, all 0.
inline int* device_ints(int count) {
  int* p = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), sizeof(int) * size_t(count)));
  EXPECT_CUDA(cudaSuccess, cudaMemset(p, 0, sizeof(int) * size_t(count)));
  return p;
}

// Copies one int from the device. Waits as cudaMemcpy does.
inline int fetch_int(const int* from) {
  int value = -1;
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

}  // namespace lockstep::runtime
