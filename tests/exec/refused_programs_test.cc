// Programs that cannot be simulated are refused with a message that says what to do.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

void expect_refused(const std::string& name, const std::string& what_to_do) {
  const Outcome o = run("exec -- " + program(name) + " count");
  EXPECT_EQ(o.status, 126) << o.err;
  EXPECT_EQ(o.out, "") << "it was not run";
  EXPECT_TRUE(has(o.err, what_to_do)) << o.err;
}

TEST(NotRefused, AProgramWithoutDeviceCodeThatNvccLinked) {
  const Outcome o = run("exec -- " + program("host_only"));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "PASSED\n") << o.err;
}

TEST(Refused, MachineCodeAlone) {
  expect_refused("faulty_machine_code", "compute_90");
  const Outcome o = run("exec -- " + program("faulty_machine_code"));
  EXPECT_TRUE(has(o.err, "faulty_machine_code: the program holds machine code (sm_90) but no PTX"))
      << o.err;
}
TEST(Refused, AVendorsLibraryThatIsNotThere) {
  expect_refused("needs_cutensor_unheard",
                 "Most of its kernels are machine code, which the simulated GPU does not run");
}
TEST(Refused, AnotherLibraryThatIsNotThere) { expect_refused("needs_unheard", "LD_LIBRARY_PATH"); }

TEST(Refused, PtxForANewerDevice) {
  const Outcome o = run("exec --device=sm_80 -- " + program("faulty") + " count");
  EXPECT_EQ(o.status, 126) << o.err;
  EXPECT_TRUE(has(o.err, "sm_80") || has(o.err, "8.0") || has(o.err, "compute_80")) << o.err;
}

TEST(Refused, WhatIsNotThere) { EXPECT_EQ(run("exec -- " + program("nonexistent")).status, 127); }

// Files that are no programs; each message says what to do.
TEST(Refused, WhatIsNoProgram) {
  const std::string text = scratch("text"), script = scratch("script"),
                    unknown = scratch("unknown");
  for (const std::string& file : {text, script, unknown})
    std::ofstream(file) << (file == script ? "#!/nowhere/sh\n" : "text\n");
  shell("chmod +x " + script + " " + unknown);
  const std::pair<std::string, const char*> said[] = {
      {text, "may not be executed; chmod +x makes a file a program"},
      {scratch(""), "is a folder and no program"},
      {script, "cannot be started: the interpreter that it names is not there"},
      {unknown, "cannot be started: it is neither an ELF program nor a script that begins with #!"},
  };
  for (const auto& [file, sentence] : said) {
    const Outcome o = run("exec -- " + file);
    EXPECT_EQ(o.status, 126) << o.err;
    EXPECT_TRUE(has(o.err, sentence)) << o.err;
  }
  EXPECT_TRUE(has(run("exec -- WORKSPACE.nowhere").err, "WORKSPACE.nowhere: no such program\n"));
  const std::string inspect = std::getenv("INSPECT");
  for (const auto& [file, sentence] : {std::pair(scratch(""), "cannot be read: it is a folder\n"),
                                       {scratch("no"), "cannot be read: No such file"},
                                       {text, "not a 64-bit ELF file\n"}}) {
    const Outcome o = shell(inspect + " " + file);
    EXPECT_EQ(o.status, 1) << o.err;
    EXPECT_TRUE(has(o.out + o.err, file + ": " + sentence)) << o.out << o.err;
  }
}

}  // namespace
}  // namespace lockstep
