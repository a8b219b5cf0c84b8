// Motion of blocks between two pictures by sums of absolute differences, four bytes per
// instruction; also dot products of bytes.
#include "program.h"

namespace motion_search {

constexpr int kSide = 8, kReach = 4;

// Each block of threads has one position in the picture, each thread one displacement.
__global__ void search(const unsigned char* before, const unsigned char* now, int width, int height,
                       short2* motion, unsigned* energy, int mistake) {
  __shared__ unsigned best;
  const int x0 = blockIdx.x * kSide, y0 = blockIdx.y * kSide,
            dx = static_cast<int>(threadIdx.x) - kReach,
            dy = static_cast<int>(threadIdx.y) - kReach;
  if (threadIdx.x == 0 && threadIdx.y == 0) best = 0xffffffffu;
  __syncthreads();
  unsigned sad = 0, square = 0;
  const bool inside =
      x0 + dx >= 0 && y0 + dy >= 0 && x0 + dx + kSide <= width && y0 + dy + kSide <= height;
  if (inside || mistake == 1) {
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; x += 4) {
        const unsigned a = *reinterpret_cast<const unsigned*>(&now[(y0 + y) * width + x0 + x]);
        const unsigned char* p = &before[(y0 + dy + y) * width + x0 + dx + x];
        const unsigned b = p[0] | p[1] << 8 | p[2] << 16 | p[3] << 24;
        sad = __vsadu4(a, b) + sad;
        square = __dp4a(__vabsdiffu4(a, b), __vabsdiffu4(a, b), square);
      }
    const unsigned key = sad << 8 | (threadIdx.y * (2 * kReach + 1) + threadIdx.x);
    if (mistake == 2)
      best = min(best, key);
    else
      atomicMin(&best, key);
  }
  __syncthreads();
  const int place = blockIdx.y * gridDim.x + blockIdx.x;
  if (static_cast<int>(best & 255) ==
      static_cast<int>(threadIdx.y * (2 * kReach + 1) + threadIdx.x))
    motion[place] = make_short2(dx, dy), energy[place] = square;
}

PROGRAM(motion_search, 2) {
  const int width = 48, height = 32, across = width / kSide, down = height / kSide;
  std::vector<unsigned char> before(width * height), now(width * height);
  Random random(123);
  for (unsigned char& b : before) b = static_cast<unsigned char>(random.below(256));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      now[y * width + x] = static_cast<unsigned char>(
          before[(y + 2) % height * width + (x + width - 3) % width] ^ (random.below(4) == 0));
  Buffer<unsigned char> d_before(before), d_now(now);
  Buffer<short2> motion(across * down);
  Buffer<unsigned> energy(across * down);
  search<<<dim3(across, down), dim3(2 * kReach + 1, 2 * kReach + 1)>>>(
      d_before, d_now, width, height, motion, energy, mistake);
  const std::vector<short2> got = motion.host();
  const std::vector<unsigned> energies = energy.host();
  int wrong = 0, moved = 0;
  for (int p = 0; p < across * down; ++p) {
    unsigned least = ~0u, square = 0;
    int at = 0;
    for (int k = 0; k < 81; ++k) {
      const int x0 = p % across * kSide, y0 = p / across * kSide, dx = k % 9 - kReach,
                dy = k / 9 - kReach;
      if (x0 + dx < 0 || y0 + dy < 0 || x0 + dx + kSide > width || y0 + dy + kSide > height)
        continue;
      unsigned sum = 0, squares = 0;
      for (int i = 0; i < kSide * kSide; ++i) {
        const int y = y0 + i / kSide, x = x0 + i % kSide,
                  d = std::abs(now[y * width + x] - before[(y + dy) * width + x + dx]);
        sum += d, squares += d * d;
      }
      if (sum < least) least = sum, at = k, square = squares;
    }
    wrong += got[p].x != at % 9 - kReach || got[p].y != at / 9 - kReach || energies[p] != square;
    moved += got[p].x == -3 && got[p].y == 2;
  }
  return verdict(wrong == 0 && moved > 0, "%d of %d wrong, %d moved as the picture did", wrong,
                 across * down, moved);
}

}  // namespace motion_search
