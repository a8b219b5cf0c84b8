// Host stacks in messages: for a launch, an allocation, a free and a failed call, from the
// program's debug information (programs/called_by.cu).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

Outcome of(const std::string& what, const std::string& options = "") {
  return run("exec " + options + " -- tests/exec/called_by " + what);
}

// The end of one stack line: "/called_by.cu:14, in buffers::make(unsigned long)".
std::string at(const std::string& place) { return "/called_by.cu:" + place + "\n"; }

// Expects the frames below `heading` to be these places, given by the end of each line.
void expect_stack(const std::string& text, const std::string& heading,
                  const std::vector<std::string>& places) {
  std::size_t line = text.find("  " + heading + "\n");
  ASSERT_NE(line, text.npos) << heading << " in\n" << text;
  for (const std::string& place : places) {
    line = text.find('\n', line) + 1;
    const std::string frame = text.substr(line, text.find('\n', line) + 1 - line);
    EXPECT_TRUE(frame.starts_with("    at ") && frame.ends_with(at(place))) << frame << text;
  }
}

TEST(HostStack, OfALaunchAndOfAnAllocation) {
  const std::string text = of("past").err;
  expect_stack(text, "launched", {"26, in run(float*, int)", "32, in main"});
  expect_stack(text, "allocated by cudaMalloc",
               {"15, in buffers::make(unsigned long)", "31, in main"});
  EXPECT_FALSE(has(text, "freed by")) << text;
}

TEST(HostStack, OfAFree) {
  const std::string text = of("freed").err;
  expect_stack(text, "launched", {"26, in run(float*, int)", "34, in main"});
  expect_stack(text, "freed by cudaFree", {"20, in buffers::release(float*)", "33, in main"});
}

TEST(HostStack, OfAFailedCall) {
  expect_stack(of("twice").err, "called", {"20, in buffers::release(float*)", "35, in main"});
}

TEST(HostStack, OfALeak) {
  const std::string text = of("leak", "--check=all,leaks").err;
  expect_stack(text, "allocated by cudaMalloc",
               {"15, in buffers::make(unsigned long)", "36, in main"});
  EXPECT_FALSE(has(text, "addr2line")) << text;
}

TEST(HostStack, IsInEachReport) {
  const std::string file = scratch("stacks");
  of("freed", "--quiet --report=" + file + ".json --report=" + file + ".sarif --report=" + file +
                  ".html --report=" + file + ".txt --report=" + file + ".xml");
  const json stacks = json::parse(contents(file + ".json"))["findings"][0]["host_stacks"];
  ASSERT_EQ(stacks.size(), 3u) << stacks;
  EXPECT_EQ(stacks[2]["what"], "freed by cudaFree");
  EXPECT_EQ(stacks[2]["frames"][0]["function"], "buffers::release(float*)");
  EXPECT_EQ(stacks[2]["frames"][0]["line"], 20);
  EXPECT_TRUE(std::string(stacks[2]["frames"][0]["object"]).ends_with("called_by"));
  const json result = json::parse(contents(file + ".sarif"))["runs"][0]["results"][0];
  EXPECT_EQ(result["stacks"].size(), 3u);
  EXPECT_EQ(result["relatedLocations"].size(), 3u);
  for (const char* kind : {".html", ".txt", ".xml"})
    EXPECT_TRUE(has(contents(file + kind), "called_by.cu:20, in buffers::release(float*)")) << kind;
}

TEST(HostStack, WithoutDebugInformationTheMessageHasNone) {
  const std::string text = run("exec -- tests/exec/faulty malloc out-of-bounds sync").err;
  EXPECT_TRUE(has(text, "out-of-bounds")) << text;
  EXPECT_FALSE(has(text, "launched")) << text;
}

}  // namespace
}  // namespace lockstep
