#include "simulator/exec/coverage_record.h"

#include <gtest/gtest.h>

namespace lockstep::exec {
namespace coverage_record_test {

using nlohmann::json;

// A module with one kernel. The instructions have the format of runtime/state/record.h.
json module_line(json instructions, const std::string& id = "a") {
  return {
      {"module", id},
      {"files", {"k.cu", "helper.h"}},
      {"inlined", json::parse(R"x([["help(int)", [[0, 4, 3]]], ["help(int)", [[0, 5, 3]]], )x"
                              R"x(["_INTERNAL_7abfd654_12_histogram_cu_1f0eb3a6::other(int)", )x"
                              R"x([[1, 7, 1], [0, 5, 3]]]])x")},
      {"functions",
       {{{"name", "_Z1kv"},
         {"demangled", "k()"},
         {"kernel", true},
         {"text", 0},
         {"instructions", std::move(instructions)}}}}};
}

SourceCoverage read(const std::vector<json>& lines) {
  CoverageRecord record;
  for (const json& line : lines) add_coverage(line, &record);
  return by_source(record);
}

TEST(CoverageRecord, ProcessesOfOneModuleAddUp) {
  const json one = module_line({{"add", 7, 0, 4, -1, false, 32, 32, false, false, json::array()}});
  const json other = module_line({{"add", 7, 0, 4, -1, false, 8, 8, true, true, json::array()}});
  CoverageRecord record;
  add_coverage(one, &record);
  add_coverage(other, &record);
  ASSERT_EQ(record.size(), 1u);
  const CoveredInstruction& i = record.at("a").functions.at(0).instructions.at(0);
  EXPECT_EQ(i.ran, 40u);
  EXPECT_EQ(i.ptx_line, 7);
  EXPECT_TRUE(i.partial);
  EXPECT_TRUE(i.parted);
  EXPECT_EQ(read({one, other}).files.at("k.cu").lines.at(4).count, 40u);
}

TEST(CoverageRecord, DifferentModulesAddUpByLineAndKeepTheirBranchesApart) {
  const auto text = [](int on, int of, const std::string& id) {
    return module_line({{"bra", 7, 0, 4, -1, true, of, on, false, on != of, json::array()}}, id);
  };
  const SourceLine line = read({text(32, 32, "a"), text(0, 32, "b")}).files.at("k.cu").lines.at(4);
  EXPECT_EQ(line.count, 64u);
  ASSERT_EQ(line.branches.size(), 2u);
  EXPECT_EQ(line.branches[0].ways, (std::vector<std::uint64_t>{32, 0}));
  EXPECT_EQ(line.branches[1].ways, (std::vector<std::uint64_t>{0, 32}));
  EXPECT_FALSE(line.branches[0].every_way());
}

TEST(CoverageRecord, OfALineTheInstructionThatMostExecutedCounts) {
  const auto line =
      read({module_line({{"mul", 1, 0, 4, -1, false, 32, 32, false, false, json::array()},
                         {"add", 2, 0, 4, -1, false, 96, 96, false, false, json::array()}})})
          .files.at("k.cu")
          .lines.at(4);
  EXPECT_EQ(line.count, 96u);
}

TEST(CoverageRecord, InlinedPlacesAddUpByLineAndKeepTheirBranchesApart) {
  const auto line =
      read({module_line({{"bra", 1, 1, 9, 0, true, 32, 5, false, true, json::array()},
                         {"bra", 2, 1, 9, 1, true, 32, 32, false, false, json::array()}})})
          .files.at("helper.h")
          .lines.at(9);
  EXPECT_EQ(line.count, 64u);
  ASSERT_EQ(line.branches.size(), 2u);
  EXPECT_EQ(line.branches[0].inlined, "help(int) at k.cu:4:3");
  EXPECT_TRUE(line.branches[0].every_way());
  EXPECT_EQ(line.branches[1].inlined, "help(int) at k.cu:5:3");
  EXPECT_FALSE(line.branches[1].every_way());
}

TEST(CoverageRecord, ACallThatWasInlinedIsALineToo) {
  const SourceCoverage all =
      read({module_line({{"add", 1, 1, 9, 1, false, 20, 20, false, true, json::array()},
                         {"add", 2, 1, 8, 2, false, 5, 5, true, true, json::array()},
                         {"add", 3, 1, 9, 1, false, 200, 200, true, true, json::array()},
                         {"add", 4, 1, 9, 0, false, 0, 0, false, false, json::array()}})});
  const auto& lines = all.files.at("k.cu").lines;
  EXPECT_EQ(lines.at(5).count, 20u) << "who came to the call, not who went round its loop";
  EXPECT_TRUE(lines.at(5).parted);
  EXPECT_FALSE(lines.at(5).partial);
  EXPECT_EQ(lines.at(4).count, 0u) << "nobody came";
  EXPECT_EQ(all.files.at("helper.h").lines.at(7).count, 5u) << "a call within what was inlined";
  EXPECT_EQ(all.files.at("helper.h").lines.at(9).count, 200u);
}

TEST(CoverageRecord, NamesOfAnonymousNamespacesAreShort) {
  const auto line =
      read({module_line({{"bra", 1, 1, 8, 2, true, 32, 5, false, true, json::array()}})})
          .files.at("helper.h")
          .lines.at(8);
  ASSERT_EQ(line.branches.size(), 1u);
  EXPECT_EQ(line.branches[0].inlined, "other(int) at helper.h:7:1, at k.cu:5:3");
}

TEST(CoverageRecord, AGuardThatIsNeverTrueLeavesItsInstructionUnexecutedAndABranchExecuted) {
  const auto lines =
      read({module_line({{"st", 1, 0, 4, -1, true, 32, 0, false, false, json::array()},
                         {"bra", 2, 0, 5, -1, true, 32, 0, false, false, json::array()}})})
          .files.at("k.cu")
          .lines;
  EXPECT_EQ(lines.at(4).count, 0u);
  EXPECT_EQ(lines.at(5).count, 32u);
}

TEST(CoverageRecord, EachTargetOfABranchTableIsAWay) {
  const auto line =
      read({module_line({{"brx.idx", 1, 0, 4, -1, false, 32, 32, false, true, {30, 0, 2}}})})
          .files.at("k.cu")
          .lines.at(4);
  ASSERT_EQ(line.branches.size(), 1u);
  EXPECT_EQ(line.branches[0].ways, (std::vector<std::uint64_t>{30, 0, 2}));
}

TEST(CoverageRecord, AKernelStandsWhereItsOwnInstructionsBegin) {
  const SourceCoverage all =
      read({module_line({{"add", 1, 1, 9, 0, false, 64, 64, false, false, json::array()},
                         {"add", 2, 0, 3, -1, false, 60, 60, false, false, json::array()},
                         {"add", 3, 0, 2, -1, false, 60, 60, false, false, json::array()}})});
  const SourceFunction& k = all.files.at("k.cu").functions.at("k()");
  EXPECT_EQ(k.line, 3);
  EXPECT_EQ(k.count, 64u) << "threads that entered it";
  EXPECT_TRUE(all.files.at("helper.h").functions.empty());
}

TEST(CoverageRecord, KernelsWithoutLineInformationAreNamed) {
  const SourceCoverage all =
      read({module_line({{"ret", 1, -1, 0, -1, false, 32, 32, false, false, json::array()}})});
  EXPECT_TRUE(all.files.empty());
  EXPECT_EQ(all.without_lines, std::vector<std::string>{"k()"});
}

TEST(CoverageRecord, LinesThatAreNoCoverageAreLeftOut) {
  EXPECT_TRUE(read({json::object(), {{"module", "a"}}, module_line({{"ret", 1}})}).files.empty());
}

}  // namespace coverage_record_test
}  // namespace lockstep::exec
