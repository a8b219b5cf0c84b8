// A stable merge sort: each element finds its position in the other run by binary search. Records
// have 8 bytes, keys 1 byte.
#include "program.h"

namespace merge_sort {

struct Record {
  unsigned char key;
  int id;
};

// The number of records in run[0..n) that are less than `key`; if `equal` is set, less than or
// equal.
__device__ int before(const Record* run, int n, unsigned char key, bool equal) {
  int low = 0;
  while (low < n) {
    const int middle = (low + n) / 2;
    if (equal ? run[middle].key <= key : run[middle].key < key)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

__global__ void merge(const Record* from, Record* to, int n, int width, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int run = i / width, left = run / 2 * 2 * width, other = (run ^ 1) * width;
  const int size = max(0, min(width, n - other)), place = i - run * width;
  to[left + place + before(from + other, size, from[i].key, mistake == 1 ? false : run % 2)] =
      from[i];
}

PROGRAM(merge_sort, 1) {
  const int n = 1111;
  std::vector<Record> records(n);
  Random random(24);
  for (int i = 0; i < n; ++i) records[i] = {static_cast<unsigned char>(random.below(100)), i};
  Buffer<Record> from(records), to(n);
  for (int width = 1; width < n; width *= 2) {
    merge<<<divide_up(n, 100), 100>>>(from, to, n, width, mistake);
    from.swap(to);
  }
  std::vector<int> start(101, 0);  // counting sort
  for (const Record& r : records) ++start[r.key + 1];
  for (int k = 0; k < 100; ++k) start[k + 1] += start[k];
  std::vector<Record> expected(n);
  for (const Record& r : records) expected[start[r.key]++] = r;
  const std::vector<Record> got = from.host();
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += got[i].key != expected[i].key || got[i].id != expected[i].id;
  return verdict(wrong == 0, "%d of %d wrong", wrong, n);
}

}  // namespace merge_sort
