// Sums of segments with thrust::reduce_by_key: its tiles pass a value and its state on as one
// 16-byte access. Host vectors are copied to the device and back.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>

#include "program.h"

namespace thrust_segments {

PROGRAM(thrust_segments, 1) {
  const int segments = 5000, turns = 2;
  thrust::host_vector<unsigned> keys;
  thrust::host_vector<long long> values, expected(segments, 0);
  Random random(115);
  for (int segment = 0; segment < segments; ++segment) {
    for (int left = 1 + random.below(32); left > 0; --left) {
      keys.push_back(segment);
      values.push_back(keys.size() * 7 % 1001);
      expected[segment] += values.back();
    }
  }
  const thrust::device_vector<unsigned> d_keys = keys;
  const thrust::device_vector<long long> d_values = values;
  int wrong = 0;
  for (int turn = 0; turn < turns; ++turn) {
    thrust::device_vector<unsigned> named(segments);
    thrust::device_vector<long long> sums(segments);
    const auto ends =
        thrust::reduce_by_key(d_keys.begin(), mistake == 1 ? d_keys.end() - 1 : d_keys.end(),
                              d_values.begin(), named.begin(), sums.begin());
    wrong += ends.first - named.begin() != segments;
    const thrust::host_vector<unsigned> segment_of = named;
    const thrust::host_vector<long long> found = sums;
    for (size_t i = 0; i < found.size(); ++i)
      wrong += segment_of[i] != i || found[i] != expected[i];
  }
  return verdict(wrong == 0, "%d of %d segments wrong", wrong, segments * turns);
}

}  // namespace thrust_segments
