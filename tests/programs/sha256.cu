// SHA-256 of many messages of different lengths, one per thread, with padding in local memory; then
// a hash tree.
#include "program.h"

namespace sha256 {

__constant__ unsigned kRound[64];  // fractional bits of the cube roots of primes

struct Digest {
  unsigned word[8];
};

__device__ unsigned turn(unsigned x, int n) { return x >> n | x << (32 - n); }

__device__ void compress(Digest& h, const unsigned char* bytes, int mistake) {
  unsigned w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = bytes[4 * i] << 24 | bytes[4 * i + 1] << 16 | bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
  for (int i = 16; i < (mistake == 1 ? 63 : 64); ++i)
    w[i] = w[i - 16] + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
  unsigned v[8];
  for (int i = 0; i < 8; ++i) v[i] = h.word[i];
#pragma unroll 1
  for (int i = 0; i < 64; ++i) {
    const unsigned choice = (v[4] & v[5]) ^ (~v[4] & v[6]),
                   majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    const unsigned a =
        v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + choice + kRound[i] + w[i];
    const unsigned b = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) + majority;
    for (int k = 7; k > 0; --k) v[k] = v[k - 1];
    v[4] += a, v[0] = a + b;
  }
  for (int i = 0; i < 8; ++i) h.word[i] += v[i];
}

__device__ Digest hash(const unsigned char* message, int size, int mistake) {
  Digest h = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
               0x5be0cd19}};
  unsigned char block[64];
  const int blocks = (size + 9 + 63) / 64;
  for (int b = 0; b < blocks; ++b) {
    for (int i = 0; i < 64; ++i) {
      const int at = 64 * b + i;
      block[i] = at < size ? message[at] : at == size ? 0x80 : 0;
    }
    if (b == blocks - 1)
      for (int i = 0; i < 4; ++i)
        block[60 + i] = static_cast<unsigned char>(8u * size >> (24 - 8 * i));
    compress(h, block, mistake);
  }
  return h;
}

// Message i is the first i letters of the text.
__global__ void prefixes(const unsigned char* text, int n, Digest* out, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = hash(text, i, mistake);
}

// The next level of the tree: the hash of two digests, with their words in memory order.
__global__ void level(const Digest* from, Digest* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = hash(reinterpret_cast<const unsigned char*>(from + 2 * i), 2 * sizeof(Digest), 0);
}

PROGRAM(sha256, 1) {
  unsigned constants[64];
  for (int n = 2, k = 0; k < 64; ++n) {
    bool prime = true;
    for (int d = 2; d * d <= n; ++d) prime &= n % d != 0;
    if (!prime) continue;
    const long double root = std::cbrt(static_cast<long double>(n));
    constants[k++] = static_cast<unsigned>((root - std::floor(root)) * 4294967296.0L);
  }
  CUDA(cudaMemcpyToSymbol(kRound, constants, sizeof constants));
  const char* const text =
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq, and so on, and so forth, until a "
      "third "
      "block.......................";
  const int n = 96;
  Buffer<unsigned char> d_text(std::vector<unsigned char>(text, text + n));
  Buffer<Digest> digests(n), upper(n / 2);
  prefixes<<<3, 32>>>(d_text, n, digests, mistake);
  const std::vector<Digest> got = digests.host();
  // From FIPS 180-2: the empty message, "abc", and 56 letters, which need two blocks.
  const bool right = got[0].word[0] == 0xe3b0c442 && got[0].word[7] == 0x7852b855 &&
                     got[3].word[0] == 0xba7816bf && got[3].word[7] == 0xf20015ad &&
                     got[56].word[0] == 0x248d6a61 && got[56].word[7] == 0x19db06c1;
  int alike = 0;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < i; ++k) alike += got[i].word[0] == got[k].word[0];
  level<<<1, n / 2>>>(digests, upper, n / 2);
  const std::vector<Digest> tree = upper.host();
  return verdict(right && alike == 0 && tree[0].word[0] == 0x54bca384,
                 "%08x of nothing, %08x of abc, %d alike", got[0].word[0], got[3].word[0], alike);
}

}  // namespace sha256
