// A box blur of pixels with four byte channels. All threads load the tile and its halo to dynamic
// shared memory.
#include "program.h"

namespace box_blur {

constexpr int kSide = 16;

__global__ void blur(const uchar4* in, uchar4* out, int width, int height, int radius,
                     int mistake) {
  extern __shared__ uchar4 tile[];
  const int span = kSide + 2 * radius, left = blockIdx.x * kSide - radius,
            top = blockIdx.y * kSide - radius;
  const int loads = mistake == 1 ? span * (kSide + radius) : span * span;
  for (int i = threadIdx.y * kSide + threadIdx.x; i < loads; i += kSide * kSide) {
    const int x = min(max(left + i % span, 0), width - 1),
              y = min(max(top + i / span, 0), height - 1);
    tile[i] = in[y * width + x];
  }
  if (mistake != 2) __syncthreads();
  const int x = blockIdx.x * kSide + threadIdx.x, y = blockIdx.y * kSide + threadIdx.y;
  if (x >= width || y >= height) return;
  int4 sum = {0, 0, 0, 0};
  for (int j = 0; j <= 2 * radius; ++j)
    for (int i = 0; i <= 2 * radius; ++i) {
      const uchar4 p = tile[(threadIdx.y + j) * span + threadIdx.x + i];
      sum.x += p.x, sum.y += p.y, sum.z += p.z, sum.w += p.w;
    }
  const int area = (2 * radius + 1) * (2 * radius + 1);
  out[y * width + x] = make_uchar4(sum.x / area, sum.y / area, sum.z / area, sum.w / area);
}

PROGRAM(box_blur, 2) {
  const int width = 53, height = 35, radius = 3, span = kSide + 2 * radius;
  std::vector<uchar4> picture(width * height);
  Random random(62);
  for (uchar4& p : picture)
    p = make_uchar4(random() >> 8 & 255, random() >> 8 & 255, random() >> 8 & 255, 255);
  Buffer<uchar4> in(picture), out(picture.size());
  blur<<<dim3(divide_up(width, kSide), divide_up(height, kSide)), dim3(kSide, kSide),
         span * span * sizeof(uchar4)>>>(in, out, width, height, radius, mistake);
  const std::vector<uchar4> got = out.host();
  // The reference sums along rows, then along columns.
  int wrong = 0;
  for (int channel = 0; channel < 4; ++channel) {
    std::vector<int> rows(width * height);
    const auto value = [&](int i) { return int((&picture[i].x)[channel]); };
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int k = -radius; k <= radius; ++k)
          rows[y * width + x] += value(y * width + std::clamp(x + k, 0, width - 1));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int sum = 0;
        for (int k = -radius; k <= radius; ++k)
          sum += rows[std::clamp(y + k, 0, height - 1) * width + x];
        wrong += (&got[y * width + x].x)[channel] != sum / 49;
      }
  }
  return verdict(wrong == 0, "%d of %d wrong", wrong, 4 * width * height);
}

}  // namespace box_blur
