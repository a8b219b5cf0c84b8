// Running sums of squares, the largest difference and a selection with thrust:
// transform_inclusive_scan, transform_reduce, inner_product and copy_if with user-defined
// functors.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>

#include "program.h"

namespace thrust_statistics {

struct Square {
  bool of_32_bits = false;
  __host__ __device__ long long operator()(int x) const {
    const long long square = static_cast<long long>(x) * x;
    return of_32_bits ? static_cast<int>(square) : square;
  }
};

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};

struct Larger {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

struct Difference {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b - a : a - b; }
};

PROGRAM(thrust_statistics, 1) {
  const int n = 3333;
  std::vector<int> x(n);
  Random random(112);
  for (int& v : x) v = random.below(200001) - 100000;
  thrust::device_vector<int> d_x(x), odd(n);
  thrust::device_vector<long long> sums(n);
  thrust::transform_inclusive_scan(d_x.begin(), d_x.end(), sums.begin(), Square{mistake == 1},
                                   thrust::plus<long long>());
  const int jump =
      thrust::inner_product(d_x.begin() + 1, d_x.end(), d_x.begin(), 0, Larger(), Difference());
  const size_t kept = thrust::copy_if(d_x.begin(), d_x.end(), odd.begin(), IsOdd()) - odd.begin();
  const long long squares =
      thrust::transform_reduce(d_x.begin(), d_x.end(), Square(), 0ll, thrust::plus<long long>());

  std::vector<long long> got(n);
  std::vector<int> chosen(kept), expected;
  thrust::copy(sums.begin(), sums.end(), got.begin());
  thrust::copy(odd.begin(), odd.begin() + kept, chosen.begin());
  int wrong = 0, largest = 0;
  long long sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += static_cast<long long>(x[i]) * x[i];
    wrong += got[i] != sum;
    if (i) largest = std::max(largest, std::abs(x[i] - x[i - 1]));
    if (x[i] % 2) expected.push_back(x[i]);
  }
  return verdict(wrong == 0 && jump == largest && chosen == expected && squares == sum,
                 "%d sums wrong, jump %d, %zu odd, squares %lld", wrong, jump, kept, squares);
}

}  // namespace thrust_statistics
