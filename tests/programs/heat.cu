// Heat in a plate: Jacobi steps on a grid of odd size with fixed edges. Values are multiples of
// 2^12, so that dividing by four stays exact.
#include "program.h"

namespace heat {

__global__ void step(const float* from, float* to, int width, int height, int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || (y == height - 1 && mistake != 1)) {
    to[i] = from[i];
    return;
  }
  to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
}

PROGRAM(heat, 2) {
  const int width = 45, height = 37, steps = 6;
  std::vector<float> plate(width * height);
  Random random(2);
  for (float& t : plate) t = static_cast<float>(random.below(200) << 12);
  Buffer<float> from(plate), to(plate.size());
  const dim3 block(16, 8), grid(divide_up(width, 16), divide_up(height, 8) - (mistake == 2));
  for (int s = 0; s < steps; ++s) {
    step<<<grid, block>>>(from, to, width, height, mistake);
    from.swap(to);
  }

  // The same steps in integers, in units of 2^-12 of the last step.
  std::vector<long long> now(plate.begin(), plate.end()), next;
  for (long long& t : now) t <<= 2 * steps;
  for (int s = 0; s < steps; ++s) {
    next = now;
    for (int y = 1; y < height - 1; ++y)
      for (int x = 1; x < width - 1; ++x) {
        const long long* c = &now[y * width + x];
        next[y * width + x] = (c[-1] + c[1] + c[-width] + c[width]) / 4;
      }
    now.swap(next);
  }
  const std::vector<float> got = from.host();
  int wrong = 0;
  for (size_t i = 0; i < got.size(); ++i)
    wrong += static_cast<double>(got[i]) * (1 << 2 * steps) != static_cast<double>(now[i]);
  return verdict(wrong == 0, "%d of %zu wrong", wrong, got.size());
}

}  // namespace heat
