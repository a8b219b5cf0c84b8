// A graph in CSR format: the neighbours of v are to[first[v]] to to[first[v + 1] - 1].
#pragma once

#include "program.h"

struct Graph {
  int n = 0;
  std::vector<int> first, to, weight;
  int edges() const { return static_cast<int>(to.size()); }
};

// A random graph with about n * degree / 2 undirected edges, each stored in both directions. No
// loops or duplicates; neighbours are sorted; some vertices have no edges.
inline Graph random_graph(int n, int degree, uint32_t seed) {
  Random random(seed);
  std::vector<std::vector<int>> rows(n);
  for (int e = 0; e < n * degree / 2; ++e) {
    const int a = random.below(n),
              b = random.below(4) ? random.below(n) : std::min(n - 1, a + 1 + random.below(5));
    if (a == b || a % 19 == 3 || b % 19 == 3 || std::count(rows[a].begin(), rows[a].end(), b))
      continue;
    rows[a].push_back(b), rows[b].push_back(a);
  }
  Graph g;
  g.n = n;
  for (std::vector<int>& row : rows) {
    std::sort(row.begin(), row.end());
    g.first.push_back(g.edges());
    g.to.insert(g.to.end(), row.begin(), row.end());
  }
  g.first.push_back(g.edges());
  for (int v = 0; v < n; ++v)
    for (int e = g.first[v]; e < g.first[v + 1]; ++e)  // the same hash in both directions
      g.weight.push_back(1 + (std::min(v, g.to[e]) * 31 + std::max(v, g.to[e]) * 17) % 50);
  return g;
}
