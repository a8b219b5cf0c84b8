// A suite whose process or device ends early, in the way that LEAVES names. conform runs it on
// silicon too, by --manifest.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "harness/property/property.h"
#include "tests/end_to_end/doubling.h"

namespace lockstep::end_to_end {
namespace {

std::string how() {
  const char* how = std::getenv("LEAVES");
  return how ? how : "";
}

PROPERTY(Leaves, Holds, const DoubleCase& c) { check(doubles, c); }

TEST(Leaves, Ends) {
  ASSERT_NE(how(), "");
  if (how() == "killed") raise(SIGKILL);
  if (how() == "exit") std::exit(0);
  if (how() == "hangs") pause();
}

PROPERTY(Leaves, Computes, const DoubleCase& c) {
  check(how() == "sticky" ? writes_nowhere : how() == "endless" ? never_ends : doubles, c);
}

PROPERTY(Leaves, ComputesAfterwards, const DoubleCase& c) { check(doubles, c); }

TEST(Leaves, IsNeverReached) {}

}  // namespace
}  // namespace lockstep::end_to_end
