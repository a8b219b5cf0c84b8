// Local alignment with affine gaps (Smith, Waterman, Gotoh) of one query with many subjects. Each
// warp aligns one pair, each lane one row.
#include "program.h"

namespace smith_waterman {

constexpr int kOpen = 5, kExtend = 1;

__global__ void align(const char* query, int rows, const char* subjects, const int* at, int pairs,
                      short* best, int mistake) {
  const int pair = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (pair >= pairs) return;
  const char* subject = subjects + at[pair];
  const int columns = at[pair + 1] - at[pair];
  const char mine = lane < rows ? query[lane] : 0;
  short h = 0, h_left_above = 0, e = -100, f = -100, most = 0;
  for (int step = 0; step < columns + rows - 1; ++step) {
    const int x = step - lane;
    const short h_above = __shfl_up_sync(0xffffffff, static_cast<int>(h), 1),
                f_above = __shfl_up_sync(0xffffffff, static_cast<int>(f), 1);
    const bool inside = x >= 0 && (mistake == 1 || x < columns) && lane < rows;
    if (inside) {
      const short above = lane ? h_above : 0, left = h;
      e = max(left - kOpen, e - kExtend);
      f = lane ? max(above - kOpen, f_above - kExtend) : -100;
      const short match = (x ? h_left_above : 0) + (subject[x] == mine ? 3 : -2);
      h = max(max(0, match), max(e, f));
      most = max(most, h);
      h_left_above = above;
    }
  }
  for (int d = 16; d > 0; d /= 2) {
    const int other = mistake == 2 ? __shfl_down_sync(0xffffffff, static_cast<int>(most), d, 16)
                                   : __shfl_down_sync(0xffffffff, static_cast<int>(most), d);
    most = max(static_cast<int>(most), other);
  }
  if (lane == 0) best[pair] = most;
}

PROGRAM(smith_waterman, 2) {
  const int rows = 29, pairs = 45;
  std::vector<char> query(rows), subjects;
  std::vector<int> at = {0};
  Random random(52);
  for (char& c : query) c = "ACGT"[random.below(4)];
  for (int p = 0; p < pairs; ++p) {
    for (int i = random.below(40) + 1; i > 0; --i) subjects.push_back("ACGT"[random.below(4)]);
    for (int i = random.below(9); i < (p % 3 ? 0 : 19); ++i) subjects.push_back(query[i]);
    at.push_back(static_cast<int>(subjects.size()));
  }
  Buffer<char> d_query(query), d_subjects(subjects);
  Buffer<int> d_at(at);
  Buffer<short> best(pairs);
  align<<<divide_up(pairs, 2), 64>>>(d_query, rows, d_subjects, d_at, pairs, best, mistake);
  const std::vector<short> got = best.host();
  int wrong = 0, highest = 0;
  for (int p = 0; p < pairs; ++p) {
    const int columns = at[p + 1] - at[p];
    // The reference follows the definition: gaps of every length.
    std::vector<std::vector<int>> h(rows + 1, std::vector<int>(columns + 1, 0));
    int most = 0;
    for (int y = 1; y <= rows; ++y)
      for (int x = 1; x <= columns; ++x) {
        int& here = h[y][x];
        here = std::max(0, h[y - 1][x - 1] + (query[y - 1] == subjects[at[p] + x - 1] ? 3 : -2));
        for (int k = 1; k <= y; ++k) here = std::max(here, h[y - k][x] - kOpen - (k - 1) * kExtend);
        for (int k = 1; k <= x; ++k) here = std::max(here, h[y][x - k] - kOpen - (k - 1) * kExtend);
        most = std::max(most, here);
      }
    wrong += got[p] != most, highest = std::max(highest, most);
  }
  return verdict(wrong == 0 && highest > 20, "%d of %d wrong, the highest score %d", wrong, pairs,
                 highest);
}

}  // namespace smith_waterman
