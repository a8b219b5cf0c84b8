// A bilateral filter: weights decrease with distance in position and in brightness. Both tables are
// in constant memory.
#include "program.h"

namespace bilateral {

constexpr int kRadius = 2;
__constant__ unsigned short near_weight[2 * kRadius * kRadius + 1], like_weight[256];

__global__ void filter(const unsigned char* in, unsigned char* out, int width, int height,
                       int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int me = in[y * width + x];
  unsigned long long sum = 0, weights = 0;
  for (int j = -kRadius; j <= kRadius; ++j)
    for (int i = -kRadius; i <= kRadius; ++i) {
      if (x + i < 0 || x + i >= width || y + j < 0 || y + j >= height) continue;
      const int p = in[(y + j) * width + x + i];
      const unsigned w =
          near_weight[i * i + j * j] * like_weight[mistake == 1 ? p - me : abs(p - me)];
      sum += static_cast<unsigned long long>(w) * p, weights += w;
    }
  out[y * width + x] = static_cast<unsigned char>((sum + weights / 2) / weights);
}

PROGRAM(bilateral, 2) {
  const int width = 45, height = 29;
  std::vector<unsigned char> picture(width * height);
  Random random(65);
  for (int i = 0; i < width * height; ++i)
    picture[i] = static_cast<unsigned char>((i % width < 20 ? 60 : 190) + random.below(25));
  unsigned short near_table[9], like_table[256];
  for (int i = 0; i < 9; ++i)
    near_table[i] = static_cast<unsigned short>(1000 * std::exp(-i / 4.5));
  for (int i = 0; i < 256; ++i)
    like_table[i] = static_cast<unsigned short>(1000 * std::exp(-i * i / 800.0));
  CUDA(cudaMemcpyToSymbol(near_weight, near_table, sizeof near_table));
  CUDA(cudaMemcpyToSymbol(like_weight, like_table, sizeof like_table));
  Buffer<unsigned char> in(picture), out(picture.size());
  filter<<<dim3(divide_up(width, 16), divide_up(height, 4)), dim3(16, mistake == 2 ? 2 : 4)>>>(
      in, out, width, height, mistake);
  const std::vector<unsigned char> got = out.host();
  int wrong = 0, far = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int me = picture[y * width + x];
      long long count[256] = {};  // by brightness
      for (int j = std::max(y - 2, 0); j <= std::min(y + 2, height - 1); ++j)
        for (int i = std::max(x - 2, 0); i <= std::min(x + 2, width - 1); ++i)
          count[picture[j * width + i]] += near_table[(i - x) * (i - x) + (j - y) * (j - y)];
      long long sum = 0, weights = 0;
      for (int p = 0; p < 256; ++p)
        sum += count[p] * like_table[std::abs(p - me)] * p,
            weights += count[p] * like_table[std::abs(p - me)];
      wrong += got[y * width + x] != (sum + weights / 2) / weights;
      far += std::abs(got[y * width + x] - me) > 25;
    }
  return verdict(wrong == 0 && far == 0, "%d of %d wrong, %d far off", wrong, width * height, far);
}

}  // namespace bilateral
