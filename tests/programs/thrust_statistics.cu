// Running sums of squares and the largest difference with thrust: transform_inclusive_scan and
// inner_product with user-defined functors.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
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
  thrust::device_vector<int> d_x(x);
  thrust::device_vector<long long> sums(n);
  thrust::transform_inclusive_scan(d_x.begin(), d_x.end(), sums.begin(), Square{mistake == 1},
                                   thrust::plus<long long>());
  const int jump =
      thrust::inner_product(d_x.begin() + 1, d_x.end(), d_x.begin(), 0, Larger(), Difference());

  std::vector<long long> got(n);
  thrust::copy(sums.begin(), sums.end(), got.begin());
  int wrong = 0, largest = 0;
  long long sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += static_cast<long long>(x[i]) * x[i];
    wrong += got[i] != sum;
    if (i) largest = std::max(largest, std::abs(x[i] - x[i - 1]));
  }
  return verdict(wrong == 0 && jump == largest, "%d sums wrong, jump %d", wrong, jump);
}

}  // namespace thrust_statistics
