// A table of strings: MurmurHash3, and open addressing by compare-and-swap of 64-bit slots.
#include "program.h"

namespace hash_table {

using Slot = unsigned long long;  // high half: hash; low half: the string's index + 1; 0: free

__host__ __device__ unsigned murmur(const unsigned char* s, int size, bool words) {
  unsigned h = 0;
  for (int i = 0; i + 4 <= size; i += 4) {
    unsigned k =
        words ? *reinterpret_cast<const unsigned*>(s + i)
              : s[i] | s[i + 1] << 8 | s[i + 2] << 16 | static_cast<unsigned>(s[i + 3]) << 24;
    k *= 0xcc9e2d51, k = k << 15 | k >> 17, k *= 0x1b873593;
    h ^= k, h = h << 13 | h >> 19, h = h * 5 + 0xe6546b64;
  }
  unsigned k = 0;
  switch (size % 4) {
    case 3: k ^= s[size / 4 * 4 + 2] << 16;  // fall through
    case 2: k ^= s[size / 4 * 4 + 1] << 8;   // fall through
    case 1: k ^= s[size / 4 * 4], k *= 0xcc9e2d51, k = k << 15 | k >> 17, k *= 0x1b873593, h ^= k;
  }
  h ^= size, h ^= h >> 16, h *= 0x85ebca6b, h ^= h >> 13, h *= 0xc2b2ae35;
  return h ^ h >> 16;
}

__global__ void insert(const unsigned char* text, const int* at, int n, Slot* table, unsigned mask,
                       int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned h = murmur(text + at[i], at[i + 1] - at[i], mistake == 1);
  const Slot mine = static_cast<Slot>(h) << 32 | (i + 1);
  for (unsigned slot = h & mask;; slot = mistake == 2 ? slot + 1 : (slot + 1) & mask)
    if (atomicCAS(&table[slot], 0ull, mine) == 0) return;
}

__global__ void find(const unsigned char* text, const int* at, int n,
                     const Slot* __restrict__ table, unsigned mask, int* found) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned h = murmur(text + at[i], at[i + 1] - at[i], false);
  unsigned slot = h & mask;
  while (table[slot] && (table[slot] >> 32 != h || static_cast<int>(table[slot]) != i + 1))
    slot = (slot + 1) & mask;
  found[i] = static_cast<int>(table[slot]) - 1;
}

PROGRAM(hash_table, 2) {
  const int n = 480, size = 512;
  std::vector<unsigned char> text;
  std::vector<int> at = {0};
  Random random(46);
  for (int i = 0; i < n; ++i) {
    for (int k = 1 + random.below(12); k > 0; --k)
      text.push_back(static_cast<unsigned char>('a' + random.below(26)));
    at.push_back(static_cast<int>(text.size()));
  }
  Buffer<unsigned char> d_text(text);
  Buffer<int> d_at(at), found(n);
  Buffer<Slot> table(size);
  table.zero();
  insert<<<divide_up(n, 64), 64>>>(d_text, d_at, n, table, size - 1, mistake);
  find<<<divide_up(n, 64), 64>>>(d_text, d_at, n, table, size - 1, found);
  const std::vector<int> got = found.host();
  const std::vector<Slot> slots = table.host();
  int wrong = 0, used = 0;
  for (int i = 0; i < n; ++i) wrong += got[i] != i;
  for (const Slot s : slots) used += s != 0;
  const unsigned char known[] = "Hello, world!";  // 0xc0363e43 with seed 0
  wrong += murmur(known, 13, false) != 0xc0363e43;
  return verdict(wrong == 0 && used == n, "%d of %d not found, %d slots used", wrong, n, used);
}

}  // namespace hash_table
