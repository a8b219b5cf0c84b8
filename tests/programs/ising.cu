// Spins on a torus, one byte each, updated in place: first the black squares of the checkerboard,
// then the white ones.
#include "program.h"

namespace ising {

__constant__ unsigned accept[5];  // probability * 2^32 of a flip that costs 0, 2, 4, 6, 8

__host__ __device__ unsigned mix(unsigned a, unsigned b) {
  unsigned h = a * 0x9e3779b9u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;
  h ^= h >> 15, h *= 0x2c1b3c6du, h ^= h >> 12, h *= 0x297a2d39u;
  return h ^ h >> 15;
}

__global__ void update(signed char* spin, int side, int colour, unsigned sweep, int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= side || y >= side || (mistake != 1 && (x + y) % 2 != colour)) return;
  const int left = x ? x - 1 : side - 1, right = x == side - 1 ? 0 : x + 1;
  const int up = y ? y - 1 : side - 1, down = y == side - 1 ? 0 : y + 1;
  const signed char me = spin[y * side + x];
  const int cost = me * (spin[y * side + left] + spin[y * side + right] + spin[up * side + x] +
                         spin[down * side + x]);
  if (cost <= 0 || mix(y * side + x, sweep) < accept[cost]) spin[y * side + x] = -me;
}

PROGRAM(ising, 1) {
  const int side = 50, sweeps = 5;
  unsigned thresholds[5];
  for (int i = 0; i < 5; ++i)
    thresholds[i] = static_cast<unsigned>(4294967295.0 * std::exp(-0.8 * i));
  CUDA(cudaMemcpyToSymbol(accept, thresholds, sizeof thresholds));
  std::vector<signed char> spins(side * side);
  Random random(5);
  for (signed char& s : spins) s = random.below(2) ? 1 : -1;
  Buffer<signed char> d_spins(spins);
  const dim3 block(32, 4), grid(divide_up(side, 32), divide_up(side, 4));
  for (unsigned sweep = 0; sweep < sweeps; ++sweep)
    for (int colour = 0; colour < 2; ++colour)
      update<<<grid, block>>>(d_spins, side, colour, 2 * sweep + colour, mistake);
  const std::vector<signed char> got = d_spins.host();

  int flips = 0, magnet = 0;
  for (unsigned half = 0; half < 2 * sweeps; ++half)
    for (int i = 0; i < side * side; ++i) {
      const int x = i % side, y = i / side;
      if ((x + y + half) % 2) continue;
      int sum = 0;
      for (int d = 0; d < 4; ++d)
        sum += spins[(y + (d - 1) % 2 + side) % side * side + (x + (d - 2) % 2 + side) % side];
      const int cost = spins[i] * sum;
      if (cost <= 0 || mix(i, half) < thresholds[cost]) spins[i] = -spins[i], ++flips;
    }
  for (int s : got) magnet += s;
  return verdict(got == spins && flips > 100, "%d flips, magnetisation %d", flips, magnet);
}

}  // namespace ising
