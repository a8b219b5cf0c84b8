// The messages of refusals, and the values from which each is given. No device.
#include "kernels/argument_check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace lockstep::kernels {
namespace {

enum class Kind : std::uint8_t { kOne, kTwo };

// The message of the check after `say`; empty: none.
template <class Say>
std::string objection(Say&& say) {
  ArgumentCheck check("who");
  say(check);
  const LaunchStatus status = check.status();
  EXPECT_EQ(check.ok(), status.ok());
  EXPECT_EQ(status.error, check.ok() ? cudaSuccess : cudaErrorInvalidValue);
  return status.message;
}

TEST(ArgumentCheck, NamesANumberOutsideItsRange) {
  const auto number = [](int value, int most) {
    return objection([=](ArgumentCheck& check) { check.number("n", value, 2, most); });
  };
  EXPECT_EQ(number(2, 9), "");
  EXPECT_EQ(number(9, 9), "");
  EXPECT_EQ(number(1, 9), "who: n is 1; it must be 2 ... 9");
  EXPECT_EQ(number(10, 9), "who: n is 10; it must be 2 ... 9");
  EXPECT_EQ(number(-1, 0x7fffffff), "who: n is -1; it must be 2 or more");
}

TEST(ArgumentCheck, ComparesAnUnsignedNumberAsOne) {
  const auto blocks = [](unsigned value) {
    return objection([=](ArgumentCheck& check) { check.number("blocks", value, 1, 0x7fffffff); });
  };
  EXPECT_EQ(blocks(0x7fffffff), "");
  EXPECT_EQ(blocks(0), "who: blocks is 0; it must be 1 ... 2147483647");
  EXPECT_EQ(blocks(0xffffffffu), "who: blocks is 4294967295; it must be 1 ... 2147483647");
}

TEST(ArgumentCheck, NamesABlockAndAnEnumerator) {
  EXPECT_EQ(objection([](ArgumentCheck& check) { check.block(1024); }), "");
  EXPECT_EQ(objection([](ArgumentCheck& check) { check.block(1025); }),
            "who: the block is 1025 threads; it must be 1 ... 1024");
  EXPECT_EQ(
      objection([](ArgumentCheck& check) { check.enumerator("kind", Kind::kTwo, Kind::kTwo); }),
      "");
  EXPECT_EQ(objection([](ArgumentCheck& check) {
              check.enumerator("kind", static_cast<Kind>(2), Kind::kTwo);
            }),
            "who: kind 2 does not exist");
}

TEST(ArgumentCheck, NamesAnArrayThatIsNullOrMisaligned) {
  alignas(8) char memory[16] = {};
  const auto array = [](const void* p) {
    return objection([=](ArgumentCheck& check) { check.array("x", p, 8); });
  };
  EXPECT_EQ(array(memory), "");
  EXPECT_EQ(array(nullptr), "who: x is null, but there are elements");
  EXPECT_EQ(array(memory + 4), "who: x is not aligned to 8 bytes");
}

TEST(ArgumentCheck, DistinguishesAnOverlapOfOneByteFromNeighbours) {
  const auto apart = [](std::uintptr_t a, std::uint64_t a_bytes, std::uintptr_t b,
                        std::uint64_t b_bytes) {
    return objection([=](ArgumentCheck& check) {
             check.apart("a", reinterpret_cast<void*>(a), a_bytes, "b", reinterpret_cast<void*>(b),
                         b_bytes);
           }) == "";
  };
  EXPECT_TRUE(apart(100, 10, 110, 5));
  EXPECT_FALSE(apart(100, 11, 110, 5));
  EXPECT_TRUE(apart(110, 5, 100, 10));
  EXPECT_FALSE(apart(110, 5, 100, 11));
  EXPECT_FALSE(apart(100, 10, 100, 10));
  EXPECT_FALSE(apart(100, 100, 110, 1)) << "one inside the other";
  EXPECT_TRUE(apart(UINTPTR_MAX - 7, 8, 0x1000, 8)) << "an array at the end of memory";
  EXPECT_FALSE(apart(0x1000, UINT64_MAX, UINTPTR_MAX - 0x2000, 8))
      << "an array to the end of memory";
}

TEST(ArgumentCheck, KeepsTheFirstObjection) {
  EXPECT_EQ(objection([](ArgumentCheck& check) {
              check.require(true, "no");
              check.require(false, "first");
              check.require(false, "second");
              check.block(0);
            }),
            "who: first");
}

}  // namespace
}  // namespace lockstep::kernels
