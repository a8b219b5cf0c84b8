// Device-wide cub: pairs sorted by some bits of their keys, and prefix sums. Each algorithm is
// called twice, as cub requires for its scratch memory.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "program.h"

namespace cub_device {

PROGRAM(cub_device, 2) {
  const int n = 4001;
  const size_t size = n;  // its type is a parameter of the kernels: that of thrust::sort_by_key
  std::vector<unsigned> keys(n);
  std::vector<unsigned> values(n);
  Random random(113);
  for (int i = 0; i < n; ++i) keys[i] = random(), values[i] = static_cast<unsigned>(i);
  Buffer<unsigned> from(keys), to(n), sums(n);
  Buffer<unsigned> from_values(values), to_values(n);
  size_t bytes = 0, more = 0;
  CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, from.get(), to.get(), from_values.get(),
                                       to_values.get(), size, 4, 20));
  CUDA(cub::DeviceScan::ExclusiveSum(nullptr, more, from.get(), sums.get(), n));
  Buffer<char> scratch(mistake == 1 ? 64 : std::max(bytes, more));
  bytes = std::max(bytes, more);
  CUDA(cub::DeviceRadixSort::SortPairs(scratch.get(), bytes, from.get(), to.get(),
                                       from_values.get(), to_values.get(), size, 4, 20));
  CUDA(cub::DeviceScan::ExclusiveSum(scratch.get(), bytes, mistake == 2 ? from.get() : to.get(),
                                     sums.get(), n));
  const std::vector<unsigned> got = to.host(), got_sums = sums.host();
  const std::vector<unsigned> got_values = to_values.host();
  std::stable_sort(values.begin(), values.end(),
                   [&](int a, int b) { return (keys[a] >> 4 & 0xffff) < (keys[b] >> 4 & 0xffff); });
  int wrong = 0;
  unsigned sum = 0;  // modulo 2^32
  for (int i = 0; i < n; ++i) {
    wrong += got_values[i] != values[i] || got[i] != keys[values[i]] || got_sums[i] != sum;
    sum += keys[values[i]];
  }
  return verdict(wrong == 0, "%d of %d wrong", wrong, n);
}

}  // namespace cub_device
