// Breadth-first search by frontiers. The thread whose compare-and-swap sets a vertex's level
// appends the vertex to the next queue.
#include "graph.h"

namespace bfs {

__global__ void expand(const int* first, const int* to, int* level, const int* queue, int size,
                       int* next, int* next_size, int depth, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const int v = queue[i];
  for (int e = first[v]; e < first[v + 1]; ++e) {
    const int w = to[e];
    if (mistake == 1) {
      if (level[w] != -1) continue;
      level[w] = depth;
    } else if (atomicCAS(&level[w], -1, depth) != -1) {
      continue;
    }
    next[atomicAdd(next_size, 1)] = w;
  }
}

PROGRAM(bfs, 2) {
  const Graph g = random_graph(900, 5, 11);
  Buffer<int> first(g.first), to(g.to), level(g.n), queue(g.n), next(g.n), next_size(1);
  CUDA(cudaMemset(level, 0xff, g.n * sizeof(int)));
  CUDA(cudaMemset(level, 0, sizeof(int)));
  CUDA(cudaMemset(queue, 0, sizeof(int)));
  int size = 1, depth = 0;
  if (mistake == 2) next_size.zero();
  while (size > 0 && depth < 100) {
    if (mistake != 2) next_size.zero();
    expand<<<divide_up(size, 32), 32>>>(first, to, level, queue, size, next, next_size, ++depth,
                                        mistake);
    size = next_size.host()[0];
    queue.swap(next);
  }

  // The levels are right if the levels of an edge's vertices differ by at most one, and each vertex
  // but the first has a neighbour one level above.
  const std::vector<int> got = level.host();
  int wrong = got[0] != 0, reached = 0;
  for (int v = 0; v < g.n; ++v) {
    bool parent = v == 0 || got[v] == -1;
    for (int e = g.first[v]; e < g.first[v + 1]; ++e) {
      const int a = got[v], b = got[g.to[e]];
      wrong += (a == -1) != (b == -1) || std::abs(a - b) > 1;
      parent |= b == a - 1;
    }
    wrong += !parent, reached += got[v] != -1;
  }
  return verdict(wrong == 0 && reached > g.n / 2, "%d wrong, %d of %d reached, depth %d", wrong,
                 reached, g.n, depth);
}

}  // namespace bfs
