// Forces between atoms by a neighbour list built on the device, in fixed point, so that sums are
// exact in any order.
#include "program.h"

namespace lennard_jones {

constexpr int kMax = 40;  // maximum number of neighbours of an atom
struct Atom {
  int x, y, z;
  short kind;  // two bytes of padding follow
};

__global__ void list_neighbours(const Atom* atoms, int n, int cutoff2, int* count, int* list,
                                int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Atom a = atoms[i];
  int found = 0;
  for (int j = 0; j < (mistake == 1 ? i : n); ++j) {
    const Atom b = atoms[j];
    const int dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    if (i == j || dx * dx + dy * dy + dz * dz > cutoff2) continue;
    if (found < kMax) list[found * n + i] = j;
    ++found;
  }
  count[i] = found;
}

// 24 (2 / r^14 - 1 / r^8) (dx, dy, dz), in units of 2^-40 and a length of 256.
__host__ __device__ long long force(int distance2, int d) {
  const double r2 = distance2 / 65536.0, r6 = r2 * r2 * r2;
  return static_cast<long long>(24 * (2 / (r6 * r6) - 1 / r6) / r2 * 1048576.0) * d;
}

__global__ void forces(const Atom* atoms, int n, const int* count, const int* list, longlong3* out,
                       int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  longlong3 f = {0, 0, 0};
  for (int k = 0; mistake == 2 ? k <= count[i] : k < count[i]; ++k) {
    const Atom b = atoms[list[k * n + i]];
    const int dx = atoms[i].x - b.x, dy = atoms[i].y - b.y, dz = atoms[i].z - b.z,
              r2 = dx * dx + dy * dy + dz * dz;
    f.x += force(r2, dx), f.y += force(r2, dy), f.z += force(r2, dz);
  }
  out[i] = f;
}

PROGRAM(lennard_jones, 2) {
  const int side = 6, n = side * side * side, cutoff = 450;
  std::vector<Atom> atoms(n);
  Random random(6);
  for (int i = 0; i < n; ++i)
    atoms[i] = {i % side * 280 + random.below(40), i / side % side * 280 + random.below(40),
                i / side / side * 280 + random.below(40), short(i % 3)};
  Buffer<Atom> d_atoms(atoms);
  Buffer<int> count(n), list(n * kMax);
  Buffer<longlong3> out(n);
  list_neighbours<<<divide_up(n, 64), 64>>>(d_atoms, n, cutoff * cutoff, count, list, mistake);
  forces<<<divide_up(n, 64), 64>>>(d_atoms, n, count, list, out, mistake);

  // The reference computes each pair once (Newton's third law). All numbers are integers except one
  // factor, which is exact within its truncation.
  std::vector<double> fx(n, 0);
  std::vector<int> neighbours(n, 0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      const int dx = atoms[i].x - atoms[j].x, dy = atoms[i].y - atoms[j].y,
                dz = atoms[i].z - atoms[j].z, r2 = dx * dx + dy * dy + dz * dz;
      if (r2 > cutoff * cutoff) continue;
      const double r = r2 / 65536.0,
                   f = 24 * (2 * std::pow(r, -7) - std::pow(r, -4)) * 1048576.0 * dx;
      fx[i] += f, fx[j] -= f, ++neighbours[i], ++neighbours[j];
    }
  const std::vector<longlong3> got = out.host();
  long long sum = 0;
  double error = 0;
  for (int i = 0; i < n; ++i)
    sum += got[i].x + got[i].y + got[i].z,
        error = std::max(error, std::abs(double(got[i].x) - fx[i]));
  // Each neighbour's factor is truncated to an integer: an error below 1. The two computations may
  // round differently: below 1 again, since the factor is below 2^28 and doubles have 53 bits. The
  // factor is multiplied by |dx| <= cutoff.
  const double bound = 2.0 * kMax * cutoff;
  const int most = *std::max_element(neighbours.begin(), neighbours.end());
  return verdict(sum == 0 && error <= bound && count.host() == neighbours && most < kMax,
                 "error %g of %g, sum %lld, at most %d neighbours", error, bound, sum, most);
}

}  // namespace lennard_jones
