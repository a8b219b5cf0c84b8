// AES-128. Each thread encrypts a block of 16 bytes, byte by byte, in a local array. The key
// schedule runs on the device too.
#include "program.h"

namespace aes {

__constant__ unsigned char sbox[256];
__constant__ unsigned char round_constant[10] = {1, 2, 4, 8, 16, 32, 64, 128, 27, 54};

__global__ void expand(const unsigned char* key, uchar4* words, int mistake) {
  for (int i = 0; i < 4; ++i)
    words[i] = make_uchar4(key[4 * i], key[4 * i + 1], key[4 * i + 2], key[4 * i + 3]);
  for (int i = 4; i < 44; ++i) {
    uchar4 t = words[i - 1];
    if (i % 4 == 0)
      t = make_uchar4(sbox[t.y] ^ round_constant[mistake == 1 ? i / 4 : i / 4 - 1], sbox[t.z],
                      sbox[t.w], sbox[t.x]);
    const uchar4 b = words[i - 4];
    words[i] = make_uchar4(t.x ^ b.x, t.y ^ b.y, t.z ^ b.z, t.w ^ b.w);
  }
}

__device__ unsigned char twice(unsigned char b) { return b << 1 ^ (b & 128 ? 27 : 0); }

__global__ void encrypt(unsigned char* text, int blocks, const unsigned char* keys, int mistake) {
  __shared__ unsigned char schedule[176];
  for (int i = threadIdx.x; i < 176; i += blockDim.x) schedule[i] = keys[i];
  if (mistake != 2) __syncthreads();
  const int block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= blocks) return;
  unsigned char s[16], t[16];
  *reinterpret_cast<uint4*>(t) = reinterpret_cast<const uint4*>(text)[block];
  for (int i = 0; i < 16; ++i) s[i] = t[i] ^ schedule[i];
#pragma unroll 1
  for (int round = 1; round <= 10; ++round) {
    for (int i = 0; i < 16; ++i) t[i] = sbox[s[(i + i % 4 * 4) % 16]];  // bytes and rows
    for (int c = 0; c < 16; c += 4)
      for (int r = 0; r < 4; ++r) {
        const unsigned char a = t[c + r], b = t[c + (r + 1) % 4],
                            both = t[c + (r + 2) % 4] ^ t[c + (r + 3) % 4];
        s[c + r] = (round == 10 ? a : twice(a ^ b) ^ b ^ both) ^ schedule[16 * round + c + r];
      }
  }
  for (int i = 0; i < 16; ++i) text[16 * block + i] = s[i];
}

PROGRAM(aes, 2) {
  unsigned char box[256];  // inverse in GF(2^8) by search, then the affine map
  const auto times = [](int a, int b) {
    int p = 0;
    for (; b; b >>= 1, a = a << 1 ^ (a & 128 ? 0x11b : 0)) p ^= b & 1 ? a : 0;
    return p;
  };
  for (int a = 0; a < 256; ++a) {
    int inverse = 0;
    for (int b = 0; b < 256; ++b) inverse = times(a, b) == 1 ? b : inverse;
    int out = 0x63;
    for (int k = 0; k < 5; ++k) out ^= (inverse << k | inverse >> (8 - k)) & 255;
    box[a] = static_cast<unsigned char>(out);
  }
  CUDA(cudaMemcpyToSymbol(sbox, box, sizeof box));
  const int blocks = 67;
  std::vector<unsigned char> key(16), text(16 * blocks);
  for (int i = 0; i < 16; ++i) key[i] = static_cast<unsigned char>(i);
  for (int b = 0; b < blocks; ++b)
    for (int i = 0; i < 16; ++i)
      text[16 * b + i] =
          static_cast<unsigned char>((17 * i) ^ (b % 33));  // block 33 equals block 0
  Buffer<unsigned char> d_key(key), d_text(text);
  Buffer<uchar4> words(44);
  expand<<<1, 1>>>(d_key, words, mistake);
  encrypt<<<divide_up(blocks, 64), 64>>>(d_text, blocks,
                                         reinterpret_cast<unsigned char*>(words.get()), mistake);
  const std::vector<unsigned char> got = d_text.host();
  // FIPS 197, appendix C.1.
  const unsigned char expected[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                      0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
  int wrong = std::memcmp(got.data(), expected, 16) != 0;
  for (int a = 0; a < blocks; ++a)
    for (int b = 0; b < a; ++b)
      wrong += !std::memcmp(&got[16 * a], &got[16 * b], 16) != (a % 33 == b % 33);
  return verdict(wrong == 0, "%d wrong, begins with %02x %02x", wrong, got[0], got[1]);
}

}  // namespace aes
