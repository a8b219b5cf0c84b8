// Graph colouring by priorities (Jones and Plassmann): a vertex is coloured after all its
// neighbours of higher priority.
#include "graph.h"

namespace colouring {

__host__ __device__ unsigned priority(unsigned v) { return (v ^ 0x5bd1e995u) * 2654435761u; }

__global__ void colour(const int* first, const int* to, const unsigned char* before,
                       unsigned char* after, int n, int* left) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  bool waits = false;
  if (v < n) {
    unsigned long long used = 0;
    for (int e = first[v]; e < first[v + 1] && !waits; ++e)
      if (priority(to[e]) > priority(v)) {
        waits = before[to[e]] == 0xff;
        used |= 1ull << (before[to[e]] & 63);
      }
    after[v] = waits ? 0xff : __ffsll(~used) - 1;
  }
  const unsigned waiting = __ballot_sync(0xffffffff, waits);
  if (threadIdx.x % 32 == 0 && waiting) atomicAdd(left, __popc(waiting));
}

PROGRAM(colouring, 1) {
  const Graph g = random_graph(600, 9, 16);
  Buffer<int> first(g.first), to(g.to), left(1);
  Buffer<unsigned char> before(std::vector<unsigned char>(g.n, 0xff)), after(g.n);
  int rounds = 0, waiting;
  do {
    left.zero();
    colour<<<divide_up(g.n, 64), 64>>>(first, to, before, mistake == 1 ? before : after, g.n, left);
    if (mistake != 1) before.swap(after);
    waiting = left.host()[0];
  } while (waiting && ++rounds < g.n);

  std::vector<int> order(g.n), expected(g.n, -1);  // sequentially, by descending priority
  for (int v = 0; v < g.n; ++v) order[v] = v;
  std::sort(order.begin(), order.end(), [](int a, int b) { return priority(a) > priority(b); });
  for (const int v : order) {
    std::vector<bool> used(g.n, false);
    for (int e = g.first[v]; e < g.first[v + 1]; ++e)
      if (expected[g.to[e]] >= 0) used[expected[g.to[e]]] = true;
    expected[v] = static_cast<int>(std::find(used.begin(), used.end(), false) - used.begin());
  }
  const std::vector<unsigned char> got = before.host();
  int wrong = 0, colours = 0;
  for (int v = 0; v < g.n; ++v)
    wrong += got[v] != expected[v], colours = std::max(colours, got[v] + 1);
  return verdict(wrong == 0 && rounds < g.n, "%d wrong, %d colours, %d rounds", wrong, colours,
                 rounds);
}

}  // namespace colouring
