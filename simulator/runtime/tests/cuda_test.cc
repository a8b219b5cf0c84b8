#include "simulator/runtime/tests/cuda_test.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace lockstep::runtime {

void in_child(void (*body)()) {
  // A distinct status for "reached the end": an exit(0) in the middle must not pass.
  constexpr int kPassed = 42, kFailed = 43;
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? kFailed : kPassed);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child died of signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), kPassed) << "expectations failed in the child (see above)";
}

bool on_simulated_gpu() { return dlsym(RTLD_DEFAULT, "lockstepSetChecks") != nullptr; }

}  // namespace lockstep::runtime
