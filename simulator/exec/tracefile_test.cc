#include "simulator/exec/tracefile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lockstep::exec {
namespace tracefile_test {

// A line that no thread executed, one with divergence, and two that only full warps executed
// without divergence. Lines 6 and 8 each have a branch; one branch was never reached.
SourceCoverage example() {
  SourceCoverage c;
  SourceFile& f = c.files["dir/k.cu"];
  f.lines[3] = {64, true, false, {}};
  f.lines[4] = {0, false, false, {{"k<1, 2>()", "", "bra", 30, 0, {0, 0}}}};
  f.lines[6] = {64,
                true,
                true,
                {{"k<1, 2>()", "", "bra", 40, 64, {10, 54}},
                 {"k<1, 2>()", "help at k.cu:9:1", "bra", 41, 64, {64, 0}}}};
  f.lines[7] = {32, false, false, {}};
  f.lines[8] = {32, false, false, {{"k<1, 2>()", "", "brx.idx", 50, 32, {30, 0, 2, 0}}}};
  f.functions["k<1, 2>()"] = {3, 64};
  f.functions["never(int, int)"] = {4, 0};
  return c;
}

TEST(Tracefile, IsWhatGenhtmlReads) {
  EXPECT_EQ(tracefile(example()),
            "# dir/k.cu\n"
            "# no warp ever parted: 3, 7-8\n"
            "# only full warps: 7-8\n"
            "# branch 4,0, bra (PTX line 30) in k<1, 2>()\n"
            "# branch 6,0, bra (PTX line 40) in k<1, 2>()\n"
            "# branch 6,1, bra (PTX line 41) in k<1, 2>(), help at k.cu:9:1\n"
            "# branch 8,0, brx.idx (PTX line 50) in k<1, 2>()\n"
            "TN:\n"
            "SF:dir/k.cu\n"
            "FN:3,k<1; 2>()\n"
            "FN:4,never(int; int)\n"
            "FNDA:64,k<1; 2>()\n"
            "FNDA:0,never(int; int)\n"
            "FNF:2\n"
            "FNH:1\n"
            "BRDA:4,0,0,-\n"
            "BRDA:4,0,1,-\n"
            "BRDA:6,0,0,10\n"
            "BRDA:6,0,1,54\n"
            "BRDA:6,1,0,64\n"
            "BRDA:6,1,1,0\n"
            "BRDA:8,0,0,30\n"
            "BRDA:8,0,1,0\n"
            "BRDA:8,0,2,2\n"
            "BRDA:8,0,3,0\n"
            "BRF:10\n"
            "BRH:5\n"
            "DA:3,64\n"
            "DA:4,0\n"
            "DA:6,64\n"
            "DA:7,32\n"
            "DA:8,32\n"
            "LF:5\n"
            "LH:4\n"
            "end_of_record\n");
}

TEST(CoverageTable, CountsLinesWaysAndFunctions) {
  EXPECT_EQ(coverage_table(example()),
            "file          lines  branch ways  functions  never parted  only full warps\n"
            "dir/k.cu  4/5  80 %   5/10  50 %  1/2  50 %             3                2\n");
}

TEST(CoverageText, SaysWhatIsMissing) {
  EXPECT_EQ(coverage_text(example()),
            "dir/k.cu\n"
            "  lines that nobody executed: 4\n"
            "  branches that did not go every way:\n"
            "    dir/k.cu:4: 1 of 1\n"
            "      bra, PTX line 30: nobody came to it in k<1, 2>()\n"
            "    dir/k.cu:6: 1 of 2\n"
            "      bra, PTX line 41: never with a false guard in k<1, 2>(), help at k.cu:9:1\n"
            "    dir/k.cu:8: 1 of 1\n"
            "      brx.idx, PTX line 50: never to target 1, 3 in k<1, 2>()\n"
            "  lines where no warp ever parted: 3, 7-8\n"
            "  lines that only full warps executed: 7-8\n\n");
}

class Selection : public testing::Test {
 protected:
  Selection() {
    std::filesystem::create_directories(root_ + "/toolkit/include/cuda");
    for (const char* name :
         {"a.cu", "toolkit/include/cuda_runtime_api.h", "toolkit/include/cuda/h.h"})
      std::ofstream(root_ + "/" + name) << "";
    for (const char* name : {"a.cu", "b/gone.cu", "toolkit/include/cuda/h.h"})
      all_.files[name].lines[1].count = 1;
  }
  std::vector<std::string> names(CoverageFiles wanted) {
    wanted.root = root_;
    std::vector<std::string> result;
    for (const auto& [name, file] : select(all_, wanted).files) result.push_back(name);
    return result;
  }
  std::string root_ =
      std::filesystem::path(testing::TempDir() + "/selection").lexically_normal().string();
  SourceCoverage all_;
};

TEST_F(Selection, LeavesTheToolkitOutUnlessAsked) {
  EXPECT_EQ(names({}), (std::vector<std::string>{root_ + "/a.cu", "b/gone.cu"}));
  EXPECT_EQ(names({.only = {}, .toolkit = true, .root = ""}).size(), 3u);
}

TEST_F(Selection, TakesBeginningsOfNames) {
  EXPECT_EQ(names({.only = {"b/"}, .toolkit = false, .root = ""}),
            std::vector<std::string>{"b/gone.cu"});
  EXPECT_EQ(names({.only = {"a", "b"}, .toolkit = false, .root = ""}).size(), 2u);
  EXPECT_TRUE(names({.only = {"c"}, .toolkit = false, .root = ""}).empty());
}

}  // namespace tracefile_test
}  // namespace lockstep::exec
