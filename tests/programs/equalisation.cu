// Histogram equalisation of a picture of bytes, and of one of 16-bit words, in place.
#include "program.h"

namespace equalisation {

constexpr int kBins = 256;

template <class Pixel, int kShift>
__global__ void histogram(const Pixel* picture, int n, unsigned* bins, int mistake) {
  __shared__ unsigned mine[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) mine[b] = 0;
  if (mistake != 1) __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[picture[i] >> kShift], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x)
    if (mine[b]) atomicAdd(&bins[b], mine[b]);
}

// One block of 256 threads turns bins into inclusive sums.
__global__ void sums(unsigned* bins, int mistake) {
  __shared__ unsigned s[kBins];
  const int t = threadIdx.x;
  s[t] = bins[t];
  for (int d = 1; d < kBins; d *= 2) {
    __syncthreads();
    const unsigned other = t >= d ? s[t - d] : 0;
    if (mistake != 2) __syncthreads();
    s[t] += other;
  }
  bins[t] = s[t];
}

template <class Pixel, int kShift>
__global__ void map(Pixel* picture, int n, const unsigned* sums, unsigned top) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    picture[i] =
        static_cast<Pixel>(static_cast<unsigned long long>(sums[picture[i] >> kShift]) * top / n);
}

template <class Pixel, int kShift>
int equalise(std::vector<Pixel> picture, int mistake) {
  const int n = static_cast<int>(picture.size());
  const unsigned top = (256u << kShift) - 1;
  Buffer<Pixel> d_picture(picture);
  Buffer<unsigned> bins(kBins);
  bins.zero();
  histogram<Pixel, kShift><<<4, 96>>>(d_picture, n, bins, mistake);
  sums<<<1, kBins>>>(bins, mistake);
  map<Pixel, kShift><<<divide_up(n, 128), 128>>>(d_picture, n, bins, top);
  const std::vector<Pixel> got = d_picture.host();
  std::vector<Pixel> sorted = picture;
  std::sort(sorted.begin(), sorted.end());
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const Pixel last = static_cast<Pixel>(
        picture[i] | ((1 << kShift) - 1));  // the number of pixels up to the end of the bin
    const unsigned long long rank =
        std::upper_bound(sorted.begin(), sorted.end(), last) - sorted.begin();
    wrong += got[i] != rank * top / n;
  }
  return wrong;
}

PROGRAM(equalisation, 2) {
  std::vector<unsigned char> bytes(3001);
  std::vector<unsigned short> words(1777);
  Random random(64);
  for (unsigned char& b : bytes)
    b = static_cast<unsigned char>(60 + random.below(30) + random.below(30));
  for (unsigned short& w : words)
    w = static_cast<unsigned short>(20000 + random.below(9000) + random.below(9000));
  const int wrong_bytes = equalise<unsigned char, 0>(bytes, mistake),
            wrong_words = equalise<unsigned short, 8>(words, mistake);
  return verdict(wrong_bytes + wrong_words == 0, "%d bytes and %d words wrong", wrong_bytes,
                 wrong_words);
}

}  // namespace equalisation
