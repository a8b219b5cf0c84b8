// Edit distances of many pairs of words. Each thread computes one pair; its local array is indexed
// by the words' lengths.
#include "program.h"

namespace edit_distance {

constexpr int kLongest = 20;

__global__ void distances(const char (*words)[kLongest + 1], int n, unsigned char* out,
                          int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n || j > i) return;
  unsigned char row[kLongest + 1];
  int length = 0;
  while (words[j][length]) ++length;
  for (int x = 0; x <= (mistake == 1 ? kLongest + 1 : length); ++x)
    row[x] = static_cast<unsigned char>(x);
  for (int y = 0; words[i][y]; ++y) {
    unsigned char corner = row[0];
    row[0] = static_cast<unsigned char>(y + 1);
    for (int x = 0; x < length; ++x) {
      const unsigned char above = row[x + 1];
      row[x + 1] = words[i][y] == words[j][x] ? corner : 1 + min(corner, min(above, row[x]));
      corner = above;
    }
  }
  out[i * n + j] = row[length];
  if (mistake != 2) out[j * n + i] = row[length];
}

// Recursion from the ends of the words, with a table of known results.
int distance(const char* a, const char* b, int m, int n, int (*known)[kLongest + 1]) {
  int& d = known[m][n];
  if (d >= 0) return d;
  if (m == 0 || n == 0) return d = m + n;
  d = distance(a, b, m - 1, n - 1, known) + (a[m - 1] != b[n - 1]);
  d = std::min(d, std::min(distance(a, b, m - 1, n, known), distance(a, b, m, n - 1, known)) + 1);
  return d;
}

PROGRAM(edit_distance, 2) {
  const int n = 37;
  char words[n][kLongest + 1] = {};
  Random random(58);
  for (auto& word : words)
    for (int k = random.below(kLongest + 1); k > 0; --k)
      word[k - 1] = static_cast<char>('a' + random.below(4));
  char(*d_words)[kLongest + 1];
  CUDA(cudaMalloc(&d_words, sizeof words));
  CUDA(cudaMemcpy(d_words, words, sizeof words, cudaMemcpyHostToDevice));
  Buffer<unsigned char> out(n * n);
  distances<<<dim3(divide_up(n, 8), divide_up(n, 8)), dim3(8, 8)>>>(d_words, n, out, mistake);
  const std::vector<unsigned char> got = out.host();
  CUDA(cudaFree(d_words));
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      int known[kLongest + 1][kLongest + 1];
      std::memset(known, -1, sizeof known);
      wrong +=
          got[i * n + j] != distance(words[i], words[j], static_cast<int>(std::strlen(words[i])),
                                     static_cast<int>(std::strlen(words[j])), known);
    }
  return verdict(wrong == 0, "%d of %d wrong", wrong, n * n);
}

}  // namespace edit_distance
