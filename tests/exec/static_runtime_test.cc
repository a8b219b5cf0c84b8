// Programs and libraries with the static CUDA runtime, nvcc's default, under `lockstep exec` and
// other commands.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

std::string program(const std::string& name) { return "tests/exec/" + name; }
// Runs `command` followed by the plugin's argument. The planted race must be reported; the repaired
// kernel must pass.
void expect_race_and_repair(const std::string& command, const std::string& environment = "") {
  const Outcome planted = run("exec -- " + command + " planted", environment);
  EXPECT_EQ(planted.status, 86) << planted.err;
  EXPECT_EQ(planted.out, "done\n");
  EXPECT_TRUE(has(planted.err, "race: ")) << planted.err;
  EXPECT_TRUE(has(planted.err, "plugin.cu:13")) << planted.err;
  const Outcome repaired = run("exec --require-kernels -- " + command + " repaired", environment);
  EXPECT_EQ(repaired.status, 0) << repaired.err;
  EXPECT_EQ(repaired.out, "done\n");
  EXPECT_TRUE(has(repaired.err, "1 launch of 1 kernel on a simulated sm_90: 0 errors"))
      << repaired.err;
}

TEST(StaticRuntime, OfAProgram) { expect_race_and_repair(program("shift_static")); }

TEST(StaticRuntime, OfALibraryThatAProgramIsLinkedWith) {
  expect_race_and_repair(program("linked_with_plugin"), "LD_LIBRARY_PATH=tests/exec");
}

TEST(StaticRuntime, OfALibraryThatAProgramOpens) {
  expect_race_and_repair(program("opens_plugin") + " " + program("libplugin.so"));
}

TEST(StaticRuntime, OfAProgramThatAScriptStarts) {
  expect_race_and_repair("sh -c '\"$0\" \"$@\"' " + program("shift_static"));
}

TEST(StaticRuntime, CountersAndCoverage) {
  const Outcome counters = run("counters -- " + program("shift_static") + " repaired");
  EXPECT_EQ(counters.status, 0) << counters.err;
  EXPECT_TRUE(has(counters.out, "void shift<true>(int*)")) << counters.out;
  const std::string tracefile = scratch("static.info");
  const Outcome coverage =
      run("coverage --out=" + tracefile + " -- " + program("shift_static") + " repaired");
  EXPECT_EQ(coverage.status, 0) << coverage.err;
  EXPECT_TRUE(has(contents(tracefile), "plugin.cu\n")) << contents(tracefile);
  EXPECT_TRUE(has(contents(tracefile), "DA:13,64\n")) << contents(tracefile);
}

// Renames a function that the program calls first to one that the simulated runtime lacks.
TEST(StaticRuntime, WhatTheSimulatedOneDoesNotHaveIsRefusedByName) {
  std::string bytes = contents(program("shift_static"));
  const std::string name("\0cudaMalloc\0", 12);
  const std::size_t at = bytes.rfind(name);  // the table of names lies at the end
  ASSERT_NE(at, bytes.npos);
  bytes.replace(at + 1, 10, "cudaMadden");
  const std::string path = scratch("newer");
  std::ofstream(path, std::ios::binary) << bytes;
  ASSERT_EQ(std::system(("chmod +x " + path).c_str()), 0);
  const Outcome o = run("exec -- " + path + " repaired");
  EXPECT_EQ(o.status, 1) << o.err;
  EXPECT_TRUE(has(o.out, "cudaErrorNotSupported")) << o.out;
  EXPECT_TRUE(has(o.err, "cudaMadden answered cudaErrorNotSupported")) << o.err;
}

// ---- without a symbol table ---------------------------------------------------------------------

std::string stripped(const std::string& name) {
  const std::string path = scratch(name);
  EXPECT_EQ(std::system(("cp -f " + program(name) + " " + path + " && chmod u+w " + path +
                         " && strip " + path)
                            .c_str()),
            0);
  return path;
}

TEST(Stripped, AProgram) { expect_race_and_repair(stripped("shift_static")); }

TEST(Stripped, ALibraryThatAProgramIsLinkedWith) {
  stripped("libplugin.so");
  expect_race_and_repair(program("linked_with_plugin"), "LD_LIBRARY_PATH=" + testing::TempDir());
}

TEST(Stripped, ALibraryThatAProgramOpens) {
  expect_race_and_repair(program("opens_plugin") + " " + stripped("libplugin.so"));
}

// ---- refused programs
// ----------------------------------------------------------------------------

// A stripped copy whose code names its functions in a form that no known runtime uses.
std::string unknown(const std::string& name) {
  const std::string path = stripped(name);
  std::string bytes = contents(path);
  const std::size_t at = bytes.find(std::string("__cudaInitModule\0", 17));
  EXPECT_NE(at, bytes.npos);
  if (at != bytes.npos) bytes[at + 2] = 'x';
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

void expect_refused(const Outcome& o) {
  EXPECT_EQ(o.status, 126) << o.err;
  EXPECT_EQ(o.out, "") << "it was not run";
  EXPECT_TRUE(has(o.err, "symbols stripped")) << o.err;
  EXPECT_TRUE(has(o.err, "-cudart shared")) << o.err;
}

TEST(UnknownRuntime, AProgramIsRefused) {
  const std::string path = unknown("shift_static");
  expect_refused(run("exec -- " + path + " repaired"));
  expect_refused(run("counters -- " + path + " repaired"));
  expect_refused(run("exec -- sh -c '\"$0\" \"$@\"' " + path + " repaired"));
}

TEST(UnknownRuntime, ALibraryThatAProgramIsLinkedWithIsRefused) {
  unknown("libplugin.so");
  expect_refused(run("exec -- " + program("linked_with_plugin") + " repaired",
                     "LD_LIBRARY_PATH=" + testing::TempDir()));
}

TEST(UnknownRuntime, OfALibraryThatAProgramOpensIsReportedThatItIsNotSimulated) {
  const std::string path = unknown("libplugin.so");
  const Outcome o = run("exec -- " + program("opens_plugin") + " " + path + " repaired");
  EXPECT_TRUE(
      has(o.err, path + ": has the CUDA runtime linked statically and its symbols stripped"))
      << o.err;
  EXPECT_TRUE(has(o.err, "is not simulated")) << o.err;
  EXPECT_EQ(o.status, 1) << "its first call fails: " << o.out;
}

TEST(Static, AProgramWithoutAnySharedLibraryIsRefused) {
  const Outcome o = run("exec -- " + program("shift_without_libraries") + " repaired");
  EXPECT_EQ(o.status, 126) << o.err;
  EXPECT_TRUE(has(o.err, "link it without -static")) << o.err;
}

}  // namespace
}  // namespace lockstep
