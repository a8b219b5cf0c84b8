// A run executes exactly the suites that the user selected.
#include "harness/conform/suites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep {
namespace suites_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kThree[] =
    "stencil\ttests/stencil_test\t//tests:stencil_test\nmatmul\ttests/matmul_test\t//"
    "tests:matmul_test\nscan\t/opt/"
    "scan\t\n";

std::vector<std::string> families(const Manifest& m) {
  std::vector<std::string> names;
  for (const Suite& s : m.suites) names.push_back(s.family);
  return names;
}

TEST(Suites, ReadTheirManifest) {
  const Manifest m = parse_manifest(kThree);
  EXPECT_EQ(m.error, "");
  EXPECT_THAT(families(m), ElementsAre("stencil", "matmul", "scan"));
  EXPECT_EQ(m.suites[0].program, "tests/stencil_test");
  EXPECT_EQ(m.suites[0].label, "//tests:stencil_test");
}

TEST(Suites, ThatMeasureSiliconAreForSiliconAlone) {
  const Manifest m = parse_manifest("stencil\ta\tb\nstencil_timing\tc\td\tsilicon\n");
  ASSERT_EQ(m.error, "");
  EXPECT_THAT(families(suites_for(true, m.suites, {})), ElementsAre("stencil", "stencil_timing"));
  EXPECT_THAT(families(suites_for(false, m.suites, {})), ElementsAre("stencil"));
  EXPECT_THAT(suites_for(false, m.suites, {"stencil_timing"}).error, HasSubstr("measures a GPU"));
  EXPECT_THAT(parse_manifest("a\tb\tc\td\n").error, HasSubstr("not family, program and label"));
}

TEST(Suites, RefuseAManifestThatIsNone) {
  EXPECT_THAT(parse_manifest("").error, HasSubstr("is empty"));
  EXPECT_THAT(parse_manifest("stencil\n").error, HasSubstr("not family, program and label"));
  EXPECT_THAT(parse_manifest("stencil\t\t//a:b\n").error,
              HasSubstr("not family, program and label"));
  EXPECT_THAT(parse_manifest("a\tp\tl\na\tq\tl\n").error, HasSubstr("names 'a' twice"));
  EXPECT_THAT(read_manifest("/nonexistent/suites.tsv").error, HasSubstr("cannot be read"));
}

TEST(Suites, AllRunUnlessSomeAreNamed) {
  const auto all = parse_manifest(kThree).suites;
  EXPECT_THAT(families(select_suites(all, {})), ElementsAre("stencil", "matmul", "scan"));
  EXPECT_THAT(families(select_suites(all, {"scan", "stencil"})), ElementsAre("stencil", "scan"));
  EXPECT_THAT(families(select_suites(all, {"scan,matmul"})), ElementsAre("matmul", "scan"));
  EXPECT_THAT(families(select_suites(all, {"scan", "scan"})), ElementsAre("scan"));
}

TEST(Suites, AnUnknownNameListsTheKnownOnes) {
  const auto all = parse_manifest(kThree).suites;
  for (const std::vector<std::string>& wanted :
       {std::vector<std::string>{"stencli"}, {"stencil,stencli"}, {"stencil", "stencli"}}) {
    const Manifest m = select_suites(all, wanted);
    EXPECT_EQ(m.error, "there is no suite 'stencli'; the suites are: stencil, matmul, scan");
    EXPECT_THAT(m.suites, IsEmpty());
  }
  EXPECT_THAT(select_suites(all, {""}).error, HasSubstr("there is no suite ''"));
}

}  // namespace suites_test
}  // namespace lockstep
