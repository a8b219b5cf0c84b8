// The memory contract on a fake runtime, without the simulator's checks: the "kernels" are host
// functions that write out of bounds, as a kernel on silicon might.
#include "harness/device/device_array.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "harness/property/compare.h"
#include "harness/property/rows.h"
#include "harness/testing/fake_runtime.h"

namespace lockstep {
namespace {

using testing::fake;

struct Float3 {
  float x, y, z;
};

std::vector<float> ramp(std::size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 1.0f);
  return v;
}

class Memory : public ::testing::Test {
 protected:
  void SetUp() override { fake() = testing::Fake{}; }
  void TearDown() override {
    EXPECT_EQ(fake().live, 0) << "device memory outlived its case";
    fake() = testing::Fake{};
  }
};

constexpr Poison kPoisons[] = {Poison::kNaN, Poison::kHuge, Poison::kZeros, Poison::kOnes};
// Sizes on both sides of the limit for a copy in one piece, and with every remainder modulo the
// pattern's eight bytes.
constexpr std::size_t kSizes[] = {0, 1, 2, 3, 33, 1000, 65533, 65537, 200001};

template <class T>
void expect_quiet_when_well_behaved() {
  for (Poison poison : kPoisons) {
    for (int misalignment : {0, 1, 3, 31, 100}) {
      for (std::size_t n : kSizes) {
        const CaseOutcome outcome = run_case([&] {
          const Layout layout{misalignment, poison};
          const std::vector<T> host(n);
          const auto in = DeviceArray<T>::input("x", host, layout);
          const auto out = DeviceArray<T>::output("y", n, layout);
          const auto both = DeviceArray<T>::in_out("z", host, layout);
          for (const auto* array : {&in, &out, &both}) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array->data()) % 256,
                      static_cast<std::size_t>(misalignment) * sizeof(T) % 256);
            EXPECT_EQ(array->size(), n);
          }
          if (n == 0) return;
          std::memset(static_cast<void*>(out.data()), 1, n * sizeof(T));
          std::memset(static_cast<void*>(both.data()), 2, n * sizeof(T));
          const std::vector<T> fetched = out.fetch();
          EXPECT_EQ(reinterpret_cast<const unsigned char*>(fetched.data())[n * sizeof(T) - 1], 1);
        });
        EXPECT_TRUE(outcome.held()) << outcome.failure.message;
      }
    }
  }
}

TEST_F(Memory, AWellBehavedKernelIsAccepted) {
  expect_quiet_when_well_behaved<float>();
  expect_quiet_when_well_behaved<std::uint8_t>();
  expect_quiet_when_well_behaved<double>();
  expect_quiet_when_well_behaved<Half>();
  expect_quiet_when_well_behaved<Float3>();
}

TEST_F(Memory, EveryByteOfBothGuardsIsWatched) {
  for (std::size_t n : {std::size_t{0}, std::size_t{33}, std::size_t{65537}}) {
    for (std::ptrdiff_t offset :
         {-4096, -4095, -257, -8, -5, -1, 0, 1, 3, 4, 7, 8, 255, 4094, 4095}) {
      for (Poison poison : kPoisons) {
        const std::vector<float> host(n);
        for (Role role : {Role::kInput, Role::kOutput, Role::kInOut}) {
          const CaseOutcome outcome = run_case([&] {
            const Layout layout{1, poison};
            const auto array = role == Role::kInput ? DeviceArray<float>::input("a", host, layout)
                               : role == Role::kOutput
                                   ? DeviceArray<float>::output("a", n, layout)
                                   : DeviceArray<float>::in_out("a", host, layout);
            auto* const byte = reinterpret_cast<unsigned char*>(array.data()) +
                               (offset < 0 ? 0 : n * sizeof(float)) + offset;
            *byte ^= 0x10;
          });
          EXPECT_EQ(outcome.failure.label(), "guard") << offset;
          const std::string distance = offset < 0 ? std::to_string(-offset) + " before the start"
                                                  : std::to_string(offset + 1) + " past the end";
          EXPECT_NE(outcome.failure.message.find("1 byte, the nearest " + distance),
                    std::string::npos)
              << outcome.failure.message;
        }
      }
    }
  }
}

