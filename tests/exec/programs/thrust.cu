// Sorting and summing with thrust.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <algorithm>

#include "check.h"

int main() {
  thrust::host_vector<int> host(3000);
  unsigned state = 12345;
  for (int& v : host) v = static_cast<int>((state = state * 1664525u + 1013904223u) >> 12);
  thrust::device_vector<int> device = host;
  long long expected = 0;
  for (int v : host) expected += v;
  EXPECT(thrust::reduce(device.begin(), device.end(), 0ll) == expected);
  thrust::sort(device.begin(), device.end());
  thrust::host_vector<int> sorted = device;
  std::sort(host.begin(), host.end());
  EXPECT(sorted == host);
  std::printf("PASSED\n");
}
