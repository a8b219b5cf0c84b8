// Lattice Boltzmann, D2Q9, periodic edges and inner walls: pull, collide, structure of arrays.
#include "program.h"

namespace lbm {

__constant__ int kX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int kY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ int kOpposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ double kWeight[9] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                                  1. / 36, 1. / 36, 1. / 36, 1. / 36};

__global__ void step(const double* from, double* to, const unsigned char* wall, int width,
                     int height, int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const int cells = width * height, here = y * width + x;
  if (x >= width) return;
  double f[9];
  for (int q = 0; q < 9; ++q) {
    const int fx = (x - kX[q] + width) % width, fy = (y - kY[q] + height) % height;
    f[q] = from[q * cells + (mistake == 1 && q == 7 ? here : fy * width + fx)];
  }
  if (wall[here]) {
    for (int q = 0; q < 9; ++q) to[kOpposite[q] * cells + here] = f[q];
    return;
  }
  double density = 0, u = 0, v = 0;
#pragma unroll
  for (int q = 0; q < 9; ++q) density += f[q], u += f[q] * kX[q], v += f[q] * kY[q];
  u /= density, v /= density;
  for (int q = 0; q < 9; ++q) {
    const double along = 3 * (kX[q] * u + kY[q] * v);
    const double rest =
        kWeight[q] * density * (1 + along + along * along / 2 - 1.5 * (u * u + v * v));
    to[q * cells + here] = f[q] - 0.8 * (f[q] - rest);
  }
}

PROGRAM(lbm, 1) {
  const int width = 70, height = 12, cells = width * height, steps = 4;
  std::vector<double> start(9 * cells);
  std::vector<unsigned char> wall(cells, 0);
  Random random(4);
  for (double& f : start) f = 0.1 + 0.01 * random.unit();
  for (int y = 4; y < 8; ++y) wall[y * width + 20] = wall[y * width + 21] = 1;
  Buffer<double> from(start), to(start.size());
  Buffer<unsigned char> d_wall(wall);
  for (int s = 0; s < steps; ++s) {
    step<<<dim3(divide_up(width, 64), height), 64>>>(from, to, d_wall, width, height, mistake);
    from.swap(to);
  }
  const std::vector<double> got = from.host();

  // The reference pushes: it collides, then moves every population. So it starts with one pull, and
  // undoes the last move.
  const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1},
            back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
  std::vector<double> now = start, next(start.size());
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < cells; ++i)
      for (int q = 0; q < 9; ++q) {
        const int x = (i % width + ex[q] + width) % width,
                  y = (i / width + ey[q] + height) % height;
        next[9 * (y * width + x) + q] = s == 0 ? now[q * cells + i] : now[9 * i + q];
      }
    for (int i = 0; i < cells; ++i) {
      double* f = &next[9 * i];
      if (wall[i]) {
        for (int q = 1; q < 9; ++q)
          if (q < back[q]) std::swap(f[q], f[back[q]]);
        continue;
      }
      double density = 0, u = 0, v = 0;
      for (int q = 0; q < 9; ++q) density += f[q], u += f[q] * ex[q], v += f[q] * ey[q];
      u /= density, v /= density;
      for (int q = 0; q < 9; ++q) {
        const double along = 3 * (ex[q] * u + ey[q] * v), w = q == 0  ? 4. / 9
                                                              : q < 5 ? 1. / 9
                                                                      : 1. / 36;
        f[q] +=
            0.8 * (w * density * (1 + along + along * along / 2 - 1.5 * (u * u + v * v)) - f[q]);
      }
    }
    now.swap(next);
  }
  // A step has some 40 roundings of numbers below 2. Each f' depends on the nine f with slopes
  // whose absolute values sum to less than 8.
  const double bound = 40 * 2 * std::ldexp(1.0, -53) * (1 + 8 + 64 + 512);
  double error = 0, mass = 0, before = 0;
  for (int i = 0; i < cells; ++i)
    for (int q = 0; q < 9; ++q)
      error = std::max(error, std::abs(got[q * cells + i] - now[9 * i + q])),
      mass += got[q * cells + i], before += start[q * cells + i];
  return verdict(error <= bound && std::abs(mass - before) <= bound * 9 * cells,
                 "error %g of %g, mass %.12g of %.12g", error, bound, mass, before);
}

}  // namespace lbm
