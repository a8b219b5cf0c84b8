// Tests refusals on a fake runtime, with a "launcher" that returns what the test sets.
#include "harness/property/refusal.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "harness/property/case.h"
#include "harness/testing/fake_runtime.h"

namespace lockstep {
namespace refusal_test {

struct Answer {
  cudaError_t error = cudaSuccess;
  std::string message;
};

Failure failure_of(const Answer& launcher_answers) {
  return run_case([&] { REQUIRE_REFUSED(launcher_answers); }).failure;
}

TEST(RequireRefused, AcceptsInvalidValueWithAMessage) {
  EXPECT_EQ(failure_of({cudaErrorInvalidValue, "stencil: n is -1"}).label(), "none");
}

TEST(RequireRefused, RejectsSuccessAnotherErrorAndSilence) {
  const Failure success = failure_of({});
  EXPECT_EQ(success.label(), "law");
  EXPECT_NE(success.message.find("launcher_answers: must be refused"), std::string::npos)
      << success.message;
  const Failure another = failure_of({cudaErrorInvalidConfiguration, "a block of 1025 threads"});
  EXPECT_EQ(another.label(), "law");
  EXPECT_NE(another.message.find("answers cudaErrorInvalidConfiguration (a block of 1025 threads)"),
            std::string::npos)
      << another.message;
  const Failure silent = failure_of({cudaErrorInvalidValue, ""});
  EXPECT_EQ(silent.label(), "law");
  EXPECT_NE(silent.message.find("without a message"), std::string::npos) << silent.message;
}

TEST(RequireUntouched, HoldsForAnOutputThatNobodyWrote) {
  for (Poison poison : {Poison::kNaN, Poison::kHuge, Poison::kZeros, Poison::kOnes}) {
    const CaseOutcome outcome = run_case([&] {
      REQUIRE_UNTOUCHED(
          DeviceArray<float>::output("y", 100, {.misalignment = 3, .poison = poison}));
    });
    EXPECT_TRUE(outcome.held()) << outcome.failure.message;
  }
}

TEST(RequireUntouched, NamesTheElementThatWasWritten) {
  const CaseOutcome outcome = run_case([&] {
    const auto out = DeviceArray<float>::output("y", 100, {});
    out.data()[77] = 1;
    REQUIRE_UNTOUCHED(out);
  });
  EXPECT_EQ(outcome.failure.label(), "law");
  EXPECT_NE(outcome.failure.message.find("y[77]"), std::string::npos) << outcome.failure.message;
}

TEST(ShiftedByBytes, MovesByBytes) {
  float x[2] = {};
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(shifted_by_bytes(x, 3)),
            reinterpret_cast<std::uintptr_t>(x) + 3);
}

}  // namespace refusal_test
}  // namespace lockstep
