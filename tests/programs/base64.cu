// Base64 encoding and decoding: three bytes become four letters by a table in constant memory; the
// tail has one or two bytes.
#include "program.h"

namespace base64 {

__constant__ char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

__global__ void encode(const unsigned char* from, int n, char4* to, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, at = 3 * i;
  if (at >= n) return;
  const int left = n - at;
  const unsigned a = from[at], b = left > 1 || mistake == 1 ? from[at + 1] : 0,
                 c = left > 2 || mistake == 1 ? from[at + 2] : 0;
  const unsigned word = a << 16 | b << 8 | c;
  to[i] = make_char4(alphabet[word >> 18], alphabet[word >> 12 & 63],
                     left > 1 ? alphabet[word >> 6 & 63] : '=',
                     left > 2 ? alphabet[mistake == 2 ? word : word & 63] : '=');
}

__device__ int value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

__global__ void decode(const char4* from, int groups, unsigned char* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= groups) return;
  const char4 c = from[i];
  const int p = value(c.x), q = value(c.y), r = value(c.z), s = value(c.w);
  to[3 * i] = p << 2 | q >> 4;
  if (r < 0) return;
  to[3 * i + 1] = q << 4 | r >> 2;
  if (s >= 0) to[3 * i + 2] = r << 6 | s;
}

PROGRAM(base64, 2) {
  const int n = 1024, groups = divide_up(n, 3);
  std::vector<unsigned char> bytes(n);
  Random random(35);
  for (unsigned char& b : bytes) b = random() >> 11;
  std::memcpy(bytes.data(), "light work.", 11);
  unsigned char* from;
  CUDA(cudaMalloc(&from, n));
  CUDA(cudaMemcpy(from, bytes.data(), n, cudaMemcpyHostToDevice));
  Buffer<char4> coded(groups);
  Buffer<unsigned char> back(n);
  encode<<<divide_up(groups, 128), 128>>>(from, n, coded, mistake);
  decode<<<divide_up(groups, 128), 128>>>(coded, groups, back);
  CUDA(cudaFree(from));
  const std::vector<char4> letters = coded.host();
  const bool known = !std::memcmp(letters.data(), "bGlnaHQgd29yay", 14),
             tail = letters[groups - 1].z == '=' && letters[groups - 1].w == '=';
  return verdict(known && tail && back.host() == bytes, "begins with %.14s",
                 reinterpret_cast<const char*>(letters.data()));
}

}  // namespace base64
