// A separable convolution in single precision: rows into a temporary picture, then columns;
// coefficients in constant memory.
#include "program.h"

namespace separable_convolution {

constexpr int kRadius = 4, kTile = 32;
__constant__ float kernel[2 * kRadius + 1];

__global__ void rows(const float* in, float* out, int width, int height, int mistake) {
  __shared__ float line[4][kTile + 2 * kRadius];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  for (int i = threadIdx.x; i < kTile + 2 * kRadius - (mistake == 1); i += kTile) {
    const int from = blockIdx.x * kTile + i - kRadius;
    line[threadIdx.y][i] = y < height && from >= 0 && from < width ? in[y * width + from] : 0;
  }
  __syncthreads();
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int k = -kRadius; k <= kRadius; ++k)
    sum = fmaf(kernel[kRadius - k], line[threadIdx.y][threadIdx.x + kRadius + k], sum);
  out[y * width + x] = sum;
}

__global__ void columns(const float* in, float* out, int width, int height, int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int k = max(-kRadius, -y); k <= min(kRadius, height - 1 - y); ++k)
    sum = fmaf(kernel[mistake == 2 ? kRadius + k : kRadius - k], in[(y + k) * width + x], sum);
  out[y * width + x] = sum;
}

PROGRAM(separable_convolution, 2) {
  const int width = 75, height = 30;
  const float coefficients[2 * kRadius + 1] = {1, -2, 3, 5, 8, 4, -3, 2, 1};
  CUDA(cudaMemcpyToSymbol(kernel, coefficients, sizeof coefficients));
  std::vector<float> picture(width * height);
  Random random(66);
  for (float& p : picture) p = static_cast<float>(random.below(1000));
  Buffer<float> in(picture), between(picture.size()), out(picture.size());
  rows<<<dim3(divide_up(width, kTile), divide_up(height, 4)), dim3(kTile, 4)>>>(in, between, width,
                                                                                height, mistake);
  columns<<<dim3(divide_up(width, 16), divide_up(height, 16)), dim3(16, 16)>>>(between, out, width,
                                                                               height, mistake);
  const std::vector<float> got = out.host();
  int wrong = 0;  // sums of integers below 2^24: exact in any order
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      long long sum = 0;
      for (int j = -kRadius; j <= kRadius; ++j)
        for (int i = -kRadius; i <= kRadius; ++i)
          if (y + j >= 0 && y + j < height && x + i >= 0 && x + i < width)
            sum += static_cast<long long>(coefficients[kRadius - j] * coefficients[kRadius - i]) *
                   static_cast<int>(picture[(y + j) * width + x + i]);
      wrong += got[y * width + x] != static_cast<float>(sum);
    }
  return verdict(wrong == 0, "%d of %d wrong", wrong, width * height);
}

}  // namespace separable_convolution
