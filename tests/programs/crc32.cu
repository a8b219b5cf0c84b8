// CRC-32 of the blocks of a file. The threads compute the table in shared memory and combine the
// CRCs of their parts.
#include "program.h"

namespace crc32 {

constexpr int kPart = 16;  // bytes of a thread

__host__ __device__ unsigned step(unsigned crc, int bits) {
  for (int k = 0; k < bits; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  return crc;
}

// Computes each thread's part as if it were followed by zeros and preceded by nothing. The XOR of
// all parts is the block's CRC.
__global__ void crc_blocks(const unsigned char* file, int n, unsigned* crcs, int mistake) {
  __shared__ unsigned table[256], sum;
  for (int i = threadIdx.x; i < 256; i += blockDim.x) table[i] = step(i, 8);
  if (threadIdx.x == 0) sum = 0;
  if (mistake != 1) __syncthreads();
  const int begin = blockIdx.x * blockDim.x * kPart, from = begin + threadIdx.x * kPart,
            end = min(n, begin + static_cast<int>(blockDim.x) * kPart);
  if (from < end) {
    unsigned crc = threadIdx.x == 0 ? 0xffffffffu : 0;
    for (int i = from; i < min(from + kPart, end); ++i)
      crc = crc >> 8 ^ table[(crc ^ file[i]) & 255];
    for (int i = from + kPart; i < end; ++i) crc = crc >> 8 ^ table[crc & 255];
    if (mistake == 2)
      sum ^= crc;
    else
      atomicXor(&sum, crc);
  }
  __syncthreads();
  if (threadIdx.x == 0) crcs[blockIdx.x] = ~sum;
}

PROGRAM(crc32, 2) {
  const int threads = 32, per_block = threads * kPart, blocks = 4, n = 3 * per_block + 9;
  std::vector<unsigned char> file(n);
  Random random(44);
  for (unsigned char& b : file) b = random() >> 13;
  std::memcpy(&file[3 * per_block], "123456789", 9);
  Buffer<unsigned char> d_file(file);
  Buffer<unsigned> crcs(blocks);
  crc_blocks<<<blocks, threads>>>(d_file, n, crcs, mistake);
  const std::vector<unsigned> got = crcs.host();
  int wrong = got[3] != 0xcbf43926u;  // the check value of CRC-32
  for (int b = 0; b < blocks; ++b) {
    unsigned crc = ~0u;  // bit by bit
    for (int i = b * per_block; i < std::min(n, (b + 1) * per_block); ++i)
      crc = step(crc ^ file[i], 8);
    wrong += got[b] != ~crc;
  }
  return verdict(wrong == 0, "%d wrong, %08x of 123456789", wrong, got[3]);
}

}  // namespace crc32
