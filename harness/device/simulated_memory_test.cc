// The memory contract on the simulated GPU's runtime, without a kernel: the host writes to places
// that a kernel must not write. A host copy may access all of an allocation (extension.h), so the
// harness must detect these writes.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "harness/device/device.h"
#include "harness/device/device_array.h"
#include "harness/property/case.h"
#include "harness/property/compare.h"

namespace lockstep {
namespace {

void poke(float* address, float value) {
  REQUIRE_CUDA(cudaMemcpy(address, &value, sizeof value, cudaMemcpyHostToDevice));
}

TEST(SimulatedMemory, TheSimulatorAnswers) {
  ASSERT_EQ(device_error(), "");
  EXPECT_TRUE(is_simulator());
  EXPECT_TRUE(device_properties().simulated);
  EXPECT_GE(device_properties().major, 7);
  EXPECT_EQ(device_properties().warp_size, 32);
  const Extension& e = extension();
  EXPECT_TRUE(e.name_buffer && e.take_errors && e.clear_error && e.reset_counters &&
              e.read_counters);
  EXPECT_TRUE(e.set_schedule && e.set_checks && e.set_quiet);
}

TEST(SimulatedMemory, BuffersComeAndGo) {
  for (int round = 0; round < 200; ++round) {
    const CaseOutcome outcome = run_case([&] {
      const Layout layout{round % 40, static_cast<Poison>(round % 4)};
      std::vector<float> x(static_cast<std::size_t>(round) * 37);
      std::iota(x.begin(), x.end(), 0.0f);
      const auto in = DeviceArray<float>::input("x", x, layout);
      const auto out = DeviceArray<float>::output("y", x.size(), layout);
      EXPECT_EQ(in.fetch(), x);
      for (const float& v : out.fetch()) EXPECT_TRUE(out.holds_poison(0, v));
      if (!x.empty())
        REQUIRE_CUDA(
            cudaMemcpy(out.data(), in.data(), x.size() * sizeof(float), cudaMemcpyDeviceToDevice));
      REQUIRE_BITWISE_EQUAL(out, x);
    });
    EXPECT_TRUE(outcome.held()) << outcome.failure.label() << ": " << outcome.failure.message;
  }
}

TEST(SimulatedMemory, ChangedGuardsAndInputsAreFound) {
  const auto poked = [](int at) {
    return run_case([&] {
             const auto out = DeviceArray<float>::output("y", 33, Layout{});
             poke(out.data() + at, 1);
           })
        .failure.label();
  };
  for (int at : {-64, -1, 33, 34, 96}) EXPECT_EQ(poked(at), "guard") << at;
  // The memory behind the guards belongs to nothing.
  for (int at : {-1024, -65, 97, 1056}) EXPECT_EQ(poked(at), "cuda-error") << at;
  const CaseOutcome outcome = run_case([&] {
    const auto in = DeviceArray<float>::input("x", std::vector<float>(5), Layout{});
    poke(in.data() + 4, 1);
  });
  EXPECT_EQ(outcome.failure.label(), "input-changed");
}

// A kernel may access the bytes of an array and no other, whatever the size. (A copy may access the
// guards, and the harness checks those.)
TEST(SimulatedMemory, ChangedBytesBehindABufferOfAnOddSizeAreFound) {
  for (std::size_t n : {std::size_t{1}, std::size_t{5}, std::size_t{63}, std::size_t{300001}}) {
    for (std::ptrdiff_t at : {-1, 0, 1, 2, 3}) {
      const CaseOutcome outcome = run_case([&] {
        const auto out = DeviceArray<std::uint8_t>::output("y", n, Layout{1});
        const std::uint8_t value = 0x5a;
        REQUIRE_CUDA(
            cudaMemcpy(out.data() + (at < 0 ? 0 : n) + at, &value, 1, cudaMemcpyHostToDevice));
      });
      EXPECT_EQ(outcome.failure.label(), "guard") << n << " bytes, at " << at;
    }
  }
}

TEST(SimulatedMemory, TooMuchIsNotRun) {
  const CaseOutcome outcome =
      run_case([] { DeviceArray<float>::output("huge", std::size_t{1} << 43, Layout{}); });
  EXPECT_TRUE(outcome.not_run.has_value());
  EXPECT_TRUE(run_case([] { DeviceArray<float>::output("small", 1, Layout{}); }).held())
      << "and the next case is well";
}

}  // namespace
}  // namespace lockstep
