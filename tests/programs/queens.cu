// The number of solutions of the n queens problem: recursion with bit masks; each thread starts
// from one placement in the first two rows.
#include "program.h"

namespace queens {

__device__ int place(unsigned columns, unsigned left, unsigned right, unsigned all, int mistake) {
  if (columns == all) return 1;
  int ways = 0;
  for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
    const unsigned bit = open & (0 - open);
    ways += place(columns | bit, (left | bit) << 1,
                  mistake == 1 ? right >> 1 | bit : (right | bit) >> 1, all, mistake);
  }
  return ways;
}

__global__ void count(int n, unsigned* ways, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int mine;
  if (i < n * n) {
    const unsigned all = (1u << n) - 1, first = 1u << i / n, second = 1u << i % n;
    mine = 0;
    if (!(second & (first | first << 1 | first >> 1)))
      mine = place(first | second, (first << 1 | second) << 1, (first >> 1 | second) >> 1, all,
                   mistake);
  } else {
    mine = 0;
  }
  if (mistake == 2)
    *ways += mine;
  else
    atomicAdd(ways, mine);
}

PROGRAM(queens, 2) {
  const int known[] = {1, 0, 0, 2, 10, 4, 40};  // for boards of one to seven
  Buffer<unsigned> ways(1);
  int wrong = 0;
  unsigned last = 0;
  for (int n = 4; n <= 7; ++n) {
    ways.zero();
    count<<<2, 32>>>(n, ways, mistake);
    last = ways.host()[0];
    wrong += last != static_cast<unsigned>(known[n - 1]);
  }
  return verdict(wrong == 0, "%d wrong, %u on a board of 7", wrong, last);
}

}  // namespace queens
