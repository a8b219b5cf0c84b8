// Steps of a cellular automaton in one cooperative launch, with a grid barrier between steps.
#include <cooperative_groups.h>

#include "program.h"

namespace grid_iterations {

namespace cg = cooperative_groups;

__global__ void evolve(unsigned char* a, unsigned char* b, int n, int steps, int mistake) {
  const cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    const unsigned char* from = s % 2 ? b : a;
    unsigned char* to = s % 2 ? a : b;
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) {
      const int left = from[i ? i - 1 : n - 1], right = from[i + 1 < n ? i + 1 : 0];
      to[i] = static_cast<unsigned char>(30 >> (4 * left + 2 * from[i] + right) & 1);
    }
    if (mistake == 1)
      cg::this_thread_block().sync();
    else if (mistake != 2 || grid.block_rank() + 1 < gridDim.x)
      grid.sync();
  }
}

PROGRAM(grid_iterations, 2) {
  int n = 517, steps = 21;
  std::vector<unsigned char> cells(n, 0);
  cells[n / 2] = 1;
  Buffer<unsigned char> a(cells), b(n);
  unsigned char *pa = a, *pb = b;
  void* arguments[] = {&pa, &pb, &n, &steps, &mistake};
  CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(evolve), dim3(5), dim3(64), arguments, 0,
                                   nullptr));
  const std::vector<unsigned char> got = b.host();
  int alive = 0;
  for (int s = 0; s < steps; ++s) {
    std::vector<unsigned char> next(n);
    for (int i = 0; i < n; ++i)
      next[i] = cells[(i + n - 1) % n] ^ (cells[i] | cells[(i + 1) % n]);  // rule 30
    cells = next;
  }
  for (const unsigned char c : cells) alive += c;
  return verdict(got == cells, "%d alive", alive);
}

}  // namespace grid_iterations