// A guard begins directly after the last byte, even within a word, and ends directly before the
// first.
template <class T>
void expect_guards_adjoin() {
  for (std::size_t n : {0, 1, 2, 3, 5, 7, 8, 9, 13, 1021, 262147}) {
    for (int misalignment : {0, 1, 3}) {
      for (std::ptrdiff_t offset : {-3, -2, -1, 0, 1, 2, 6, 7}) {
        const CaseOutcome outcome = run_case([&] {
          const auto array = DeviceArray<T>::output("a", n, Layout{misalignment, Poison::kNaN});
          auto* const byte = reinterpret_cast<unsigned char*>(array.data()) +
                             (offset < 0 ? 0 : n * sizeof(T)) + offset;
          *byte ^= 0x01;
        });
        EXPECT_EQ(outcome.failure.label(), "guard") << n * sizeof(T) << " bytes, at " << offset;
        const std::string distance = offset < 0 ? std::to_string(-offset) + " before the start"
                                                : std::to_string(offset + 1) + " past the end";
        EXPECT_NE(outcome.failure.message.find("1 byte, the nearest " + distance),
                  std::string::npos)
            << outcome.failure.message;
      }
      // The last byte belongs to the array.
      if (n == 0) continue;
      const CaseOutcome outcome = run_case([&] {
        const auto array = DeviceArray<T>::output("a", n, Layout{misalignment, Poison::kNaN});
        reinterpret_cast<unsigned char*>(array.data())[n * sizeof(T) - 1] ^= 0x01;
        reinterpret_cast<unsigned char*>(array.data())[0] ^= 0x10;
      });
      EXPECT_TRUE(outcome.held()) << n * sizeof(T) << " bytes: " << outcome.failure.message;
    }
  }
}
TEST_F(Memory, GuardsAdjoinBuffersOfOddSizes) {
  expect_guards_adjoin<std::uint8_t>();
  expect_guards_adjoin<Half>();
  expect_guards_adjoin<Float3>();
}

TEST_F(Memory, AGuardReportNamesElementAndValues) {
  const CaseOutcome after = run_case([] {
    const auto out = DeviceArray<float>::output("y", 33, Layout{});
    out.data()[34] = 2.5f;
  });
  EXPECT_EQ(after.failure.message,
            "the guard after 'y' was changed: 4 bytes, the nearest 5 past the end; element [34] of "
            "33 now holds 2.5 (0x40200000), not the guard's nan (0x7ffa5a5a)");
  const CaseOutcome before = run_case([] {
    const auto out = DeviceArray<std::int32_t>::output("y", 33, Layout{2, Poison::kZeros});
    out.data()[-2] = -1;
  });
  EXPECT_EQ(before.failure.message,
            "the guard before 'y' was changed: 4 bytes, the nearest 5 before the start; element "
            "[-2] of 33 now holds -1, not the guard's 0");
}

TEST_F(Memory, AGuardOverwrittenWithItsOwnPoisonShowsUnderAnotherPoison) {
  int caught = 0;
  for (Poison poison : kPoisons) {
    caught += !run_case([&] {
                 DeviceArray<std::int32_t>::output("y", 4, Layout{0, poison}).data()[4] = -1;
               }).held();
  }
  EXPECT_EQ(caught, 3) << "all but kOnes";
}

TEST_F(Memory, AChangedInputIsReportedWithItsFirstChange) {
  for (std::size_t n : {std::size_t{40}, std::size_t{100000}}) {
    const CaseOutcome outcome = run_case([&] {
      const auto in = DeviceArray<float>::input("x", ramp(n), Layout{3});
      in.data()[8] = -1;
      in.data()[n - 1] = -1;
    });
    EXPECT_EQ(outcome.failure.label(), "input-changed");
    EXPECT_EQ(outcome.failure.message,
              "input 'x' was changed: 2 of " + std::to_string(n) +
                  " elements, the first [8] from 9 (0x41100000) to -1 (0xbf800000)");
  }
}

TEST_F(Memory, AnInputWrittenWithWhatItHeldIsUntouched) {
  EXPECT_TRUE(run_case([] {
                const auto in = DeviceArray<float>::input("x", ramp(4), Layout{});
                in.data()[2] = 3;
              }).held());
}

