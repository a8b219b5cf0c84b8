// A spanning forest of least weight (Boruvka): each component finds its lightest edge by a 64-bit
// atomic minimum and joins.
#include <numeric>

#include "graph.h"

namespace boruvka {

using Word = unsigned long long;

__global__ void lightest(const int3* edges, int m, const int* component, Word* best) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= m) return;
  const int a = component[edges[e].x], b = component[edges[e].y];
  if (a == b) return;
  const Word key = static_cast<Word>(edges[e].z) << 32 | e;
  atomicMin(&best[a], key);
  atomicMin(&best[b], key);
}

// Makes each component a child of the component at the other end of its edge. If two chose the same
// edge, the smaller remains a root.
__global__ void join(const int3* edges, const int* component, const Word* best, int* parent,
                     Word* weight, int n) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n) return;
  parent[c] = c;
  if (best[c] == ~0ull) return;
  const int3 edge = edges[static_cast<unsigned>(best[c])];
  const int other = component[edge.x] == c ? component[edge.y] : component[edge.x];
  if (best[other] == best[c] && c < other) return;
  parent[c] = other;
  atomicAdd(weight, static_cast<Word>(edge.z));
}

__global__ void flatten(int* component, const int* parent, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int c = component[v];
  while (parent[c] != c) c = parent[c];
  component[v] = c;
}

PROGRAM(boruvka, 1) {
  const Graph g = random_graph(400, 4, 17);
  std::vector<int3> edges;
  for (int v = 0; v < g.n; ++v)
    for (int e = g.first[v]; e < g.first[v + 1]; ++e)
      if (v < g.to[e]) edges.push_back({v, g.to[e], g.weight[e]});
  const int m = static_cast<int>(edges.size()), blocks = divide_up(g.n, 128);
  std::vector<int> self(g.n);
  std::iota(self.begin(), self.end(), 0);
  Buffer<int3> d_edges(edges);
  Buffer<int> component(self), parent(g.n);
  Buffer<Word> best(g.n), weight(1);
  weight.zero();
  CUDA(cudaMemset(best, 0xff, g.n * sizeof(Word)));
  for (int round = 0; round < 9; ++round) {  // each round at least halves the number of components
    if (mistake != 1) CUDA(cudaMemset(best, 0xff, g.n * sizeof(Word)));
    lightest<<<divide_up(m, 128), 128>>>(d_edges, m, component, best);
    join<<<blocks, 128>>>(d_edges, component, best, parent, weight, g.n);
    flatten<<<blocks, 128>>>(component, parent, g.n);
  }

  std::vector<int> order(m), set = self;  // Kruskal's algorithm
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return edges[a].z < edges[b].z; });
  Word expected = 0;
  int trees = g.n;
  for (const int e : order) {
    const int a = set[edges[e].x], b = set[edges[e].y];
    if (a == b) continue;
    expected += edges[e].z, --trees;
    for (int& s : set) s = s == a ? b : s;
  }
  const Word got = weight.host()[0];
  return verdict(got == expected, "weight %llu, %llu expected, %d trees", got, expected, trees);
}

}  // namespace boruvka
