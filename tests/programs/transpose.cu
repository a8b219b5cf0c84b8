// The transpose of a matrix of 16-bit numbers: through a padded tile, and in place for a square
// matrix.
#include "program.h"

namespace transpose {

__global__ void out_of_place(const unsigned short* in, unsigned short* out, int width, int height,
                             int mistake) {
  __shared__ unsigned short tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
  if (mistake != 1) __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if ((x < height || mistake == 2) && y + k < width)
      out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

// One thread for each pair of elements across the diagonal.
__global__ void in_place(unsigned short* a, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= x) return;
  const unsigned short t = a[y * n + x];
  a[y * n + x] = a[x * n + y];
  a[x * n + y] = t;
}

PROGRAM(transpose, 2) {
  const int width = 71, height = 45, side = 39;
  std::vector<unsigned short> a(width * height), square(side * side);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<unsigned short>(i * 40503);
  for (size_t i = 0; i < square.size(); ++i) square[i] = static_cast<unsigned short>(i * 17);
  Buffer<unsigned short> in(a), out(a.size()), same(square);
  out_of_place<<<dim3(divide_up(width, 32), divide_up(height, 32)), dim3(32, 8)>>>(in, out, width,
                                                                                   height, mistake);
  in_place<<<dim3(divide_up(side, 16), divide_up(side, 16)), dim3(16, 16)>>>(same, side);
  const std::vector<unsigned short> got = out.host(), turned = same.host();
  int wrong = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) wrong += got[x * height + y] != a[y * width + x];
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) wrong += turned[x * side + y] != square[y * side + x];
  return verdict(wrong == 0, "%d of %d wrong", wrong, width * height + side * side);
}

}  // namespace transpose
