#include "properties/far_bins.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "harness/device/device.h"
#include "harness/device/device_array.h"
#include "harness/device/far_array.h"
#include "harness/property/compare.h"
#include "properties/streams.h"

namespace lockstep::properties {
namespace {

using kernels::HistogramPath;
using Count = unsigned long long;

constexpr std::int64_t kPastInt = std::int64_t{1} << 31;

struct Bins {
  std::int64_t first, count;
};

// The bins in which values of values_of() count, and the last bin.
std::vector<Bins> bins_of(const FarBinsCase& c) {
  constexpr std::int64_t kSome = 64;
  std::vector<Bins> parts = {{0, kSome}};
  const std::int64_t end = std::min(c.bins, kPastInt);
  parts.push_back({end - kSome, kSome});
  if (c.bins > end) parts.push_back({c.bins - 1, 1});
  return parts;
}

std::vector<int> values_of(const FarBinsCase& c) {
  constexpr int kLow = std::numeric_limits<int>::min(), kHigh = std::numeric_limits<int>::max();
  std::vector<int> values;
  Bits bits(c.seed);
  for (int i = 0; i < c.n; ++i) {
    const int some = static_cast<int>(bits.below(32));
    switch (bits.below(4)) {
      case 0: values.push_back(kLow + some); break;
      case 1: values.push_back(-some); break;
      case 2: values.push_back(some); break;
      default: values.push_back(kHigh - some); break;
    }
  }
  return values;
}

}  // namespace

void FarBinsCase::fields(FarBinsCase& c, FieldVisitor& field) {
  field("bins", c.bins,
        one_of<std::int64_t>({kPastInt + 1, kPastInt, kPastInt - 1, 2 * kPastInt - 1, 2 * kPastInt,
                              2 * kPastInt + 1, 5 * kPastInt + 77}));
  field("n", c.n, range(1, 300));
  field("block", c.block, one_of<int>({32, 64, 1000}));
  field("seed", c.seed, seeds());
}

void counts_in_far_bins(const Histogram& histogram, const FarBinsCase& c) {
  const std::vector<Bins> parts = bins_of(c);
  const std::vector<int> values = values_of(c);
  const std::uint64_t all_bytes = static_cast<std::uint64_t>(c.bins) * sizeof(Count);
  std::vector<FarArray::Part> far;
  for (const Bins& part : parts) {
    far.push_back({static_cast<std::uint64_t>(part.first) * sizeof(Count),
                   static_cast<std::uint64_t>(part.count) * sizeof(Count)});
  }
  if (far.back().begin + far.back().bytes > FarArray::widest()) return;
  FarArray counts("counts", far);
  const auto in = DeviceArray<int>::input("values", values, {});
  for (const FarArray::Part& part : far) {
    const std::vector<unsigned char> zeros(part.bytes);
    counts.write(part.begin, zeros.data(), zeros.size());
  }

  const Stream stream;
  Captured captured(stream, cudaStreamCaptureModeRelaxed, [&](cudaStream_t on) -> Answer {
    const kernels::LaunchStatus status =
        histogram(HistogramPath::kGlobal, in.data(), c.n, reinterpret_cast<Count*>(counts.data()),
                  c.bins, {.block = c.block}, nullptr, on);
    return {status.error, status.message, status.of_cuda};
  });
  // Silicon may check the destination of the fill, which is not mapped.
  if (!is_simulator() && captured.answer().of_cuda) return;
  REQUIRE_CUDA(captured.answer());
  const std::vector<Fill> fills = captured.take_fills_out();
  REQUIRE_LAW(fills.size() == 1 && fills[0].at == counts.data() && fills[0].bytes == all_bytes &&
                  fills[0].value == 0,
              "not one fill by zeros of the {} bytes of {} bins", all_bytes, c.bins);
  captured.replay(stream);

  for (const Bins& part : parts) {
    std::vector<Count> wanted(part.count), got(part.count);
    for (const int value : values) {
      const std::int64_t bin = std::clamp<std::int64_t>(value, 0, c.bins - 1);
      if (bin >= part.first && bin < part.first + part.count) ++wanted[bin - part.first];
    }
    counts.read(static_cast<std::uint64_t>(part.first) * sizeof(Count),
                reinterpret_cast<unsigned char*>(got.data()), got.size() * sizeof(Count));
    for (std::int64_t i = 0; i < part.count; ++i) {
      REQUIRE_LAW(got[i] == wanted[i], "bin {} of {} counts {}, not {}", part.first + i, c.bins,
                  got[i], wanted[i]);
    }
  }
}

}  // namespace lockstep::properties
