// Sums of segments with thrust::reduce_by_key: its tiles hand values and their states on in single moves of 16 bytes.
//   segments [times]
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>

#include <cstdlib>

#include "check.h"

template <class Value>
static void sum_segments() {
  constexpr int kSegments = 12500;
  thrust::host_vector<int> keys;
  thrust::host_vector<Value> values;
  thrust::host_vector<Value> expected(kSegments, 0);
  unsigned state = 12345;
  for (int segment = 0; segment < kSegments; ++segment) {
    for (unsigned left = (state = state * 1664525u + 1013904223u) >> 24 & 31; left + 1 > 0; --left) {
      keys.push_back(segment);
      values.push_back(static_cast<Value>(keys.size() * 7 % 1001));
      expected[segment] += values.back();
    }
  }
  const thrust::device_vector<int> device_keys = keys;
  const thrust::device_vector<Value> device_values = values;
  thrust::device_vector<int> result_keys(kSegments);
  thrust::device_vector<Value> sums(kSegments);
  const auto end = thrust::reduce_by_key(device_keys.begin(), device_keys.end(), device_values.begin(), result_keys.begin(), sums.begin());
  EXPECT(end.first - result_keys.begin() == kSegments);
  const thrust::host_vector<Value> found = sums;
  int wrong = 0;
  for (int i = 0; i < kSegments; ++i) wrong += found[i] != expected[i];
  if (wrong != 0) std::printf("%d of %d segments are wrong\n", wrong, kSegments);
  EXPECT(wrong == 0);
}

int main(int argc, char** argv) {
  for (int left = argc > 1 ? std::atoi(argv[1]) : 1; left > 0; --left) {
    sum_segments<int>();
    sum_segments<long long>();
  }
  std::printf("PASSED\n");
}
