// Algorithms of thrust and cub over several tiles that work in place or look back with wide values.
// Findings in their kernels are known (docs/reference/checks.md, "Findings in NVIDIA's libraries");
// a user's mistake in the same kernel must still be an error.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>

#include "program.h"

namespace thrust_in_place {

struct Pair {
  long long sum;
  int most, least;
};
struct Join {
  __host__ __device__ Pair operator()(const Pair& a, const Pair& b) const {
    Pair r{a.sum + b.sum, b.most, b.least};
    if (a.most > r.most) r.most = a.most;
    if (a.least < r.least) r.least = a.least;
    return r;
  }
};
struct IsOdd {
  int* seen;
  int mistake;
  __device__ bool operator()(int v) const {
    if (mistake == 1) seen[v & 7] += 1;
    return v & 1;
  }
};

template <class Iterator>
std::vector<typename Iterator::value_type> host_of(Iterator begin, Iterator end) {
  std::vector<typename Iterator::value_type> all(end - begin);
  thrust::copy(begin, end, all.begin());
  return all;
}

PROGRAM(thrust_in_place, 1) {
  const int n = 9000;
  std::vector<int> values(n), keys(n);
  Random random(131);
  for (int i = 0; i < n; ++i) values[i] = static_cast<int>(random.below(1000)), keys[i] = i / 700;
  std::vector<int> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  int wrong = 0;

  thrust::device_vector<int> d = sorted, seen(8, 0);
  std::vector<int> got = host_of(d.begin(), thrust::unique(d.begin(), d.end()));
  std::vector<int> expected = sorted;
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  wrong += got != expected;

  d = values;
  got = host_of(
      d.begin(),
      thrust::remove_if(d.begin(), d.end(), IsOdd{thrust::raw_pointer_cast(seen.data()), mistake}));
  expected = values;
  expected.erase(std::remove_if(expected.begin(), expected.end(), [](int v) { return v & 1; }),
                 expected.end());
  wrong += got != expected;

  std::vector<Pair> pairs(n);
  for (int i = 0; i < n; ++i) pairs[i] = {values[i], values[i], values[i]};
  const thrust::device_vector<int> d_keys = keys;
  thrust::device_vector<Pair> d_pairs = pairs;
  thrust::inclusive_scan_by_key(d_keys.begin(), d_keys.end(), d_pairs.begin(), d_pairs.begin(),
                                thrust::equal_to<int>(), Join());
  const std::vector<Pair> scanned = host_of(d_pairs.begin(), d_pairs.end());
  for (int i = 0; i < n; ++i) {
    if (i % 700 != 0) pairs[i] = Join()(pairs[i - 1], pairs[i]);
    wrong += scanned[i].sum != pairs[i].sum || scanned[i].most != pairs[i].most ||
             scanned[i].least != pairs[i].least;
  }

  const thrust::device_vector<int> d_sorted = sorted;
  d.resize(n);
  got = host_of(d.begin(), thrust::set_intersection(d_sorted.begin(), d_sorted.end(),
                                                    d_keys.begin(), d_keys.end(), d.begin()));
  expected.clear();
  std::set_intersection(sorted.begin(), sorted.end(), keys.begin(), keys.end(),
                        std::back_inserter(expected));
  wrong += got != expected;
  return verdict(wrong == 0, "%d of %d wrong", wrong, n + 3);
}

}  // namespace thrust_in_place
