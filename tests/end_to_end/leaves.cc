// A suite whose process does not reach its end; LEAVES says how.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "harness/property.h"
#include "tests/end_to_end/doubling.h"

namespace lockstep::end_to_end {
namespace {

PROPERTY(Leaves, Holds, const DoubleCase& c) { check(doubles, c); }

TEST(Leaves, Ends) {
  const char* how = std::getenv("LEAVES");
  ASSERT_NE(how, nullptr);
  if (how == std::string("killed")) raise(SIGKILL);
  if (how == std::string("exit")) std::exit(0);
  if (how == std::string("hangs")) pause();
}

TEST(Leaves, IsNeverReached) {}

}  // namespace
}  // namespace lockstep::end_to_end
