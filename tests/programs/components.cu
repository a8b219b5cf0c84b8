// Connected components: each edge hooks the larger root under the smaller one, then paths are
// halved, until nothing changes.
#include <numeric>

#include "graph.h"

namespace components {

__device__ int root(volatile int* parent, int v) {
  while (parent[v] != v) v = parent[v];
  return v;
}

__global__ void hook(const int2* edges, int m, int* parent, int* changed) {
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < m; e += gridDim.x * blockDim.x) {
    const int a = root(parent, edges[e].x), b = root(parent, edges[e].y);
    if (a == b) continue;
    atomicMin(&parent[max(a, b)], min(a, b));
    *changed = 1;
  }
}

__global__ void compress(int* parent, int n, int mistake) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  if (mistake == 1) {
    while (parent[v] != parent[parent[v]]) parent[v] = parent[parent[v]];
    return;
  }
  const int r = root(parent, v);
  atomicMin(&parent[v], r);
}

PROGRAM(components, 2) {
  const Graph g = random_graph(700, 2, 14);
  std::vector<int2> edges;
  for (int v = 0; v < g.n; ++v)
    for (int e = g.first[v]; e < g.first[v + 1]; ++e)
      if (v < g.to[e]) edges.push_back({v, g.to[e]});
  std::vector<int> self(g.n);
  std::iota(self.begin(), self.end(), 0);
  Buffer<int> parent(self), changed(1);
  Buffer<int2> d_edges(edges);
  int rounds = 0;
  do {
    if (mistake != 2) changed.zero();
    hook<<<3, 64>>>(d_edges, static_cast<int>(edges.size()), parent, changed);
    compress<<<divide_up(g.n, 96), 96>>>(parent, g.n, mistake);
    ++rounds;
  } while (changed.host()[0] && rounds < g.n);

  std::vector<int> find = self;  // the smallest vertex of each component, by depth-first search
  int count = 0;
  std::vector<bool> seen(g.n, false);
  for (int v = 0; v < g.n; ++v) {
    if (seen[v]) continue;
    ++count;
    std::vector<int> stack = {v};
    seen[v] = true;
    while (!stack.empty()) {
      const int u = stack.back();
      stack.pop_back();
      find[u] = v;
      for (int e = g.first[u]; e < g.first[u + 1]; ++e)
        if (!seen[g.to[e]]) seen[g.to[e]] = true, stack.push_back(g.to[e]);
    }
  }
  return verdict(parent.host() == find && rounds < g.n, "%d components, %d rounds", count, rounds);
}

}  // namespace components
