// Findings must reach `lockstep exec` whatever the program does to files, folders and processes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

// Starts the program from a script, which hides the program's exit status.
std::string in_script(const std::string& before, const std::string& words,
                      const std::string& after = "true") {
  return " -- sh -c '(" + before + "; exec " + program("faulty") + " " + words +
         ") 2>&1 | cat >&2; " + after + "'";
}

TEST(Record, NeedsNoRoomOnADisk) {
  const std::string j = scratch("room.json");
  for (const char* folder : {"/nonexistent", "/proc", "/dev/full"}) {
    const Outcome o = run("exec --report=" + j + in_script("true", "malloc race sync"),
                          std::string("TMPDIR=") + folder);
    EXPECT_EQ(o.status, 86) << folder << o.err;
    EXPECT_EQ(json::parse(contents(j))["findings"].size(), 1u) << folder;
  }
  // The program removes the folder of temporary files.
  const std::string folder = scratch("removed");
  const Outcome o = run("exec --report=" + j + in_script("rm -rf " + folder, "malloc race"),
                        "mkdir -p " + folder + "; TMPDIR=" + folder);
  EXPECT_EQ(o.status, 86) << o.err;
}

TEST(Record, AFindingThatCannotBeWrittenIsAnError) {
  const std::string j = scratch("limited.json");
  for (const char* blocks : {"0", "1"}) {
    const Outcome o = run("exec --quiet --report=" + j +
                          in_script(std::string("ulimit -f ") + blocks, "malloc race race sync"));
    EXPECT_EQ(o.status, 88) << o.err;
    EXPECT_TRUE(has(o.err, "cannot be written: File too large")) << o.err;
    EXPECT_TRUE(has(o.err, "not all that the simulated GPU found could be recorded")) << o.err;
    EXPECT_EQ(json::parse(contents(j))["complete"], false);
  }
  // The program's own exit status, if visible.
  const Outcome own =
      run("exec -- sh -c 'ulimit -f 0; exec " + program("faulty") + " malloc store 2>/dev/null'");
  EXPECT_EQ(own.status, 88) << own.err;
  // A program without findings fails too: without the record nobody can know.
  EXPECT_EQ(run("exec" + in_script("ulimit -f 0", "malloc store")).status, 88);
  EXPECT_EQ(
      run("coverage --out=" + scratch("c.info") + in_script("ulimit -f 0", "malloc store")).status,
      88);
  EXPECT_EQ(run("counters" + in_script("ulimit -f 0", "malloc store")).status, 88);
}

TEST(Record, OutlivesAProgramThatClosesItsFiles) {
  const std::string j = scratch("closed.json");
  const Outcome o =
      run("exec --report=" + j + in_script("true", "malloc store close-files race store"));
  EXPECT_EQ(o.status, 86) << o.err;
  const json report = json::parse(contents(j));
  EXPECT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["complete"], true);
  EXPECT_EQ(report["kernels"].size(), 2u);
  EXPECT_EQ(run("exec" + in_script("true", "malloc close-files store")).status, 0);
}

// A time limit that kills `lockstep exec` must also end the program.
TEST(Exec, AProgramEndsWithAnExecThatIsKilled) {
  const std::string file = scratch("process");
  const Outcome o =
      shell("rm -f " + file + "; $LOCKSTEP_EXEC exec -- sh -c 'echo $$ > " + file +
            "; exec sleep 60' & until [ -s " + file + " ]; do sleep 0.01; done\n" +
            "kill -9 $!; p=/proc/$(cat " + file + ")/status; for i in $(seq 500); do " +
            "grep -q 'State:.[^Z]' $p || exit 0; sleep 0.01; done; exit 1");
  EXPECT_EQ(o.status, 0) << "the program goes on";
}

// Output of the simulated GPU must not end the program by a signal: on a GPU it would continue.
TEST(Record, IsKeptWhereFindingsCannotBePrinted) {
  const std::string j = scratch("unprinted.json"), log = scratch("log");
  for (const std::string where : {"2>&1 | true", "2>/dev/full", "2>&-"}) {
    const Outcome o = run("exec --report=" + j + " -- sh -c 'sleep 0.1; " + program("faulty") +
                          " malloc race race store " + where + "; true'");
    EXPECT_EQ(o.status, 86) << where << o.err;
    EXPECT_EQ(json::parse(contents(j))["findings"].size(), 1u) << where;
    EXPECT_EQ(json::parse(contents(j))["kernels"].size(), 2u) << where;
  }
}

TEST(Record, IsNotWrittenWithoutExecEither) {
  const std::string folder = std::string(std::getenv("SIMULATED_RUNTIME"));
  const std::string library = "LD_LIBRARY_PATH=" + folder.substr(0, folder.rfind('/'));
  const Outcome o =
      shell(library + " LOCKSTEP_RECORD=/nonexistent/r " + program("faulty") + " malloc store");
  EXPECT_EQ(o.status, 88) << o.err;
  EXPECT_TRUE(has(o.err, "the record /nonexistent/r cannot be written")) << o.err;
  // A file that is not a record is not overwritten.
  const std::string file = scratch("somebody's");
  std::ofstream(file) << "somebody's own";
  const Outcome foreign =
      shell(library + " LOCKSTEP_RECORD=\"" + file + "\" " + program("faulty") + " malloc store");
  EXPECT_EQ(foreign.status, 88) << foreign.err;
  EXPECT_TRUE(has(foreign.err, "cannot be written: it is no record")) << foreign.err;
  EXPECT_EQ(contents(file), "somebody's own");
  // An invalid setting runs no check: the exit status shows it.
  const Outcome wrong =
      shell(library + " LOCKSTEP_CHECKS=racs " + program("faulty") + " malloc store");
  EXPECT_EQ(wrong.status, 2) << wrong.err;
  EXPECT_TRUE(has(wrong.err, "did you mean races?")) << wrong.err;
  EXPECT_EQ(shell(library + " LOCKSTEP_CHECKS=racs " + program("faulty") + " malloc exit3").status,
            3);
}

}  // namespace
}  // namespace lockstep
