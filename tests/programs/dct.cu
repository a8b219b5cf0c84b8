// The cosine transform of 8 x 8 blocks, as in image coders: 16-bit coefficients, in place,
// quantised by a table.
#include "program.h"

namespace dct {

__constant__ short basis[8][8];  // 2^13 times c(u) / 2 cos((2 x + 1) u pi / 16)
__constant__ unsigned char quantum[64];

// Each block of threads transforms four blocks of the picture, with 64 threads each.
__global__ void forward(short* picture, int stride, int blocks_across, int count, int mistake) {
  __shared__ int tile[4][8][8];
  const int which = threadIdx.x / 64, x = threadIdx.x % 8, y = threadIdx.x / 8 % 8,
            block = blockIdx.x * 4 + which;
  const bool inside = block < count;
  short* mine = picture + (block / blocks_across * 8 + y) * stride + block % blocks_across * 8 + x;
  if (inside) tile[which][y][x] = *mine - 128;
  __syncthreads();
  int sum = 0;
  if (inside)
    for (int i = 0; i < 8; ++i) sum += basis[x][i] * tile[which][y][i];
  if (mistake != 1) __syncthreads();
  if (inside) tile[which][y][x] = (sum + (1 << 9)) >> 10;  // three fractional bits
  __syncthreads();
  if (!inside && mistake != 2) return;
  sum = 0;
  for (int i = 0; i < 8; ++i) sum += basis[y][i] * tile[which][i][x];
  const int q = quantum[8 * y + x], value = (sum + (1 << 15)) >> 16;
  *mine = static_cast<short>((value + (value < 0 ? -q / 2 : q / 2)) / q);
}

PROGRAM(dct, 2) {
  const int width = 40, height = 24, across = width / 8, count = across * height / 8;
  std::vector<short> picture(width * height);
  for (int i = 0; i < width * height; ++i)
    picture[i] = static_cast<short>((i % width * 6 + i / width * 3 + (i * 7919) % 23) & 255);
  short table[8][8];
  unsigned char quanta[64];
  for (int u = 0; u < 8; ++u)
    for (int x = 0; x < 8; ++x) {
      table[u][x] = static_cast<short>(
          std::lround(8192 * (u ? 0.5 : std::sqrt(0.125)) * std::cos((2 * x + 1) * u * M_PI / 16)));
      quanta[8 * u + x] = static_cast<unsigned char>(6 + 2 * (u + x));
    }
  CUDA(cudaMemcpyToSymbol(basis, table, sizeof table));
  CUDA(cudaMemcpyToSymbol(quantum, quanta, sizeof quanta));
  Buffer<short> d_picture(picture);
  forward<<<divide_up(count, 4), 256>>>(d_picture, width, across, count, mistake);
  const std::vector<short> got = d_picture.host();

  // The definition in double precision. The table's entries have an error of at most 2^-14, and a
  // row has eight numbers up to 128: the error of the first pass is 8 * 128 * 2^-14 + 2^-4 < 1/8.
  // The second pass multiplies it by sqrt(8) < 3 and adds 8 * 2^-14 * 363 and a half. The
  // quotient's error before rounding is below 1.3 / q.
  int wrong = 0;
  double energy = 0;
  for (int b = 0; b < count; ++b)
    for (int v = 0; v < 8; ++v)
      for (int u = 0; u < 8; ++u) {
        double sum = 0;
        for (int y = 0; y < 8; ++y)
          for (int x = 0; x < 8; ++x)
            sum += (picture[(b / across * 8 + y) * width + b % across * 8 + x] - 128) *
                   std::cos((2 * x + 1) * u * M_PI / 16) * std::cos((2 * y + 1) * v * M_PI / 16);
        sum *= (u ? 0.5 : std::sqrt(0.125)) * (v ? 0.5 : std::sqrt(0.125));
        const int q = quanta[8 * v + u],
                  value = got[(b / across * 8 + v) * width + b % across * 8 + u];
        wrong += std::abs(value - sum / q) > 0.5 + 1.3 / q;
        energy += value * value;
      }
  return verdict(wrong == 0 && energy > 1000, "%d of %d wrong, energy %g", wrong, width * height,
                 energy);
}

}  // namespace dct
