// The longest common subsequence by anti-diagonals, in three alternating arrays of 16 bits.
#include "program.h"

namespace common_subsequence {

// Cell (y, x = d - y) of the table; before and latest are the diagonals d - 2 and d - 1, by y.
__global__ void diagonal(const char* a, int rows, const char* b, int columns, int d,
                         const unsigned short* before, const unsigned short* latest,
                         unsigned short* now, int mistake) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x, x = d - y;
  if (y > rows || x < 0 || x > columns) return;
  if (y == 0 || x == 0)
    now[y] = 0;
  else if (a[y - 1] == b[x - 1])
    now[y] = before[y - 1] + 1;
  else
    now[y] = max(latest[mistake == 1 ? y + 1 : y], latest[y - 1]);
}

PROGRAM(common_subsequence, 2) {
  const int rows = 121, columns = 87;
  std::vector<char> a(rows), b(columns);
  Random random(53);
  for (char& c : a) c = static_cast<char>('a' + random.below(5));
  for (char& c : b) c = static_cast<char>('a' + random.below(5));
  Buffer<char> d_a(a), d_b(b);
  Buffer<unsigned short> before(rows + 1), latest(rows + 1), now(rows + 1);
  for (int d = 0; d <= rows + columns; ++d) {
    diagonal<<<divide_up(rows + 1, 64), 64>>>(d_a, rows, d_b, columns, d, before, latest, now,
                                              mistake);
    if (mistake == 2) {
      latest.swap(now);
      before.swap(latest);
    } else {
      before.swap(latest);
      latest.swap(now);
    }
  }
  const int got = latest.host()[rows];

  // For each length, the shortest prefix of b that contains it (Hunt and Szymanski).
  std::vector<int> ends;
  for (int y = 0; y < rows; ++y)
    for (int x = columns - 1; x >= 0; --x)
      if (a[y] == b[x]) {
        const auto place = std::lower_bound(ends.begin(), ends.end(), x);
        if (place == ends.end())
          ends.push_back(x);
        else
          *place = x;
      }
  return verdict(got == static_cast<int>(ends.size()), "length %d, %zu expected", got, ends.size());
}

}  // namespace common_subsequence