TEST_F(Memory, AnInOutArrayMayChange) {
  EXPECT_TRUE(run_case([] {
                auto z = DeviceArray<float>::in_out("z", ramp(4), Layout{});
                z.data()[2] = 99;
                EXPECT_EQ(z.fetch()[2], 99);
                const float poison = std::bit_cast<float>(0x7ffa5a5au);
                EXPECT_FALSE(z.holds_poison(2, poison)) << "an output's alone";
                EXPECT_FALSE(z.poison_is_proof());
                z.repoison();
                EXPECT_EQ(z.fetch(), ramp(4));
              }).held());
}

TEST_F(Memory, OfTwoChangedBuffersTheFirstIsReported) {
  const CaseOutcome outcome = run_case([] {
    const auto a = DeviceArray<float>::input("a", ramp(4), Layout{});
    const auto b = DeviceArray<float>::input("b", ramp(4), Layout{});
    a.data()[0] = b.data()[0] = 7;
  });
  EXPECT_EQ(outcome.failure.message.find("input 'a'"), 0u) << outcome.failure.message;
}

TEST_F(Memory, TheWriteThatReachesANeighbourIsAGuardAndNotAnInput) {
  const CaseOutcome outcome = run_case([] {
    const auto in = DeviceArray<float>::input("x", ramp(4), Layout{});
    const auto out = DeviceArray<float>::output("y", 4, Layout{});
    in.data()[0] = 7;
    out.data()[4] = 7;
  });
  EXPECT_EQ(outcome.failure.label(), "guard");
}

template <class T>
void expect_poison(Poison poison, std::uint64_t bits) {
  for (std::size_t n : {std::size_t{5}, std::size_t{150001}}) {
    const CaseOutcome outcome = run_case([&] {
      const auto out = DeviceArray<T>::output("y", n, Layout{1, poison});
      std::vector<T> held = out.fetch();
      for (std::size_t i : {std::size_t{0}, std::size_t{3}, n - 1}) {
        std::uint64_t now = 0;
        std::memcpy(&now, &held[i], sizeof(T));
        EXPECT_EQ(now, bits);
        EXPECT_TRUE(out.holds_poison(i, held[i]));
        reinterpret_cast<unsigned char&>(held[i]) ^= 1;
        EXPECT_FALSE(out.holds_poison(i, held[i]));
      }
    });
    EXPECT_TRUE(outcome.held()) << outcome.failure.message;
  }
}

// A kernel in a stream that does not synchronise with the default stream reads the data that was
// written.
TEST_F(Memory, WhatIsWrittenHasArrived) {
  for (const std::size_t n : kSizes) {
    const CaseOutcome outcome = run_case([&] {
      testing::fake().under_way = 0;
      auto in = DeviceArray<float>::input("x", std::vector<float>(n), {});
      EXPECT_EQ(testing::fake().under_way, 0) << "an input of " << n;
      auto out = DeviceArray<float>::output("y", n, {});
      EXPECT_EQ(testing::fake().under_way, 0) << "an output of " << n;
      in.repoison();
      EXPECT_EQ(testing::fake().under_way, 0) << "an input of " << n << ", again";
      out.repoison();
      EXPECT_EQ(testing::fake().under_way, 0) << "an output of " << n << ", again";
    });
    EXPECT_TRUE(outcome.held()) << outcome.failure.message;
  }
}

TEST_F(Memory, OutputsHoldTheirPoison) {
  expect_poison<float>(Poison::kNaN, 0x7ffa5a5a);
  expect_poison<float>(Poison::kHuge, 0x7f5a5a5a);
  expect_poison<float>(Poison::kZeros, 0);
  expect_poison<float>(Poison::kOnes, 0xffffffff);
  expect_poison<double>(Poison::kNaN, 0x7ffa5a5a5a5a5a5a);
  expect_poison<double>(Poison::kHuge, 0x7fda5a5a5a5a5a5a);
  expect_poison<Half>(Poison::kNaN, 0x7e5a);
  expect_poison<Half>(Poison::kHuge, 0x7b5a);
  expect_poison<std::uint8_t>(Poison::kNaN, 0xa5);
  expect_poison<std::uint8_t>(Poison::kHuge, 0x7f);
  expect_poison<std::int32_t>(Poison::kHuge, 0x7f5a5a5a);
}

