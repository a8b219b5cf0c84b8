// Erosion and dilation of a byte picture in place: each block reads one row into shared memory and
// writes it back.
#include "program.h"

namespace morphology {

template <bool kErode>
__global__ void along_rows(unsigned char* picture, int width, int reach, int mistake) {
  __shared__ unsigned char row[256];
  unsigned char* mine = picture + blockIdx.x * width;
  const int x = threadIdx.x;
  if (mistake == 1) {
    if (x >= width) return;
    unsigned char best = mine[x];
    for (int i = max(0, x - reach); i <= min(width - 1, x + reach); ++i)
      best = kErode ? min(best, mine[i]) : max(best, mine[i]);
    mine[x] = best;
    return;
  }
  if (x < width) row[x] = mine[x];
  __syncthreads();
  if (x >= width) return;
  unsigned char best = row[x];
  for (int i = max(0, x - reach); i <= (mistake == 2 ? x + reach : min(width - 1, x + reach)); ++i)
    best = kErode ? min(best, row[i]) : max(best, row[i]);
  mine[x] = best;
}

// Each thread moves down one column with a window of the last three bytes.
template <bool kErode>
__global__ void along_columns(unsigned char* picture, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  unsigned char above = picture[x], here = above;
  for (int y = 0; y < height; ++y) {
    const unsigned char below = y + 1 < height ? picture[(y + 1) * width + x] : here;
    picture[y * width + x] = kErode ? min(above, min(here, below)) : max(above, max(here, below));
    above = here, here = below;
  }
}

PROGRAM(morphology, 2) {
  const int width = 199, height = 23, reach = 3, threads = 224;
  std::vector<unsigned char> picture(width * height);
  Random random(67);
  for (unsigned char& p : picture)
    p = static_cast<unsigned char>(random.below(5) ? 200 + random.below(50) : random.below(256));
  Buffer<unsigned char> d_picture(picture);
  along_rows<true><<<height, threads>>>(d_picture, width, reach, mistake);
  along_columns<true><<<divide_up(width, 64), 64>>>(d_picture, width, height);
  along_rows<false><<<height, threads>>>(d_picture, width, reach, mistake);
  along_columns<false><<<divide_up(width, 64), 64>>>(d_picture, width, height);
  const std::vector<unsigned char> got = d_picture.host();

  std::vector<unsigned char> now = picture, next(picture.size());
  for (const bool erode : {true, false}) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int best = now[y * width + x];
        for (int j = std::max(y - 1, 0); j <= std::min(y + 1, height - 1); ++j)
          for (int i = std::max(x - reach, 0); i <= std::min(x + reach, width - 1); ++i)
            best = erode ? std::min<int>(best, now[j * width + i])
                         : std::max<int>(best, now[j * width + i]);
        next[y * width + x] = static_cast<unsigned char>(best);
      }
    now = next;
  }
  int wrong = 0, above = 0;  // an opened picture is nowhere brighter than before
  for (int i = 0; i < width * height; ++i) wrong += got[i] != now[i], above += got[i] > picture[i];
  return verdict(wrong == 0 && above == 0, "%d of %d wrong, %d brighter than before", wrong,
                 width * height, above);
}

}  // namespace morphology
