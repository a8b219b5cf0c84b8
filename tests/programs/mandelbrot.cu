// The Mandelbrot set in fixed point with 28 fractional bits: loops of very different lengths in a
// warp, with an early exit.
#include "program.h"

namespace mandelbrot {

__global__ void iterate(unsigned char* out, int width, int height, int most, int mistake) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const int cx = static_cast<int>((3ll * px << 28) / width) - (2 << 28),
            cy = static_cast<int>((2ll * py << 28) / height) - (1 << 28);
  int x = 0, y = 0, n = 0;
  while (n < most) {
    const long long xx = static_cast<long long>(x) * x, yy = static_cast<long long>(y) * y;
    if (mistake == 1 ? static_cast<int>((xx >> 28) + (yy >> 28)) > (4 << 28) : xx + yy > 4ll << 56)
      break;
    const long long xy = static_cast<long long>(x) * y;
    x = static_cast<int>((xx - yy) >> 28) + cx, y = static_cast<int>(xy >> 27) + cy;
    ++n;
  }
  out[mistake == 2 ? py * width + px + width : py * width + px] = static_cast<unsigned char>(n);
}

PROGRAM(mandelbrot, 2) {
  const int width = 61, height = 41, most = 60;
  Buffer<unsigned char> out(width * height);
  iterate<<<dim3(divide_up(width, 8), divide_up(height, 8)), dim3(8, 8)>>>(out, width, height, most,
                                                                           mistake);
  const std::vector<unsigned char> got = out.host();
  int wrong = 0, inside = 0;
  for (int py = 0; py < height; ++py)
    for (int px = 0; px < width; ++px) {
      // The same map with floor in long double: its 64 bits hold every product exactly.
      const long double one = 1 << 28, cx = std::trunc(3 * px * one / width) - 2 * one,
                        cy = std::trunc(2 * py * one / height) - one;
      long double x = 0, y = 0;
      int n = 0;
      for (; n < most && x * x + y * y <= 4 * one * one; ++n) {
        const long double t = std::floor((x * x - y * y) / one) + cx;
        y = std::floor(2 * x * y / one) + cy, x = t;
      }
      wrong += got[py * width + px] != n, inside += n == most;
    }
  return verdict(wrong == 0 && inside > 100, "%d wrong, %d inside", wrong, inside);
}

}  // namespace mandelbrot
