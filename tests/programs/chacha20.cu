// ChaCha20 (RFC 8439): each thread generates 64 bytes of the key stream and XORs them with the
// text, word by word, in place.
#include "program.h"

namespace chacha20 {

struct Key {
  unsigned words[8], nonce[3], counter;
};

__device__ __forceinline__ void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
  a += b, d = __funnelshift_l(d ^ a, d ^ a, 16);
  c += d, b = __funnelshift_l(b ^ c, b ^ c, 12);
  a += b, d = __funnelshift_l(d ^ a, d ^ a, 8);
  c += d, b = __funnelshift_l(b ^ c, b ^ c, 7);
}

__global__ void crypt(unsigned char* text, int n, Key key, int mistake) {
  const int block = blockIdx.x * blockDim.x + threadIdx.x;
  const int size = min(64, n - 64 * block);
  if (size <= 0) return;
  const unsigned start[16] = {0x61707865,
                              0x3320646e,
                              0x79622d32,
                              0x6b206574,
                              key.words[0],
                              key.words[1],
                              key.words[2],
                              key.words[3],
                              key.words[4],
                              key.words[5],
                              key.words[6],
                              key.words[7],
                              key.counter + (mistake == 1 ? threadIdx.x : block),
                              key.nonce[0],
                              key.nonce[1],
                              key.nonce[2]};
  unsigned x[16];
  for (int i = 0; i < 16; ++i) x[i] = start[i];
#pragma unroll 1
  for (int round = 0; round < 10; ++round) {
    quarter(x[0], x[4], x[8], x[12]), quarter(x[1], x[5], x[9], x[13]),
        quarter(x[2], x[6], x[10], x[14]), quarter(x[3], x[7], x[11], x[15]);
    quarter(x[0], x[5], x[10], x[15]), quarter(x[1], x[6], x[11], x[12]),
        quarter(x[2], x[7], x[8], x[13]), quarter(x[3], x[4], x[9], x[14]);
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] += start[i];
  unsigned char* mine = text + 64 * block;
  const unsigned char* stream = reinterpret_cast<const unsigned char*>(x);
  for (int i = 0; i < (mistake == 2 ? 64 : size); ++i) mine[i] ^= stream[i];
}

PROGRAM(chacha20, 2) {
  const char known[] =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
      "sunscreen would be "
      "it.";
  const unsigned char expected[] = {0x6e, 0x2e, 0x35, 0x9a, 0x25, 0x68, 0xf9, 0x80,
                                    0x41, 0xba, 0x07, 0x28, 0xdd, 0x0d, 0x69, 0x81};
  Key key = {{}, {0, 0x4a000000, 0}, 1};
  for (unsigned i = 0; i < 8; ++i)
    key.words[i] = (4 * i) | (4 * i + 1) << 8 | (4 * i + 2) << 16 | (4 * i + 3) << 24;
  const int n = 5000;
  std::vector<unsigned char> text(n);
  for (int i = 0; i < n; ++i) text[i] = known[i % 114];
  Buffer<unsigned char> d_text(text);
  crypt<<<3, 32>>>(d_text, n, key, mistake);
  const std::vector<unsigned char> secret = d_text.host();

  // The key stream must not repeat: equal blocks of text must have different codes.
  const bool right = !std::memcmp(secret.data(), expected, sizeof expected) && secret[113] == 0x4d;
  int same = 0;
  for (int i = 0; i + 64 <= n; i += 64)
    for (int k = i + 64; k + 64 <= n; k += 64) {
      bool equal = true;
      for (int b = 0; b < 64; ++b)
        equal &= (secret[i + b] ^ text[i + b]) == (secret[k + b] ^ text[k + b]);
      same += equal;
    }
  crypt<<<3, 32>>>(d_text, n, key, 0);
  const bool back = d_text.host() == text;
  return verdict(right && same == 0 && back, "%s, %d repeated blocks, %s",
                 right ? "as in the RFC" : "wrong", same, back ? "and back" : "not back");
}

}  // namespace chacha20
