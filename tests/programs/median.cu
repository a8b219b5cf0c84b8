// The median of 3 x 3 pixels: by a network of minima and maxima; at the picture's edge by
// selection.
#include "program.h"

namespace median {

__device__ void order(unsigned char& a, unsigned char& b) {
  const unsigned char low = min(a, b);
  b = max(a, b), a = low;
}

__global__ void filter(const unsigned char* in, unsigned char* out, int width, int height,
                       int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  unsigned char v[9];
  int n = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
        v[n++] = in[(y + j) * width + x + i];
  if (n == 9) {
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]), order(v[0], v[1]), order(v[3], v[4]),
        order(v[6], v[7]), order(v[1], v[2]);
    order(v[4], v[5]), order(v[7], v[8]), order(v[0], v[3]), order(v[5], v[8]), order(v[4], v[7]),
        order(v[3], v[6]), order(v[1], v[4]);
    order(v[2], v[5]), order(v[4], v[7]), order(v[4], v[2]), order(v[6], v[4]);
    if (mistake != 1) order(v[4], v[2]);
    out[y * width + x] = v[4];
    return;
  }
  for (int i = 0; i <= n / 2; ++i) {  // the lower half, by selection
    int least = i;
    for (int k = i + 1; k < (mistake == 2 ? 9 : n); ++k)
      if (v[k] < v[least]) least = k;
    const unsigned char t = v[i];
    v[i] = v[least], v[least] = t;
  }
  out[y * width + x] = v[n / 2];
}

PROGRAM(median, 2) {
  const int width = 77, height = 33;
  std::vector<unsigned char> picture(width * height);
  Random random(63);
  for (unsigned char& p : picture) p = static_cast<unsigned char>(random.below(256));
  Buffer<unsigned char> in(picture), out(picture.size());
  filter<<<dim3(divide_up(width, 64), height), 64>>>(in, out, width, height, mistake);
  const std::vector<unsigned char> got = out.host();
  int wrong = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::vector<unsigned char> all;
      for (int j = std::max(y - 1, 0); j <= std::min(y + 1, height - 1); ++j)
        for (int i = std::max(x - 1, 0); i <= std::min(x + 1, width - 1); ++i)
          all.push_back(picture[j * width + i]);
      std::sort(all.begin(), all.end());
      wrong += got[y * width + x] != all[all.size() / 2];
    }
  return verdict(wrong == 0, "%d of %d wrong", wrong, width * height);
}

}  // namespace median
