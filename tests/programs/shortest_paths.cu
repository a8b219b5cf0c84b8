// Shortest paths from one vertex (Bellman and Ford): relaxes every edge until nothing changes.
#include <queue>

#include "graph.h"

namespace shortest_paths {

constexpr unsigned kFar = 0xffffffffu;

__global__ void relax(const int* first, const int* to, const int* weight, unsigned* distance, int n,
                      bool* changed, int mistake) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const unsigned mine = atomicAdd(&distance[v], 0);
  if (mine == kFar && mistake != 2) return;
  for (int e = first[v]; e < first[v + 1]; ++e) {
    const unsigned there = mine + weight[e];
    if (mistake == 1) {
      if (there < distance[to[e]]) distance[to[e]] = there, *changed = true;
    } else if (there < atomicMin(&distance[to[e]], there)) {
      *changed = true;
    }
  }
}

PROGRAM(shortest_paths, 2) {
  const Graph g = random_graph(500, 6, 12);
  Buffer<int> first(g.first), to(g.to), weight(g.weight);
  std::vector<unsigned> start(g.n, kFar);
  start[0] = 0;
  Buffer<unsigned> distance(start);
  bool* changed;  // one byte that the host writes too
  CUDA(cudaMallocManaged(&changed, sizeof *changed));
  int rounds = 0;
  do {
    *changed = false;
    relax<<<divide_up(g.n, 64), 64>>>(first, to, weight, distance, g.n, changed, mistake);
    CUDA(cudaDeviceSynchronize());
  } while (*changed && ++rounds < g.n);
  CUDA(cudaFree(changed));

  std::vector<unsigned> expected(g.n, kFar);  // Dijkstra's algorithm
  using Entry = std::pair<unsigned, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> open;
  open.push({0, 0});
  while (!open.empty()) {
    const auto [d, v] = open.top();
    open.pop();
    if (d >= expected[v]) continue;
    expected[v] = d;
    for (int e = g.first[v]; e < g.first[v + 1]; ++e) open.push({d + g.weight[e], g.to[e]});
  }
  int wrong = 0, reached = 0;
  const std::vector<unsigned> got = distance.host();
  for (int v = 0; v < g.n; ++v) wrong += got[v] != expected[v], reached += got[v] != kFar;
  return verdict(wrong == 0 && reached > g.n / 2, "%d wrong, %d reached, %d rounds", wrong, reached,
                 rounds);
}

}  // namespace shortest_paths
