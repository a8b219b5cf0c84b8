// Properties of kernels with planted faults. Each must fail for the reason that properties_test.cc
// expects.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/property/property.h"
#include "tests/end_to_end/doubling.h"

namespace lockstep::end_to_end {
namespace {

PROPERTY(Wrong, Mismatch, const DoubleCase& c) { check(adds_one_beyond_100, c); }
PROPERTY(Wrong, Unwritten, const DoubleCase& c) { check(leaves_last_unwritten, c); }
PROPERTY(Wrong, UnwrittenBeyondAWarp, const DoubleCase& c) { check(leaves_beyond_32_unwritten, c); }
PROPERTY(Wrong, InputChanged, const DoubleCase& c) { check(changes_its_input, c); }
PROPERTY(Wrong, OutOfBounds, const DoubleCase& c) { check(writes_past_the_end, c); }
PROPERTY(Wrong, Misaligned, const DoubleCase& c) { check(reads_misaligned, c); }
PROPERTY(Wrong, Uninitialised, const DoubleCase& c) { check(reads_uninitialised, c); }
PROPERTY(Wrong, AddsToItsOutput, const DoubleCase& c) { check(adds_to_its_output, c); }
PROPERTY(Wrong, Race, const DoubleCase& c) { check(races, c); }

// A copy by the host may overwrite the guards, as any write may on silicon.
PROPERTY(Wrong, GuardOverwritten, const DoubleCase& c) {
  auto out =
      DeviceArray<float>::output("y", static_cast<std::size_t>(c.n), {c.misalignment, c.poison});
  REQUIRE_CUDA(cudaMemset(out.data(), 0x5a, (static_cast<std::size_t>(c.n) + 1) * sizeof(float)));
}

PROPERTY(Wrong, Expectation, const DoubleCase& c) {
  EXPECT_LT(c.n, 50) << "a plain EXPECT, on purpose";
}
PROPERTY(Wrong, Exception, const DoubleCase& c) {
  if (c.n >= 70) throw std::runtime_error("thrown on purpose");
}
PROPERTY(Wrong, CudaError, const DoubleCase& c) {
  REQUIRE_CUDA(doubles(nullptr, nullptr, 0, c.n >= 65 ? 2048 : 1));
}
PROPERTY(Wrong, Law, const DoubleCase& c) {
  REQUIRE_LAW(c.n % 2 == 0 || c.n < 40, "an odd n of {}", c.n);
}

// Passes, but launches no kernel.
TEST(Host, LaunchesNoKernel) { EXPECT_FALSE(poisons().words.describe().empty()); }

}  // namespace
}  // namespace lockstep::end_to_end
