#include "simulator/exec/time_table.h"

#include <gtest/gtest.h>

namespace lockstep::exec {
namespace time_table_test {

using nlohmann::json;

json instruction(const char* kernel, int line, int ptx_line, json spent) {
  json i = {
      {"kernel", kernel}, {"instruction", "ld.f32"}, {"ptx_line", ptx_line}, {"spent", spent}};
  if (line != 0) i.update({{"file", "k.cu"}, {"line", line}});
  return i;
}

ProgramRun sample() {
  ProgramRun run;
  run.command = {"./program"};
  run.record.checks = "all";
  run.record.profile = {instruction("f()", 7, 20, {{"memory", 0.5}, {"races", 0.5}}),
                        instruction("g()", 0, 33, json{{"arithmetic", 5.0}}),
                        instruction("f()", 7, 21, json{{"memory", 1.0}}),
                        instruction("f()", 8, 22, json{{"loop", 2.0}})};
  return run;
}

TEST(TimeTable, HasKernelsAndThenLinesTheLongestFirst) {
  EXPECT_EQ(
      time_table(sample().record),
      "  seconds  share   loop  arithmetic  memory  races  initialisation  synchronisation  "
      "kernel\n"
      "    5.000   56 %    0 %       100 %     0 %    0 %             0 %              0 %  g()\n"
      "    4.000   44 %   50 %         0 %    38 %   12 %             0 %              0 %  f()\n"
      "\n"
      "  seconds  share   loop  arithmetic  memory  races  initialisation  synchronisation  line\n"
      "    5.000   56 %    0 %       100 %     0 %    0 %             0 %              0 %  g(), "
      "PTX line 33: ld.f32\n"
      "    2.000   22 %    0 %         0 %    75 %   25 %             0 %              0 %  "
      "k.cu:7\n"
      "    2.000   22 %  100 %         0 %     0 %    0 %             0 %              0 %  "
      "k.cu:8\n");
  EXPECT_EQ(time_table(RunRecord{}),
            "no time was seen in kernels: they are looked at once a millisecond\n");
}

TEST(TimeTable, TheFileHasSecondsOfEachInstruction) {
  const json file = json::parse(profile_text(sample()));
  EXPECT_EQ(file["schema"], "lockstep.profile/1");
  EXPECT_EQ(file["seconds"], 9.0);
  EXPECT_EQ(file["complete"], true);
  ASSERT_EQ(file["kernels"].size(), 2u);
  EXPECT_EQ(file["kernels"][0]["spent"]["loop"].get<double>() +
                file["kernels"][1]["spent"]["loop"].get<double>(),
            2.0);
  ASSERT_EQ(file["instructions"].size(), 4u);
  EXPECT_EQ(file["instructions"][0]["ptx_line"], 33);
  EXPECT_EQ(file["instructions"][0]["seconds"], 5.0);
  EXPECT_EQ(file["instructions"][1]["line"], 8);
  ProgramRun crashed = sample();
  crashed.record.unfinished = 1;
  EXPECT_EQ(profile_json(crashed)["complete"], false) << "a process that crashed leaves none";
}

}  // namespace time_table_test
}  // namespace lockstep::exec
