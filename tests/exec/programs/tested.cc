// Weak GoogleTest tests, which check one element, and strong ones, which check all.
#include "tested.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

// y = a * x + y of n elements; y has `room` further elements, which must not change.
static std::vector<float> run(int n, int room, float a) {
  std::vector<float> x(n + room), y(n + room);
  for (int i = 0; i < n + room; ++i) x[i] = 1.25f * i - 100, y[i] = i % 7;
  float *dx, *dy;
  EXPECT_EQ(cudaMalloc(&dx, (n + room) * sizeof(float)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&dy, (n + room) * sizeof(float)), cudaSuccess);
  cudaMemcpy(dx, x.data(), (n + room) * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), (n + room) * sizeof(float), cudaMemcpyHostToDevice);
  launch_saxpy(64, n, a, dx, dy);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  cudaMemcpy(y.data(), dy, (n + room) * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
  return y;
}

TEST(Saxpy, IsRightEverywhereAndNowhereElse) {
  for (const int n : {1, 63, 64, 65, 500}) {
    const std::vector<float> y = run(n, 70, 3);
    for (int i = 0; i < n; ++i) ASSERT_EQ(y[i], 3 * (1.25f * i - 100) + i % 7) << i << " of " << n;
    for (int i = n; i < n + 70; ++i) ASSERT_EQ(y[i], i % 7) << i << " behind " << n;
  }
}

// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: detects rounding before the sum and other roundings.
TEST(Saxpy, RoundsOnceToNearest) {
  float x = 1 + 1.0f / 4096, y = 1.0f / (1 << 24), *dx, *dy;
  cudaMalloc(&dx, sizeof x);
  cudaMalloc(&dy, sizeof y);
  const auto of = [&](float value) {
    y = value;
    cudaMemcpy(dx, &x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, &y, sizeof y, cudaMemcpyHostToDevice);
    launch_saxpy(1, 1, x, dx, dy);
    cudaMemcpy(&y, dy, sizeof y, cudaMemcpyDeviceToHost);
    return y;
  };
  EXPECT_EQ(of(1.0f / (1 << 24)), fmaf(x, x, 1.0f / (1 << 24)));
  EXPECT_EQ(of(-1), fmaf(x, x, -1));
  EXPECT_EQ(of(1.0f / (1 << 23)), fmaf(x, x, 1.0f / (1 << 23)));
  x = 1e-40f;
  EXPECT_EQ(of(1e-40f), 1e-40f);
  cudaFree(dx);
  cudaFree(dy);
}

// Results before the reset are not checked; the code is loaded anew after it.
TEST(FirstOfSaxpy, IsRight) {
  run(500, 70, 3);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(run(500, 70, 3)[0], 3 * -100);
}
