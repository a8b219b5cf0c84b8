// Edges of a picture of bytes (Sobel), four pixels a thread, the edge clamped.
#include "program.h"

namespace sobel {

__global__ void edges(const unsigned char* in, unsigned char* out, int width, int height,
                      size_t pitch, int mistake) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y >= height) return;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x) + k;
    if (x >= width) break;
    int p[3][3];
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) {
        const int cy = mistake == 1 ? y + j - 1 : min(max(y + j - 1, 0), height - 1),
                  cx = min(max(x + i - 1, 0), width - 1);
        p[j][i] = in[cy * pitch + cx];
      }
    const int h = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    const int v = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    const int sum = abs(h) + abs(v);
    out[y * pitch + x] = static_cast<unsigned char>(mistake == 2 ? sum : min(sum, 255));
  }
}

PROGRAM(sobel, 2) {
  const int width = 83, height = 41;
  std::vector<unsigned char> picture(width * height), got(width * height);
  for (int i = 0; i < width * height; ++i) {
    const int x = i % width - 40, y = i / width - 20;
    picture[i] = static_cast<unsigned char>(x * x + y * y < 300 ? 220 : (x * 3 + y * 5) & 31);
  }
  unsigned char *in, *out;
  size_t pitch;
  CUDA(cudaMallocPitch(&in, &pitch, width, height));
  CUDA(cudaMallocPitch(&out, &pitch, width, height));
  CUDA(cudaMemcpy2D(in, pitch, picture.data(), width, width, height, cudaMemcpyHostToDevice));
  edges<<<dim3(divide_up(width, 32), divide_up(height, 8)), dim3(8, 8)>>>(in, out, width, height,
                                                                          pitch, mistake);
  CUDA(cudaMemcpy2D(got.data(), width, out, pitch, width, height, cudaMemcpyDeviceToHost));
  CUDA(cudaFree(in));
  CUDA(cudaFree(out));
  // Two passes: differences and sums of three.
  const auto at = [&](int x, int y) {
    return int(picture[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)]);
  };
  int wrong = 0, bright = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int h = 0, v = 0;
      for (int k = -1; k <= 1; ++k)
        h += (k ? 1 : 2) * (at(x + 1, y + k) - at(x - 1, y + k)),
            v += (k ? 1 : 2) * (at(x + k, y + 1) - at(x + k, y - 1));
      const int expected = std::min(255, std::abs(h) + std::abs(v));
      wrong += got[y * width + x] != expected, bright += expected == 255;
    }
  return verdict(wrong == 0 && bright > 50, "%d wrong, %d on an edge", wrong, bright);
}

}  // namespace sobel
