#include "simulator/runtime/mutation/parts.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lockstep::runtime {
namespace {

TEST(Parts, AreThoseThatWereAdded) {
  Parts parts;
  EXPECT_FALSE(parts.contains(0));
  for (const std::uint64_t part : {3, 0, 9, 3}) parts.add(part);
  for (std::uint64_t part = 0; part < 20; ++part)
    EXPECT_EQ(parts.contains(part), part == 0 || part == 3 || part == 9) << part;
}

TEST(Parts, AreReadAsTheyAreWritten) {
  Parts parts;
  for (const std::uint64_t part : {1, 6, 7, 12}) parts.add(part);
  EXPECT_EQ(parts.text(), "2c01");
  const Parts read = Parts::of(parts.text());
  for (std::uint64_t part = 0; part < 20; ++part)
    EXPECT_EQ(read.contains(part), parts.contains(part)) << part;
  EXPECT_EQ(Parts().text(), "");
  EXPECT_THROW(Parts::of("2x"), std::invalid_argument);
}

}  // namespace
}  // namespace lockstep::runtime
