// A stencil of seven points in three dimensions, double precision. A plane of threads moves up with
// the values below, at and above it in registers. The block is three-dimensional too; no side is a
// multiple of the block's.
#include "program.h"

namespace stencil_3d {

__global__ void sweep(const double* __restrict__ in, double* __restrict__ out, int nx, int ny,
                      int nz, int depth, int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int first = (blockIdx.z * blockDim.z + threadIdx.z) * depth, last = min(first + depth, nz);
  if (x >= nx || y >= ny || first >= nz) return;
  const size_t plane = static_cast<size_t>(nx) * ny;
  const double* here = in + first * plane + y * nx + x;
  double below = first > 0 || mistake == 1 ? here[-static_cast<ptrdiff_t>(plane)] : 0,
         middle = *here;
  double* to = out + first * plane + y * nx + x;
#pragma unroll 4
  for (int z = first; z < last; ++z, here += plane, to += plane) {
    const double above = z + 1 < (mistake == 2 ? last : nz) ? here[plane] : 0;
    const double sides = (x > 0 ? here[-1] : 0) + (x + 1 < nx ? here[1] : 0) +
                         (y > 0 ? here[-nx] : 0) + (y + 1 < ny ? here[nx] : 0);
    *to = sides + below + above - 6 * middle;
    below = middle, middle = above;
  }
}

PROGRAM(stencil_3d, 2) {
  const int nx = 19, ny = 13, nz = 17, depth = 5;
  std::vector<double> cube(nx * ny * nz), expected(cube.size(), 0);
  Random random(8);
  for (double& c : cube) c = random.below(2000001) - 1000000;
  Buffer<double> in(cube), out(cube.size());
  sweep<<<dim3(divide_up(nx, 8), divide_up(ny, 4), divide_up(nz, 2 * depth)), dim3(8, 4, 2)>>>(
      in, out, nx, ny, nz, depth, mistake);
  // The reference adds every point to its neighbours. Integers: exact in any order.
  const auto give = [&](int x, int y, int z, double v) {
    if (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz)
      expected[(z * ny + y) * nx + x] += v;
  };
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        const double v = cube[(z * ny + y) * nx + x];
        give(x - 1, y, z, v), give(x + 1, y, z, v), give(x, y - 1, z, v), give(x, y + 1, z, v),
            give(x, y, z - 1, v), give(x, y, z + 1, v);
        give(x, y, z, -6 * v);
      }
  const std::vector<double> got = out.host();
  int wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected[i];
  return verdict(wrong == 0, "%d of %zu wrong", wrong, got.size());
}

}  // namespace stencil_3d
