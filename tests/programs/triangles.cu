// Triangles in a graph: each warp processes one row of edges and merges two sorted neighbour lists;
// shuffles sum the counts.
#include "graph.h"

namespace triangles {

__device__ int common(const int* a, const int* a_end, const int* b, const int* b_end, int below) {
  int count = 0;
  while (a < a_end && b < b_end) {
    if (*a >= below || *b >= below) break;
    if (*a == *b) {
      ++count, ++a, ++b;
    } else if (*a < *b) {
      ++a;
    } else {
      ++b;
    }
  }
  return count;
}

// Each triangle u > v > w is counted at its edge (u, v).
__global__ void count(const int* first, const int* to, int n, unsigned long long* total,
                      int mistake) {
  const int u = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (u >= n) return;
  int mine = 0;
  for (int e = first[u] + lane; e < first[u + 1]; e += 32) {
    const int v = to[e];
    if (v < u)
      mine += common(to + first[u], to + first[u + 1], to + first[v], to + first[v + 1],
                     mistake == 1 ? n : v);
  }
  for (int step = 16; step > 0; step /= 2)
    mine += __shfl_down_sync(mistake == 2 ? 0xffff : 0xffffffff, mine, step);
  if (lane == 0 && mine) atomicAdd(total, static_cast<unsigned long long>(mine));
}

PROGRAM(triangles, 2) {
  const Graph g = random_graph(150, 22, 15);
  Buffer<int> first(g.first), to(g.to);
  Buffer<unsigned long long> total(1);
  total.zero();
  count<<<divide_up(g.n, 4), 128>>>(first, to, g.n, total, mistake);
  std::vector<char> joined(g.n * g.n, 0);
  for (int v = 0; v < g.n; ++v)
    for (int e = g.first[v]; e < g.first[v + 1]; ++e) joined[v * g.n + g.to[e]] = 1;
  unsigned long long expected = 0;
  for (int a = 0; a < g.n; ++a)
    for (int b = 0; b < a; ++b)
      for (int c = 0; c < b; ++c)
        expected += joined[a * g.n + b] & joined[b * g.n + c] & joined[a * g.n + c];
  const unsigned long long got = total.host()[0];
  return verdict(got == expected && got > 0, "%llu triangles, %llu expected", got, expected);
}

}  // namespace triangles