TEST_F(Memory, PoisonIsWhatItsNameSays) {
  float f;
  std::uint32_t bits = static_cast<std::uint32_t>(poison_word(Poison::kNaN, 4));
  std::memcpy(&f, &bits, 4);
  EXPECT_TRUE(std::isnan(f));
  bits = static_cast<std::uint32_t>(poison_word(Poison::kHuge, 4));
  std::memcpy(&f, &bits, 4);
  EXPECT_TRUE(std::isfinite(f) && f > 1e38f);
  EXPECT_TRUE(
      std::isnan(to_double(Half{static_cast<std::uint16_t>(poison_word(Poison::kNaN, 2))})));
  EXPECT_GT(to_double(Half{static_cast<std::uint16_t>(poison_word(Poison::kHuge, 2))}), 50000);
  EXPECT_TRUE(
      std::isfinite(to_double(Half{static_cast<std::uint16_t>(poison_word(Poison::kHuge, 2))})));
}

TEST_F(Memory, AStructOfFloatsIsPoisonedFloatByFloat) {
  EXPECT_TRUE(run_case([] {
                const auto out = DeviceArray<Float3>::output("y", 7, Layout{1, Poison::kNaN});
                for (const Float3& v : out.fetch())
                  EXPECT_TRUE(std::isnan(v.x) && std::isnan(v.y) && std::isnan(v.z));
                EXPECT_TRUE(out.holds_poison(3, out.fetch()[3]));
              }).held());
}

TEST_F(Memory, RepoisonMakesAnOutputUnwrittenAgain) {
  EXPECT_TRUE(run_case([] {
                auto out = DeviceArray<float>::output("y", 3, Layout{});
                for (int i = 0; i < 3; ++i) out.data()[i] = 1;
                EXPECT_FALSE(out.holds_poison(1, out.fetch()[1]));
                out.repoison();
                EXPECT_TRUE(out.holds_poison(1, out.fetch()[1]));
              }).held());
}

struct Reference {
  std::vector<double> value, bound;
};

// The reason for an unwritten element under each poison.
TEST_F(Memory, AnUnwrittenElementIsRejectedUnderEveryPoison) {
  for (Poison poison : kPoisons) {
    const CaseOutcome outcome = run_case([&] {
      const auto out = DeviceArray<float>::output("y", 3, Layout{0, poison});
      out.data()[0] = out.data()[2] = 1;
      REQUIRE_WITHIN_BOUND(out, (Reference{{1, 1, 1}, {0, 0, 0}}));
    });
    EXPECT_EQ(outcome.failure.label(),
              poison == Poison::kNaN || poison == Poison::kHuge ? "unwritten" : "mismatch");
    EXPECT_NE(outcome.failure.message.find("never written"), std::string::npos)
        << outcome.failure.message;
  }
}

// A kernel may compute 0x7f5a5a5a, but no kernel computes that NaN.
TEST_F(Memory, ARowMayHoldTheNumberThatIsItsPoison) {
  for (Poison poison : {Poison::kHuge, Poison::kNaN}) {
    const CaseOutcome outcome = run_case([&] {
      const auto out = DeviceArray<float>::output("y", 6, Layout{0, poison});
      EXPECT_EQ(fetch_rows(out, 2, 2, 3).size(), 4u);
    });
    EXPECT_EQ(outcome.failure.label(), poison == Poison::kNaN ? "unwritten" : "none")
        << outcome.failure.message;
  }
}

// No element between two rows may be written, from the first to the last.
TEST_F(Memory, NothingMayBeWrittenBetweenRows) {
  for (int written : {-1, 2, 3, 4, 7, 9}) {
    std::vector<std::int32_t> rows;
    const CaseOutcome outcome = run_case([&] {
      const auto out = DeviceArray<std::int32_t>::output("y", 10, Layout{0, Poison::kNaN});
      for (int i : {0, 1, 5, 6}) out.data()[i] = i;
      if (written >= 0) out.data()[written] = 8;
      rows = fetch_rows(out, 2, 2, 5);
    });
    EXPECT_EQ(outcome.failure.label(), written < 0 ? "none" : "guard") << written;
    if (written < 0) {
      EXPECT_EQ(rows, (std::vector<std::int32_t>{0, 1, 5, 6}));
    } else {
      const std::string place = "element " + std::to_string(written % 5) + " of row " +
                                std::to_string(written / 5) + ", between the rows";
      EXPECT_NE(outcome.failure.message.find(place), std::string::npos) << outcome.failure.message;
    }
  }
}

