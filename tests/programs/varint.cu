// Differences as variable-length integers with seven bits in a byte: lengths, a scan, and
// single-byte stores.
#include "program.h"

namespace varint {

__device__ unsigned long long zigzag(const long long* x, int i) {
  const long long d = x[i] - (i ? x[i - 1] : 0);
  return static_cast<unsigned long long>(d) << 1 ^ static_cast<unsigned long long>(d >> 63);
}

__global__ void lengths(const long long* x, int n, int* at) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) at[i + 1] = max(1, (64 - __clzll(zigzag(x, i)) + 6) / 7);
  if (i == 0) at[0] = 0;
}

// One step of a Hillis-Steele scan, from one array to the other.
__global__ void scan_step(const int* from, int* to, int n, int distance) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i >= distance ? from[i] + from[i - distance] : from[i];
}

__global__ void encode(const long long* x, int n, const int* at, unsigned char* out, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned char bytes[10];
  int size = 0;
  unsigned long long z = zigzag(x, i);
  do {
    bytes[size++] = static_cast<unsigned char>(z & 127) | (z > 127 ? 128 : 0);
    z >>= 7;
  } while (z);
  int k = 0;
  if (mistake == 1)
    for (; k + 4 <= size; k += 4)  // four bytes at once
      *reinterpret_cast<unsigned*>(out + at[i] + k) =
          bytes[k] | bytes[k + 1] << 8 | bytes[k + 2] << 16 | bytes[k + 3] << 24;
  for (; k < size; ++k) out[at[i] + k] = bytes[k];
}

PROGRAM(varint, 2) {
  const int n = 999;
  std::vector<long long> x(n);
  Random random(34);
  for (int i = 0; i < n; ++i)
    x[i] = static_cast<long long>((static_cast<unsigned long long>(random()) << 32 | random()) >>
                                  random.below(64)) *
           (random.below(2) ? 1 : -1);
  x[500] = INT64_MIN, x[501] = INT64_MAX;
  Buffer<long long> d_x(x);
  Buffer<int> from(n + 1), to(n + 1);
  Buffer<unsigned char> out(10 * n);
  const int blocks = divide_up(n + 1, 128);
  lengths<<<blocks, 128>>>(d_x, n, from);
  for (int d = 1; d < n + 1; d *= 2) {
    scan_step<<<blocks, 128>>>(from, mistake == 2 ? from : to, n + 1, d);
    if (mistake != 2) from.swap(to);
  }
  encode<<<blocks, 128>>>(d_x, n, from, out, mistake);
  const int size = from.host()[n];
  std::vector<unsigned char> bytes(std::min(size, 10 * n));
  CUDA(cudaMemcpy(bytes.data(), out, bytes.size(), cudaMemcpyDeviceToHost));
  std::vector<long long> back;
  unsigned long long z = 0, last = 0;
  int shift = 0;
  for (const unsigned char b : bytes) {
    z |= static_cast<unsigned long long>(b & 127) << shift, shift += 7;
    if (b & 128) continue;
    last += z >> 1 ^ (0 - (z & 1));
    back.push_back(static_cast<long long>(last));
    z = 0, shift = 0;
  }
  return verdict(back == x, "%d numbers in %d bytes", n, size);
}

}  // namespace varint
