// PageRank by power iteration, in double precision. One atomic sum distributes the rank of vertices
// without edges over all.
#include "graph.h"

namespace pagerank {

__global__ void share(const double* rank, const int* first, double* out, double* dangling, int n,
                      int mistake) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const int degree = first[v + 1] - first[v];
  if (degree > 0)
    out[v] = rank[v] / degree;
  else if (mistake != 1)
    atomicAdd(dangling, rank[v]);
}

__global__ void gather(const int* __restrict__ first, const int* __restrict__ to,
                       const double* __restrict__ out, const double* dangling, double* rank,
                       int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  double sum = *dangling / n;
  for (int e = first[v]; e < first[v + 1]; ++e) sum += __ldg(&out[to[e]]);
  rank[v] = 0.15 / n + 0.85 * sum;
}

PROGRAM(pagerank, 2) {
  const Graph g = random_graph(420, 4, 13);
  Buffer<int> first(g.first), to(g.to);
  Buffer<double> rank(std::vector<double>(g.n, 1.0 / g.n)), out(g.n), dangling(1);
  const int iterations = 10, blocks = divide_up(g.n, 128);
  for (int i = 0; i < iterations; ++i) {
    if (mistake != 2) dangling.zero();
    share<<<blocks, 128>>>(rank, first, out, dangling, g.n, mistake);
    gather<<<blocks, 128>>>(first, to, out, dangling, rank, g.n);
  }
  const std::vector<double> got = rank.host();

  // The reference pushes: each vertex adds to its neighbours.
  std::vector<double> now(g.n, 1.0 / g.n), next;
  for (int i = 0; i < iterations; ++i) {
    next.assign(g.n, 0);
    double rest = 0;
    for (int v = 0; v < g.n; ++v) {
      const int degree = g.first[v + 1] - g.first[v];
      for (int e = g.first[v]; e < g.first[v + 1]; ++e) next[g.to[e]] += now[v] / degree;
      if (degree == 0) rest += now[v];
    }
    for (double& r : next) r = 0.15 / g.n + 0.85 * (r + rest / g.n);
    now = next;
  }
  // Ranks are positive and sum to 1. A term has at most n + 3 roundings in a step. An iteration
  // multiplies the sum of errors by 0.85, so that ten steps have at most ten times the error of
  // one, in each of the two computations.
  const double bound = 2 * iterations * (g.n + 3) * std::ldexp(1.0, -53);
  double error = 0, sum = 0;
  for (int v = 0; v < g.n; ++v) error += std::abs(got[v] - now[v]), sum += got[v];
  return verdict(error <= bound && std::abs(sum - 1) <= bound, "error %g of %g, sum - 1 = %g",
                 error, bound, sum - 1);
}

}  // namespace pagerank
