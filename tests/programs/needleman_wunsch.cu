// Global alignment of two sequences (Needleman and Wunsch): tiles by anti-diagonals, and cells of a
// tile by anti-diagonals.
#include "program.h"

namespace needleman_wunsch {

constexpr int kTile = 16, kGap = -3;

__constant__ signed char kScore[4][4] = {
    {5, -4, -2, -4}, {-4, 5, -4, -2}, {-2, -4, 5, -4}, {-4, -2, -4, 5}};

// `table` has one row and one column more than the sequences. This launch computes the tiles
// (column, diagonal - column).
__global__ void diagonal(int* table, const char* a, const char* b, int rows, int columns,
                         int diagonal, int first, int mistake) {
  __shared__ int tile[kTile + 1][kTile + 1];
  const int column = (first + blockIdx.x) * kTile,
            row = (diagonal - first - static_cast<int>(blockIdx.x)) * kTile, t = threadIdx.x,
            width = columns + 1;
  if (column + t < columns) tile[0][t + 1] = table[row * width + column + t + 1];
  if (row + t < rows) tile[t + 1][0] = table[(row + t + 1) * width + column];
  if (t == 0) tile[0][0] = table[row * width + column];
  __syncthreads();
  for (int d = 0; d < 2 * kTile - 1; ++d) {
    const int y = t, x = d - t;
    if (x >= 0 && x < kTile && row + y < rows && column + x < columns) {
      const int match = tile[y][x] + kScore[(int)a[row + y]][(int)b[column + x]];
      const int best = max(match, max(tile[y][x + 1], tile[y + 1][x]) + kGap);
      tile[y + 1][x + 1] = best;
      table[(row + y + 1) * width + column + x + 1] = best;
    }
    if (mistake != 1) __syncthreads();
  }
}

PROGRAM(needleman_wunsch, 2) {
  const int rows = 75, columns = 90, width = columns + 1;
  std::vector<char> a(rows), b(columns);
  Random random(51);
  for (char& c : a) c = static_cast<char>(random.below(4));
  for (int i = 0; i < columns; ++i)
    b[i] = random.below(5) || i >= rows ? static_cast<char>(random.below(4)) : a[i];
  std::vector<int> table(width * (rows + 1), 0);
  for (int i = 0; i <= columns; ++i) table[i] = i * kGap;
  for (int i = 0; i <= rows; ++i) table[i * width] = i * kGap;
  Buffer<int> d_table(table);
  Buffer<char> d_a(a), d_b(b);
  const int tall = divide_up(rows, kTile), wide = divide_up(columns, kTile);
  for (int d = 0; d < tall + wide - 1; ++d) {
    const int first = std::max(0, d - tall + 1), last = std::min(d, wide - 1);
    if (mistake == 2 && d == tall) continue;
    diagonal<<<last - first + 1, kTile>>>(d_table, d_a, d_b, rows, columns, d, first, mistake);
  }
  for (int y = 1; y <= rows; ++y)
    for (int x = 1; x <= columns; ++x) {
      const int same = a[y - 1] == b[x - 1] ? 5 : (a[y - 1] ^ b[x - 1]) == 2 ? -2 : -4;
      table[y * width + x] =
          std::max({table[(y - 1) * width + x - 1] + same, table[y * width + x - 1] + kGap,
                    table[(y - 1) * width + x] + kGap});
    }
  const std::vector<int> got = d_table.host();
  return verdict(got == table, "score %d, %d expected", got.back(), table.back());
}

}  // namespace needleman_wunsch
