// Tests that end their process in every way that must not count as
// success, and one that does not. //tests:end_to_end_test runs them one by
// one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "harness/ledger/session.h"
#include "harness/property/property.h"

namespace {

TEST(Lifecycle, Passes) {}
TEST(Lifecycle, PassesToo) {}
TEST(Lifecycle, Fails) { EXPECT_EQ(6 * 7, 54) << "on purpose"; }
TEST(Lifecycle, Throws) { throw std::runtime_error("thrown on purpose"); }
TEST(Lifecycle, Skips) { GTEST_SKIP() << "no time today"; }
TEST(Lifecycle, CallsExit) { std::exit(0); }
TEST(Lifecycle, CallsQuickExit) { std::quick_exit(0); }
TEST(Lifecycle, CallsUnderscoreExit) { _exit(0); }
TEST(Lifecycle, Crashes) { raise(SIGSEGV); }
TEST(Lifecycle, Hangs) { pause(); }
TEST(Disabled, DISABLED_NeverRuns) {}

// A property's records without a device: missing capabilities and too little
// memory.
TEST(Recorded, IsNotApplicable) {
  lockstep::current_record().verdict = lockstep::Verdict::kNotApplicable;
  lockstep::current_record().reason = "needs thread-block clusters; the device has none";
}
TEST(Recorded, RanOutOfMemory) {
  lockstep::current_record().verdict = lockstep::Verdict::kNotRun;
  lockstep::current_record().reason = "out of memory";
}
TEST(Recorded, RanNoCase) { lockstep::current_record().verdict = lockstep::Verdict::kPass; }

class BadSetUp : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ADD_FAILURE() << "the suite could not be set up"; }
};
TEST_F(BadSetUp, PassesOnItsOwn) {}

}  // namespace