TEST_F(Memory, AnUnwrittenNaNIsRejectedAndAWrittenOneAccepted) {
  for (bool write : {false, true}) {
    const CaseOutcome outcome = run_case([&] {
      const auto out = DeviceArray<float>::output("y", 1, Layout{});
      if (write) out.data()[0] = NAN;
      REQUIRE_WITHIN_BOUND(out, (Reference{{NAN}, {0}}));
    });
    EXPECT_EQ(outcome.failure.label(), write ? "none" : "unwritten");
  }
}

TEST_F(Memory, WrongNumbersBesideAnUnwrittenElementAreAMismatch) {
  const CaseOutcome outcome = run_case([&] {
    const auto out = DeviceArray<float>::output("y", 2, Layout{});
    out.data()[0] = 9;
    REQUIRE_BITWISE_EQUAL(out, (std::vector<float>{1, 1}));
  });
  EXPECT_EQ(outcome.failure.label(), "mismatch");
}

TEST_F(Memory, TooLittleMemoryIsNotRunAndNeverAPass) {
  fake().free_bytes = 20000;
  const CaseOutcome outcome = run_case([] {
    const auto small = DeviceArray<float>::output("small", 1, Layout{});
    const auto large = DeviceArray<float>::output("large", 10000, Layout{});
  });
  EXPECT_FALSE(outcome.held());
  ASSERT_TRUE(outcome.not_run);
  EXPECT_EQ(*outcome.not_run, "out of device memory: 'large' wants 48192 bytes");
}

TEST_F(Memory, ALaunchErrorThatNobodyLookedAtFailsTheCase) {
  const CaseOutcome outcome = run_case([] { fake().launch_error = cudaErrorInvalidConfiguration; });
  EXPECT_EQ(outcome.failure.label(), "cuda-error");
  EXPECT_NE(outcome.failure.message.find("cudaErrorInvalidConfiguration"), std::string::npos);
  EXPECT_TRUE(outcome.device_lost.empty()) << "it does not stick";
}

TEST_F(Memory, AStickyErrorOfHardwareLosesTheDevice) {
  const CaseOutcome outcome = run_case([] {
    const auto out = DeviceArray<float>::output("y", 1, Layout{});
    fake().sticky = cudaErrorIllegalAddress;
    out.fetch();
  });
  EXPECT_EQ(outcome.failure.label(), "cuda-error");
  EXPECT_NE(outcome.device_lost.find("cudaErrorIllegalAddress"), std::string::npos);
}

TEST_F(Memory, TheCaseEndsWellBehavedWhateverWayItsBodyEnds) {
  EXPECT_EQ(run_case([] {
              const auto out = DeviceArray<float>::output("y", 1, Layout{});
              throw std::runtime_error("early");
            }).failure.label(),
            "exception");
  EXPECT_EQ(run_case([] {
              const auto out = DeviceArray<float>::output("y", 1, Layout{});
              out.data()[1] = 0;
              throw std::runtime_error("early");
            }).failure.label(),
            "guard");
  EXPECT_EQ(run_case([] { throw 7; }).failure.label(), "exception");
  EXPECT_TRUE(run_case([] { throw std::bad_alloc(); }).not_run.has_value());
}

TEST_F(Memory, IsAskedForInsideACaseOnly) {
  EXPECT_THROW(DeviceArray<float>::output("y", 1, Layout{}), std::logic_error);
  EXPECT_EQ(run_case([] { run_case([] {}); }).failure.label(), "exception");
  EXPECT_EQ(run_case([] { DeviceArray<float>::output("y", 1, Layout{-1}); }).failure.label(),
            "exception");
}

}  // namespace
}  // namespace lockstep
