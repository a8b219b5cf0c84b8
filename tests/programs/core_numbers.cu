// Core numbers of a graph by peeling: a vertex with too few neighbours is removed, which decrements
// the degree of each neighbour.
#include "graph.h"

namespace core_numbers {

__global__ void find(const int* degree, const int* core, int n, int k, int* queue, int* size) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && core[v] < 0 && degree[v] <= k) queue[atomicAdd(size, 1)] = v;
}

__global__ void peel(const int* first, const int* to, int* degree, int* core, int k, int* queue,
                     const int* from, int size, int* next_size, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const int v = from[i];
  core[v] = k;
  for (int e = first[v]; e < first[v + 1]; ++e) {
    if (mistake == 1) {
      if (--degree[to[e]] == k) queue[atomicAdd(next_size, 1)] = to[e];
    } else if (atomicSub(&degree[to[e]], 1) ==
               (mistake == 2 ? k : k + 1)) {  // one neighbour sees it fall to k
      queue[atomicAdd(next_size, 1)] = to[e];
    }
  }
}

PROGRAM(core_numbers, 2) {
  const Graph g = random_graph(450, 7, 18);
  std::vector<int> degrees(g.n);
  for (int v = 0; v < g.n; ++v) degrees[v] = g.first[v + 1] - g.first[v];
  Buffer<int> first(g.first), to(g.to), degree(degrees), core(std::vector<int>(g.n, -1)),
      queue(g.n), next(g.n), size(1);
  int left = g.n, launches = 0, most = 0;
  for (int k = 0; left > 0 && k < g.n; ++k) {
    size.zero();
    find<<<divide_up(g.n, 64), 64>>>(degree, core, g.n, k, queue, size);
    for (int now = size.host()[0]; now > 0; now = size.host()[0], ++launches) {
      left -= now, most = k;
      size.zero();
      peel<<<divide_up(now, 32), 32>>>(first, to, degree, core, k, next, queue, now, size, mistake);
      queue.swap(next);
    }
  }
  // A vertex has core number k if it is in the largest subgraph of minimum degree k, but not in
  // that of minimum degree k + 1.
  std::vector<int> expected(g.n, 0);
  for (int k = 1; k <= most + 1; ++k) {
    std::vector<bool> in(g.n, true);
    for (bool changed = true; changed;) {
      changed = false;
      for (int v = 0; v < g.n; ++v) {
        int count = 0;
        for (int e = g.first[v]; e < g.first[v + 1]; ++e) count += in[g.to[e]];
        if (in[v] && count < k) in[v] = false, changed = true;
      }
    }
    for (int v = 0; v < g.n; ++v)
      if (in[v]) expected[v] = k;
  }
  return verdict(core.host() == expected, "cores up to %d, %d launches", most, launches);
}

}  // namespace core_numbers
