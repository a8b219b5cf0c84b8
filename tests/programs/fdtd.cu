// Maxwell's equations in a plane (Yee's scheme): first the magnetic field by half a step, then the
// electric field, in place.
#include "program.h"

namespace fdtd {

__global__ void magnetic(float* hx, float* hy, const float* ez, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  if (y < height - 1) hx[i] = fmaf(-0.5f, ez[i + width] - ez[i], hx[i]);
  if (x < width - 1) hy[i] = fmaf(0.5f, ez[i + 1] - ez[i], hy[i]);
}

__global__ void electric(float* ez, const float* hx, const float* hy, const float* conductivity,
                         int width, int height, int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height || (mistake != 1 && (x == 0 || y == 0))) return;
  const int i = y * width + x;
  ez[i] = fmaf(conductivity[i], (hy[i] - hy[i - 1]) - (hx[i] - hx[i - width]), ez[i]);
}

__global__ void source(float* ez, int at, float value) { ez[at] += value; }

PROGRAM(fdtd, 2) {
  const int width = 61, height = 43, steps = 10, middle = height / 2 * width + width / 2;
  const size_t bytes = width * height * sizeof(float);
  std::vector<float> c(width * height);
  for (size_t i = 0; i < c.size(); ++i) c[i] = i % 7 ? 0.5f : 0.3f;
  float *ez, *hx, *hy;
  CUDA(cudaMalloc(&ez, bytes));
  CUDA(cudaMalloc(&hx, bytes));
  CUDA(cudaMalloc(&hy, bytes));
  CUDA(cudaMemset(ez, 0, bytes));
  CUDA(cudaMemset(hx, 0, bytes));
  CUDA(cudaMemset(hy, 0, mistake == 2 ? bytes / sizeof(float) : bytes));
  Buffer<float> conductivity(c);
  const dim3 block(16, 16), grid(divide_up(width, 16), divide_up(height, 16));
  for (int s = 0; s < steps; ++s) {
    magnetic<<<grid, block>>>(hx, hy, ez, width, height);
    electric<<<grid, block>>>(ez, hx, hy, conductivity, width, height, mistake);
    source<<<1, 1>>>(ez, middle, std::ldexp(1.0f, -s));
  }
  std::vector<float> got(c.size());
  CUDA(cudaMemcpy(got.data(), ez, bytes, cudaMemcpyDeviceToHost));
  CUDA(cudaFree(ez));
  CUDA(cudaFree(hx));
  CUDA(cudaFree(hy));

  // Row by row; each H is computed directly after the E above it. The roundings are equal; only the
  // order of the grid differs.
  std::vector<float> e(c.size(), 0), p(c.size(), 0), q(c.size(), 0);
  for (int s = 0; s < steps; ++s) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int i = y * width + x;
        if (y < height - 1) p[i] = std::fma(-0.5f, e[i + width] - e[i], p[i]);
        if (x < width - 1) q[i] = std::fma(0.5f, e[i + 1] - e[i], q[i]);
        if (x && y) e[i] = std::fma(c[i], (q[i] - q[i - 1]) - (p[i] - p[i - width]), e[i]);
      }
    e[middle] += std::ldexp(1.0f, -s);
  }
  int wrong = 0, reached = 0;
  for (size_t i = 0; i < c.size(); ++i) wrong += got[i] != e[i], reached += got[i] != 0;
  return verdict(wrong == 0 && reached > 100, "%d wrong, the wave reached %d cells", wrong,
                 reached);
}

}  // namespace fdtd
