// Properties of kernels with planted faults, under the harness's contract. Each fails for one reason that
// //tests:end_to_end_test knows; Right.* pass.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "harness/compare.h"
#include "harness/device_array.h"
#include "harness/field.h"
#include "harness/property.h"
#include "harness/values.h"
#include "tests/end_to_end/faults.h"

namespace lockstep::end_to_end {
namespace {

struct DoubleCase {
  std::int64_t n = 0;
  int threads = 1024;
  int misalignment = 0;
  Poison poison = Poison::kNaN;
  Values values;
  template <class Self, class Visitor>
  static void fields(Self& c, Visitor&& field) {
    field("n", c.n, sizes(0, 1024));
    field("threads", c.threads, one_of<int>({1024}));
    field("misalignment", c.misalignment, range<int>(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values, values_of({ValueKind::kSmallIntegers, ValueKind::kUniform}));
  }
};

// y = 2 x is exact in binary floating point, so equality of bits is demanded.
void check(Launcher launch, const DoubleCase& c) {
  const auto x = make_values<float>(c.values, static_cast<std::size_t>(c.n));
  const Layout layout{c.misalignment, c.poison};
  const auto in = DeviceArray<float>::input("x", x, layout);
  auto out = DeviceArray<float>::output("y", x.size(), layout);
  REQUIRE_CUDA(launch(in.data(), out.data(), static_cast<int>(c.n), c.threads));
  std::vector<float> expected = x;
  for (float& v : expected) v *= 2;
  REQUIRE_BITWISE_EQUAL(out, expected);
}

PROPERTY(Right, DoublesItsInput, const DoubleCase& c) { check(doubles, c); }
PROPERTY(Right, ExchangesUnderABarrier, const DoubleCase& c) { check(races_not, c); }

PROPERTY(Wrong, Mismatch, const DoubleCase& c) { check(adds_one_beyond_100, c); }
PROPERTY(Wrong, Unwritten, const DoubleCase& c) { check(leaves_last_unwritten, c); }
PROPERTY(Wrong, UnwrittenBeyondAWarp, const DoubleCase& c) { check(leaves_beyond_32_unwritten, c); }
PROPERTY(Wrong, InputChanged, const DoubleCase& c) { check(changes_its_input, c); }
PROPERTY(Wrong, OutOfBounds, const DoubleCase& c) { check(writes_past_the_end, c); }
PROPERTY(Wrong, Misaligned, const DoubleCase& c) { check(reads_misaligned, c); }
PROPERTY(Wrong, Uninitialised, const DoubleCase& c) { check(reads_uninitialised, c); }
PROPERTY(Wrong, Race, const DoubleCase& c) { check(races, c); }

// A copy by the host may reach the guards, as on silicon anything may.
PROPERTY(Wrong, GuardOverwritten, const DoubleCase& c) {
  auto out = DeviceArray<float>::output("y", static_cast<std::size_t>(c.n), {c.misalignment, c.poison});
  REQUIRE_CUDA(cudaMemset(out.data(), 0x5a, (static_cast<std::size_t>(c.n) + 1) * sizeof(float)));
}

PROPERTY(Wrong, Expectation, const DoubleCase& c) { EXPECT_LT(c.n, 50) << "a plain EXPECT, on purpose"; }
PROPERTY(Wrong, Exception, const DoubleCase& c) {
  if (c.n >= 70) throw std::runtime_error("thrown on purpose");
}
PROPERTY(Wrong, CudaError, const DoubleCase& c) { REQUIRE_CUDA(doubles(nullptr, nullptr, 0, c.n >= 65 ? 2048 : 1)); }
PROPERTY(Wrong, Law, const DoubleCase& c) { REQUIRE_LAW(c.n % 2 == 0 || c.n < 40, "an odd n of {}", c.n); }

// Holds, and proves nothing of a kernel.
TEST(Host, LaunchesNoKernel) { EXPECT_EQ(poisons().describe.empty(), false); }

}  // namespace
}  // namespace lockstep::end_to_end
