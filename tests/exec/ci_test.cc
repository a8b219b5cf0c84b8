// `lockstep exec` in continuous integration, in an editor and on a terminal.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

const std::string kFaulty = "tests/exec/faulty malloc out-of-bounds sync";

std::string tool() { return "$(realpath " + std::string(std::getenv("LOCKSTEP_EXEC")) + ")"; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Ci, AnnotatesOnGithub) {
  const Outcome o = run("exec -- " + kFaulty, "GITHUB_ACTIONS=true");
  EXPECT_EQ(o.status, 86);
  EXPECT_TRUE(has(o.err, "faulty.cu,line=9,title=out-of-bounds::out-of-bounds: ")) << o.err;
  EXPECT_FALSE(has(run("exec -- " + kFaulty, "GITHUB_ACTIONS=").err, "::error"));
  EXPECT_FALSE(has(run("exec --annotations=none -- " + kFaulty, "GITHUB_ACTIONS=true").err, "::"));
}

TEST(Ci, PrintsLinesForEditors) {
  const Outcome o = run("exec --quiet --annotations=lines -- " + kFaulty);
  EXPECT_TRUE(has(o.err, "faulty.cu:9: error: out-of-bounds: ")) << o.err;
  EXPECT_EQ(count(o.err, "\n"), 1u) << o.err;
}

TEST(Ci, WritesJunit) {
  const std::string file = scratch("junit.xml");
  EXPECT_EQ(run("exec --quiet --report=" + file + " -- " + kFaulty).status, 86);
  const std::string xml = contents(file);
  EXPECT_TRUE(has(xml, "<testcase classname=\"faulty\" name=\"store(int*, int)\">")) << xml;
  EXPECT_TRUE(has(xml, "<failure type=\"out-of-bounds\"")) << xml;
  EXPECT_TRUE(has(xml, "exit status 86")) << xml;
}

TEST(Ci, WritesSuppressionsAndNamesThoseThatNothingNeeds) {
  const std::string file = scratch("known.txt");
  EXPECT_EQ(run("exec --write-suppressions=" + file + " -- " + kFaulty).status, 86);
  std::ofstream(file, std::ios::app) << "race  nothing*  # long gone\n";
  const Outcome o = run("exec --suppressions=" + file + " -- " + kFaulty);
  EXPECT_EQ(o.status, 0) << contents(file) << o.err;
  EXPECT_TRUE(has(o.err, "known.txt:3: 'race  nothing*' suppressed nothing\n")) << o.err;
  EXPECT_EQ(count(o.err, "suppressed nothing"), 1u) << o.err;
  EXPECT_FALSE(has(run("exec --quiet --suppressions=" + file + " -- " + kFaulty).err, "nothing"));
}

TEST(Project, ItsOptionsAreReadFromAFile) {
  const std::string folder = scratch("project");
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/lockstep.toml") << "[exec]\ncheck = \"none\"\n";
  const auto in_folder = [&](const std::string& options) {
    return shell("T=" + tool() + " P=$PWD/" + kFaulty.substr(0, kFaulty.find(' ')) + "; cd " +
                 folder + " && $T exec " + options + " -- $P malloc out-of-bounds sync");
  };
  const Outcome o = in_folder("");
  EXPECT_TRUE(has(o.err, "lockstep: options of ")) << o.err;
  EXPECT_TRUE(has(o.err, "without checks")) << o.err;
  EXPECT_EQ(in_folder("--check=all").status, 86) << "the command line wins";
  EXPECT_EQ(in_folder("--config=none").status, 86);
  std::ofstream(folder + "/lockstep.toml") << "[exec]\nchek = \"none\"\n";
  const Outcome wrong = in_folder("");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(has(wrong.err, "lockstep.toml:2: exec has no option chek; did you mean check?"))
      << wrong.err;
}

TEST(Terminal, HasColours) {
  const auto on_terminal = [](const std::string& environment) {
    return shell(environment + " TERM=xterm script -qec '" + std::getenv("LOCKSTEP_EXEC") +
                 " exec -- " + kFaulty + "' /dev/null < /dev/null")
        .out;
  };
  const std::string coloured = on_terminal("NO_COLOR=");
  EXPECT_TRUE(has(coloured, "\033[1;31mout-of-bounds\033[0m: ")) << coloured;
  EXPECT_TRUE(has(coloured, "\033[1;31m1 launch of 1 kernel")) << coloured;
  EXPECT_FALSE(has(on_terminal("NO_COLOR=1"), "\033"));
  EXPECT_FALSE(has(run("exec -- " + kFaulty).err, "\033")) << "a file is no terminal";
}

TEST(Terminal, QuietIsQuiet) {
  const Outcome o = run("exec --quiet -- " + kFaulty);
  EXPECT_EQ(o.status, 86);
  EXPECT_EQ(o.err, "");
}

TEST(Advice, OfAnUpdateInOneLineIsAnAtomic) {
  const std::string atomic =
      " If several threads update one value in this line, as *p += 1 does, use an atomic "
      "operation, "
      "such as atomicAdd.";
  const std::string blocks = run("exec -- tests/exec/update 4 1 1").err;
  EXPECT_TRUE(has(blocks, "Nothing orders the two blocks: ")) << blocks;
  EXPECT_TRUE(has(blocks, "two kernels would." + atomic)) << blocks;
  const std::string warp = run("exec -- tests/exec/update 1 32 1").err;
  EXPECT_TRUE(has(warp,
                  "__syncwarp() between the accesses would, or __syncthreads() if other warps "
                  "use the memory too." +
                      atomic))
      << warp;
  const Outcome two_lines = run("exec -- tests/exec/update 4 1 2");
  EXPECT_EQ(two_lines.status, 86);
  EXPECT_FALSE(has(two_lines.err, "atomicAdd")) << two_lines.err;
}

TEST(Watch, RunsAgainWhenAFileChanges) {
  const std::string program = scratch("watched"), also = scratch("also.txt"), log = scratch("log");
  std::ofstream(also) << "1";
  const Outcome o = shell("cp -L tests/exec/vector_add " + program + "; " + tool() +
                          " exec --watch --watch-file=" + also + " -- " + program + " > " + log +
                          " 2>&1 & pid=$!\n" +
                          "await() { for i in $(seq 300); do "
                          "[ \"$(grep -c 'waiting for a change' " +
                          log +
                          ")\" = $1 ] && return; sleep 0.1; done; "
                          "kill -9 $pid; exit 9; }\n"
                          "await 1; echo 22 > " +
                          also + "; await 2; cp -L tests/exec/vector_add " + program + ".new; mv " +
                          program + ".new " + program +
                          "; await 3; sleep 1; await 3; kill -TERM $pid; "
                          "wait $pid; exit $?");
  EXPECT_EQ(o.status, 0) << contents(log);
  EXPECT_EQ(count(contents(log), "PASSED\n"), 3u) << contents(log);
}

}  // namespace
}  // namespace lockstep
