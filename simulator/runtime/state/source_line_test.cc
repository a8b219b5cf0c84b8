// What there is without debug information. //tests/streams:streams_test looks at lines of programs
// that have it.
#include "simulator/runtime/state/source_line.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "simulator/runtime/state/leaks.h"

namespace lockstep::runtime {
namespace {

TEST(SourceLine, IsEmptyForWhatHasNoDebugInformation) {
  EXPECT_EQ(source_line(reinterpret_cast<const void*>(&std::abort)), "");
  EXPECT_EQ(source_line(nullptr), "");
  const std::string place = describe_caller(reinterpret_cast<const char*>(&std::abort) + 1);
  EXPECT_EQ(place.find("a call at "), 0u) << place;
  EXPECT_NE(place.find("addr2line -Cfe "), place.npos) << place;
}

}  // namespace
}  // namespace lockstep::runtime
