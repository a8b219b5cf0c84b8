// The game of life with 64 cells in a word: bitwise adders count neighbours. The board wraps
// around; a glider returns to its start.
#include "program.h"

namespace life {

using Word = unsigned long long;

__device__ Word west(Word w, Word before) { return w << 1 | before >> 63; }
__device__ Word east(Word w, Word after) { return w >> 1 | after << 63; }

__global__ void generation(const Word* from, Word* to, int words, int height, int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= words || y >= height) return;
  Word one = 0, two = 0, four = 0;  // the neighbour count modulo 8: eight is as dead as zero
  const auto add = [&](Word v) {
    const Word carry = one & v;
    one ^= v;
    four ^= two & carry, two ^= carry;
  };
  for (int dy = -1; dy <= 1; ++dy) {
    const int row = mistake == 1 ? min(max(y + dy, 0), height - 1) : (y + dy + height) % height;
    const Word w = from[row * words + x], before = from[row * words + (x + words - 1) % words],
               after = from[row * words + (x + 1) % words];
    add(west(w, before)), add(east(w, after));
    if (dy) add(w);
  }
  to[y * words + x] = two & ~four & (one | from[y * words + x]);
}

PROGRAM(life, 2) {
  const int words = 3, width = 64 * words, height = 37, steps = 12;
  std::vector<Word> board(words * height);
  Random random(99);
  for (Word& w : board)
    w = static_cast<Word>(random()) << 32 & static_cast<Word>(random()) << 30 |
        (random() & random());
  Buffer<Word> from(board), to(board.size());
  for (int s = 0; s < steps; ++s) {
    generation<<<dim3(1, divide_up(height, 8)), dim3(4, 8)>>>(from, mistake == 2 ? from : to, words,
                                                              height, mistake);
    if (mistake != 2) from.swap(to);
  }
  const std::vector<Word> got = from.host();
  std::vector<char> now(width * height), next;
  for (int i = 0; i < width * height; ++i)
    now[i] = board[i / width * words + i % width / 64] >> i % 64 & 1;
  for (int s = 0; s < steps; ++s) {
    next = now;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int sum = 0;
        for (int k = 0; k < 9; ++k)
          sum += k == 4 ? 0
                        : now[(y + k / 3 - 1 + height) % height * width +
                              (x + k % 3 - 1 + width) % width];
        next[y * width + x] = sum == 3 || (sum == 2 && now[y * width + x]);
      }
    now = next;
  }
  int wrong = 0, alive = 0;
  for (int i = 0; i < width * height; ++i)
    wrong += (got[i / width * words + i % width / 64] >> i % 64 & 1) != static_cast<Word>(now[i]),
        alive += now[i];
  return verdict(wrong == 0 && alive > 50, "%d wrong, %d alive", wrong, alive);
}

}  // namespace life
