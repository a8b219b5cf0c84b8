// Compilers and Python packages under `lockstep exec`: the libraries and programs that they look
// up.
#include <gtest/gtest.h>

#include <string>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

TEST(Clients, LibrariesThatAreOpenedByAPathAreTheSimulatedOnes) {
  const Outcome done = run("exec --require-kernels -- tests/exec/by_path");
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_EQ(done.out, "PASSED\n");
  EXPECT_TRUE(has(done.err, "1 launch of 1 kernel on a simulated sm_90: 0 errors")) << done.err;
}

TEST(Clients, TheAssemblerHandsPtxThrough) {
  const std::string from = scratch("kernel.ptx"), to = scratch("kernel.cubin");
  shell("printf '.version 8.0\\n.target sm_90a\\n' > " + from);
  const Outcome version = run("exec -- sh -c '$TRITON_PTXAS_PATH --version'");
  EXPECT_TRUE(has(version.out, "release 13.0")) << version.out << version.err;
  // The call that Triton makes.
  const Outcome done =
      run("exec -- sh -c '$TRITON_PTXAS_BLACKWELL_PATH -lineinfo -v "
          "--regAllocOptLevel=2 --opt-level 1 --gpu-name=sm_90a " +
          from + " -o " + to + "'");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(contents(to), std::string(".version 8.0\n.target sm_90a\n\0", 29));
  shell("echo nothing > " + from);
  const Outcome wrong = run("exec -- sh -c '$TRITON_PTXAS_PATH " + from + " -o " + to + "'");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(has(wrong.err, "is no PTX")) << wrong.err;
}

TEST(Clients, ThePathOfPythonBeginsWithTheModules) {
  const Outcome done =
      run("exec -- sh -c 'ls ${PYTHONPATH%%:*}; echo ${PYTHONPATH#*:}'", "PYTHONPATH=/mine");
  EXPECT_TRUE(has(done.out, "sitecustomize.py\n")) << done.out << done.err;
  EXPECT_TRUE(has(done.out, "lockstep_torch.py\n")) << done.out;
  EXPECT_TRUE(has(done.out, "/mine\n")) << done.out;
}

TEST(Clients, TheSiteCustomizeOfTheUserRuns) {
  const std::string folder = scratch("site");
  shell("mkdir -p " + folder + " && echo \"print('mine ran')\" > " + folder + "/sitecustomize.py");
  const Outcome done =
      run("exec -- python3 -c 'import sitecustomize, lockstep_imports'", "PYTHONPATH=" + folder);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "mine ran\n") << done.err;
}

}  // namespace
}  // namespace lockstep
