#include "simulator/exec/certificate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/exec/html_report.h"

namespace lockstep::exec {
namespace certificate_test {

using nlohmann::json;

json access(int line, bool proved) {
  return {{"instruction", "ld.global.f32"},
          {"ptx_line", 100 + line},
          {"file", "/src/k.cu"},
          {"line", line},
          {"proved", proved}};
}

json launch(const std::vector<json>& accesses) {
  return {{"kernel", "f(int*)"}, {"grid", {4, 1, 1}},   {"block", {256, 1, 1}},
          {"refused", ""},       {"calls", false},      {"dynamic_shared", 0},
          {"launches", 1},       {"accesses", accesses}};
}

std::string line_of(const json& launch, const std::string& checks = "all") {
  RunRecord record;
  record.checks = checks;
  record.certificates = json::array({launch});
  return certificate_lines(record).at(0);
}

const std::string kLaunch = "f(int*) <<<(4,1,1), (256,1,1)>>>";
const std::string kProved = ": proved for every schedule and all data at this shape: ";

TEST(Certificate, ALineNamesWhatWasNotProvedEachPlaceOnce) {
  EXPECT_EQ(line_of(launch({access(3, true), access(4, true)})),
            kLaunch + kProved + "2 of 2 accesses");
  EXPECT_EQ(line_of(launch({access(3, true)})), kLaunch + kProved + "1 of 1 access");
  EXPECT_EQ(
      line_of(launch({access(31, false), access(5, true), access(40, false), access(31, false)})),
      kLaunch + kProved + "1 of 4 accesses; k.cu:31 and k.cu:40 were checked in this run");
  json bare = access(7, false);
  bare.erase("file");
  EXPECT_EQ(line_of(launch({bare})),
            kLaunch + kProved + "0 of 1 access; PTX line 107 was checked in this run");
  json many = json::array();
  for (int i = 1; i <= 9; ++i) many.push_back(access(i, false));
  EXPECT_NE(line_of(launch(many)).find("k.cu:7 and 2 more were checked"), std::string::npos);
}

TEST(Certificate, NothingCountsAsCheckedThatNoCheckLookedAt) {
  const json one = launch({access(3, false)});
  EXPECT_NE(line_of(one, "none").find("k.cu:3 was not checked, as no check ran"),
            std::string::npos);
  EXPECT_NE(line_of(one, "bounds").find("k.cu:3 was checked in this run by bounds alone"),
            std::string::npos);
}

TEST(Certificate, AKernelThatIsNotFollowedSaysWhy) {
  json refused = launch({access(3, false)});
  refused["refused"] = "the kernel calls functions";
  refused["calls"] = true;
  refused["launches"] = 5;
  refused["dynamic_shared"] = 64;
  EXPECT_EQ(line_of(refused),
            "f(int*) <<<(4,1,1), (256,1,1), 64>>>, 5 launches: nothing is proved, as the kernel "
            "calls functions; k.cu:3 was checked in this run; accesses of called functions are not "
            "listed");
  EXPECT_EQ(line_of(launch(json::array())), kLaunch + ": it accesses no memory");
}

TEST(Certificate, TheFileHasEveryLaunchWithItsLine) {
  ProgramRun run;
  run.command = {"./program"};
  run.exit_status = 86;
  run.record.device = "sm_90";
  run.record.checks = "all";
  run.record.lossy = true;
  run.record.certificates = json::array({launch({access(3, true), access(4, false)})});
  const json file = json::parse(certificate_text(run));
  EXPECT_EQ(file["schema"], "lockstep.certificate/1");
  EXPECT_EQ(file["command"], json{"./program"});
  EXPECT_EQ(file["exit_status"], 86);
  EXPECT_EQ(file["complete"], false);
  EXPECT_EQ(file["device"], "sm_90");
  ASSERT_EQ(file["launches"].size(), 1u);
  EXPECT_EQ(file["launches"][0]["proved"], 1);
  EXPECT_EQ(file["launches"][0]["accesses"].size(), 2u);
  EXPECT_EQ(file["launches"][0]["summary"], certificate_lines(run.record)[0]);
}

TEST(Certificate, ReportsHaveTheLines) {
  ProgramRun run;
  run.record.checks = "all";
  EXPECT_FALSE(json_report(run).contains("proofs"));
  EXPECT_EQ(html_report(run).find("Proved before"), std::string::npos);
  run.record.certificates = json::array({launch({access(3, true), access(4, false)})});
  const json proofs = json_report(run)["proofs"];
  ASSERT_EQ(proofs.size(), 1u);
  const json expected = {{"kernel", "f(int*)"},
                         {"grid", {4, 1, 1}},
                         {"block", {256, 1, 1}},
                         {"launches", 1},
                         {"accesses", 2},
                         {"proved", 1},
                         {"summary", kLaunch + kProved +
                                         "1 of 2 accesses; k.cu:4 was checked in "
                                         "this run"}};
  EXPECT_EQ(proofs[0], expected);
  EXPECT_NE(html_report(run).find("<li>f(int*) &lt;&lt;&lt;(4,1,1)"), std::string::npos);
}

}  // namespace certificate_test
}  // namespace lockstep::exec
