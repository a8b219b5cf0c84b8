// The output of a run for continuous integration and editors.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "simulator/check/suppressions.h"
#include "simulator/exec/annotations.h"
#include "simulator/exec/junit_report.h"
#include "simulator/exec/report.h"
#include "simulator/exec/source_root.h"
#include "simulator/exec/suppression_use.h"

namespace lockstep::exec {
namespace ci_test {

using nlohmann::json;

json finding(const std::string& kind, const std::string& kernel, const std::string& file, int line,
             const std::string& text) {
  return {{"kind", kind}, {"severity", "error"}, {"kernel", kernel},
          {"file", file}, {"line", line},        {"text", text}};
}

ProgramRun sample() {
  ProgramRun run;
  run.command = {"build/my_tests"};
  run.exit_status = 86;
  run.record.device = "sm_90";
  run.record.kernels = {"f(int*)", "g<&x>()"};
  run.record.untaken_errors = true;
  json race = finding("race", "f(int*)", "/repository/src/a,b.cu", 12,
                      "race: st.shared.f32 of 4 bytes\n  50% of\n  at a,b.cu:12");
  race["other"] = {{"file", "/repository/src/a,b.cu"}, {"line", 10}};
  json call = finding("api-error", "", "", 0, "api-error: cudaFree");
  call["call"] = "cudaFree";
  json note = finding("uninitialised", "f(int*)", "/usr/include/cub.cuh", 3, "uninitialised: <b>");
  note["severity"] = "information";
  run.record.findings = {race, call, note};
  run.source_root = "/repository";
  return run;
}

TEST(Annotations, AreWorkflowCommandsOfGithub) {
  EXPECT_EQ(
      annotations(sample(), Annotations::kGithub),
      "::error file=src/a%2Cb.cu,line=12,title=race::race: st.shared.f32 of 4 bytes%0A  50%25 "
      "of%0A  at a,b.cu:12\n"
      "::error title=api-error::api-error: cudaFree\n"
      "::notice file=/usr/include/cub.cuh,line=3,title=uninitialised::uninitialised: <b>\n");
}

TEST(Annotations, OfAFailedCallAreAtTheProgramsLine) {
  ProgramRun run = sample();
  json& call = run.record.findings[1];
  call["host_stacks"] = {
      {{"what", "called"}, {"frames", {{{"file", "/repository/main.cc"}, {"line", 5}}}}}};
  run.record.findings = json::array({call});
  EXPECT_EQ(annotations(run, Annotations::kLines), "main.cc:5: error: api-error: cudaFree\n");
  EXPECT_EQ(annotations(run, Annotations::kGithub),
            "::error file=main.cc,line=5,title=api-error::api-error: cudaFree\n");
}

TEST(Annotations, AreLinesAsCompilersPrintThem) {
  EXPECT_EQ(annotations(sample(), Annotations::kLines),
            "src/a,b.cu:12: error: race: st.shared.f32 of 4 bytes, in kernel f(int*)\n"
            "src/a,b.cu:10: note: the other side of this race\n"
            "lockstep: error: api-error: cudaFree\n"
            "/usr/include/cub.cuh:3: note: uninitialised: <b>, in kernel f(int*)\n");
}

TEST(Annotations, AreChosenByNameOrByTheRunner) {
  EXPECT_EQ(annotations_named("", nullptr), Annotations::kNone);
  EXPECT_EQ(annotations_named("", "true"), Annotations::kGithub);
  EXPECT_EQ(annotations_named("", "false"), Annotations::kNone);
  EXPECT_EQ(annotations_named("none", "true"), Annotations::kNone);
  EXPECT_EQ(annotations_named("lines", "true"), Annotations::kLines);
  EXPECT_EQ(annotations_named("github", nullptr), Annotations::kGithub);
  EXPECT_EQ(annotations(sample(), Annotations::kNone), "");
}

TEST(SourceRoot, NamesWhatLiesBelowIt) {
  EXPECT_EQ(below_root("/a/b/c.cu", "/a"), "b/c.cu");
  EXPECT_EQ(below_root("/a/b/../c.cu", "/a/"), "c.cu");
  EXPECT_EQ(below_root("/ab/c.cu", "/a"), "");
  EXPECT_EQ(below_root("/a/c.cu", ""), "");
  EXPECT_EQ(below_root("src/c.cu", "."), "src/c.cu") << "from the working folder";
  EXPECT_EQ(below_root("../c.cu", "."), "");
}

TEST(SourceRoot, IsTheBaseOfSarifsNames) {
  const json log = sarif_report(sample());
  const json& one = log["runs"][0];
  EXPECT_EQ(one["originalUriBaseIds"]["SRCROOT"]["uri"], "file:///repository/");
  const auto place = [&](int i) {
    return one["results"][i]["locations"][0]["physicalLocation"]["artifactLocation"];
  };
  EXPECT_EQ(place(0)["uri"], "src/a,b.cu");
  EXPECT_EQ(place(0)["uriBaseId"], "SRCROOT");
  EXPECT_EQ(place(2)["uri"], "file:///usr/include/cub.cuh");
  EXPECT_FALSE(place(2).contains("uriBaseId"));
  ProgramRun without = sample();
  without.source_root = "";
  EXPECT_FALSE(sarif_report(without)["runs"][0].contains("originalUriBaseIds"));
}

TEST(Junit, HasATestCaseForEachKernel) {
  EXPECT_EQ(
      junit_report(sample()),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites tests=\"4\" failures=\"3\">\n"
      "<testsuite name=\"my_tests\" tests=\"4\" failures=\"3\" errors=\"0\" skipped=\"0\">\n"
      "  <testcase classname=\"my_tests\" name=\"f(int*)\">\n"
      "    <failure type=\"race\" message=\"race: st.shared.f32 of 4 bytes\">race: st.shared.f32 "
      "of "
      "4 bytes&#10;  50% of&#10;  at a,b.cu:12</failure>\n"
      "    <system-out>uninitialised: &lt;b&gt;&#10;</system-out>\n"
      "  </testcase>\n"
      "  <testcase classname=\"my_tests\" name=\"g&lt;&amp;x&gt;()\"/>\n"
      "  <testcase classname=\"my_tests\" name=\"host calls\">\n"
      "    <failure type=\"api-error\" message=\"api-error: cudaFree\">api-error: "
      "cudaFree</failure>\n"
      "  </testcase>\n"
      "  <testcase classname=\"my_tests\" name=\"exit status\">\n"
      "    <failure type=\"status\" message=\"exit status 86\">exit status 86: 0 launches of 2 "
      "kernels on a simulated sm_90: 2 errors, 1 for information, 0 suppressed</failure>\n"
      "  </testcase>\n"
      "</testsuite>\n</testsuites>\n");
}

TEST(Junit, IsGreenWithoutFindings) {
  ProgramRun run = sample();
  run.exit_status = 0;
  run.record.findings = json::array();
  EXPECT_NE(junit_report(run).find("<testsuites tests=\"4\" failures=\"0\">"), std::string::npos);
  EXPECT_EQ(junit_report(run).find("<failure"), std::string::npos);
}

TEST(Suppressions, ThatNothingNeedsAreNamed) {
  const std::string text =
      "# known\n"
      "race  f*\n"
      "race  g*  # gone\n"
      "\n"
      "*  cudaFree\n"
      "leak *\r\n";
  const auto unused = unused_suppressions(text, sample().record.findings);
  ASSERT_EQ(unused.size(), 2u);
  EXPECT_EQ(unused[0].line, 3);
  EXPECT_EQ(unused[0].text, "race  g*");
  EXPECT_EQ(unused[1].line, 6);
  EXPECT_EQ(unused[1].text, "leak *");
}

TEST(Suppressions, ThatAreWrittenCoverEveryError) {
  json all = sample().record.findings;
  all.push_back(finding("race", "f(int*)", "b.cu", 7, "race"));  // one line for both findings
  all.push_back(finding("leak", "", "", 0, "leak"));
  all.push_back(finding("race", "k<h()::{lambda(int)#1}>()", "c.cu", 8, "race"));
  const std::string text = suppressions_for(all);
  EXPECT_EQ(
      text,
      "# KIND  KERNEL  # the first place. * in a kernel's name is any text, ? any character.\n"
      "race  f(int*)  # /repository/src/a,b.cu:12\n"
      "api-error  cudaFree\n"
      "leak  *\n"
      "race  k<h()::{lambda(int)?1}>()  # c.cu:8\n");
  EXPECT_TRUE(unused_suppressions(text, all).empty());
  const auto parsed = check::Suppressions::parse(text);
  ASSERT_TRUE(std::holds_alternative<check::Suppressions>(parsed));
}

}  // namespace ci_test
}  // namespace lockstep::exec
