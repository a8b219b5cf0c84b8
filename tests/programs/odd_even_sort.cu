// Batcher's odd-even merge sort of 16-bit numbers: many short lists of odd length, in place in
// dynamic shared memory.
#include "program.h"

namespace odd_even_sort {

__global__ void sort(short* lists, int length, int mistake) {
  extern __shared__ short list[];
  short* mine = lists + static_cast<size_t>(blockIdx.x) * length;
  for (int i = threadIdx.x; i < length; i += blockDim.x) list[i] = mine[i];
  for (int p = 1; p < length; p *= 2)
    for (int k = p; k >= 1; k /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; mistake == 1 ? i + k <= length : i + k < length; i += blockDim.x) {
        if (i < k % p || (i - k % p) / k % 2 || i / (2 * p) != (i + k) / (2 * p)) continue;
        const short a = list[i], b = list[i + k];
        if (a > b) list[i] = b, list[i + k] = a;
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x) mine[i] = list[i];
}

PROGRAM(odd_even_sort, 2) {
  const int length = 101, lists = 7;
  std::vector<short> all(length * lists);
  Random random(23);
  for (short& s : all) s = static_cast<short>(random());
  Buffer<short> d_all(all);
  sort<<<lists, 32, (length - (mistake == 2)) * sizeof(short)>>>(d_all, length, mistake);
  for (int l = 0; l < lists; ++l)
    std::sort(all.begin() + l * length, all.begin() + (l + 1) * length);
  const std::vector<short> got = d_all.host();
  int wrong = 0;
  for (size_t i = 0; i < all.size(); ++i) wrong += got[i] != all[i];
  return verdict(wrong == 0, "%d of %zu wrong", wrong, all.size());
}

}  // namespace odd_even_sort
