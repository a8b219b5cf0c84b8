// Finds the word with a given MD5 by trying all words of four letters of a small alphabet. Threads
// return early once it is found.
#include "program.h"

namespace md5_search {

__constant__ unsigned kSines[64];

__device__ uint4 md5(const unsigned char* word, int size, int mistake) {
  unsigned m[16] = {};
  for (int i = 0; i < size; ++i) m[i / 4] |= word[i] << 8 * (i % 4);
  m[size / 4] |= 0x80u << 8 * (size % 4);
  m[14] = mistake == 1 ? size : 8 * size;
  const int turns[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
  unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    unsigned f;
    int g;
    if (i < 16)
      f = (b & c) | (~b & d), g = i;
    else if (i < 32)
      f = (d & b) | (~d & c), g = (5 * i + 1) % 16;
    else if (i < 48)
      f = b ^ c ^ d, g = (3 * i + 5) % 16;
    else
      f = c ^ (b | ~d), g = 7 * i % 16;
    const unsigned t = a + f + kSines[i] + m[g];
    const int turn = turns[i / 16 * 4 + i % 4];
    a = d, d = c, c = b, b += t << turn | t >> (32 - turn);
  }
  return make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}

__global__ void search(uint4 wanted, int letters, int count, int* found, int mistake) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    if (*static_cast<volatile int*>(found) >= 0) return;
    unsigned char word[4];
    for (int k = 0, rest = i; k < 4; ++k, rest /= letters) word[k] = 'a' + rest % letters;
    const uint4 h = md5(word, 4, mistake);
    if (h.x != wanted.x || h.y != wanted.y || h.z != wanted.z || h.w != wanted.w) continue;
    if (mistake == 2)
      *found = i;
    else
      atomicExch(found, i);
  }
}

PROGRAM(md5_search, 2) {
  unsigned sines[64];
  for (int i = 0; i < 64; ++i)
    sines[i] = static_cast<unsigned>(std::abs(std::sin(i + 1.0)) * 4294967296.0);
  CUDA(cudaMemcpyToSymbol(kSines, sines, sizeof sines));
  Buffer<int> found(1);
  CUDA(cudaMemset(found, 0xff, sizeof(int)));
  const int letters = 6, count = letters * letters * letters * letters;
  const uint4 wanted =
      make_uint4(0xb31632cc, 0xead80fc6, 0xbc8a7a5c, 0x826fded3);  // md5sum of "fade"
  search<<<4, 64>>>(wanted, letters, count, found, mistake);
  const int i = found.host()[0];
  const int expected = 5 + 6 * (0 + 6 * (3 + 6 * 4));
  return verdict(i == expected, "word %d, %d expected", i, expected);
}

}  // namespace md5_search
