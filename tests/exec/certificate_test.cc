// `--certificate`, accesses proved before a launch; `--profile`, time by kinds of instructions.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/exec/program.h"
#include "tests/exec/run.h"

namespace lockstep {
namespace {

using nlohmann::json;

TEST(Certificate, NamesWhatIsProvedAndWhatIsOnlyChecked) {
  const std::string file = scratch("certificate.json");
  const Outcome o = run("exec --certificate=" + file + " -- " + program("certified"));
  EXPECT_EQ(o.status, 86) << o.err;  // the race
  const auto proved = [](const char* kernel, const char* shape, const char* what) {
    return std::string("lockstep: of_certified::") + kernel + " <<<" + shape +
           ": proved for every schedule and all data at this shape: " + what;
  };
  EXPECT_TRUE(has(o.err, proved("reversed(int const*, int*)", "(2,1,1), (64,1,1)>>>, 2 launches",
                                "4 of 4 accesses\n")))
      << o.err;
  EXPECT_TRUE(has(o.err, proved("gathered(int const*, int const*, int*)", "(2,1,1), (64,1,1)>>>",
                                "1 of 3 accesses; certified.cu:15 was checked in this run\n")))
      << o.err;
  EXPECT_TRUE(has(o.err, proved("raced(int*)", "(1,1,1), (64,1,1)>>>",
                                "1 of 3 accesses; certified.cu:20 and certified.cu:21 were checked "
                                "in this run\n")))
      << o.err;
  const json certificate = json::parse(contents(file));
  EXPECT_EQ(certificate["schema"], "lockstep.certificate/1");
  EXPECT_EQ(certificate["exit_status"], 86);
  ASSERT_EQ(certificate["launches"].size(), 3u);
  const json& gathered = certificate["launches"][1];
  EXPECT_EQ(gathered["proved"], 1);
  const json& by_data = gathered["accesses"][1];
  EXPECT_TRUE(has(by_data["instruction"], "ld.global"));
  EXPECT_EQ(by_data["line"], 15);
  EXPECT_GT(by_data["ptx_line"], 0);
  for (const char* claim : {"known", "in_bounds", "initialised", "apart"})
    EXPECT_EQ(by_data[claim], false) << claim;
  EXPECT_EQ(by_data["aligned"], true) << "a multiple of 4 is added to an aligned address";
  const json& raced = certificate["launches"][2]["accesses"];
  EXPECT_EQ(raced[1]["in_bounds"], true);
  EXPECT_EQ(raced[1]["apart"], false);
}

TEST(Certificate, OfARunWithoutChecksSaysThatNothingWasChecked) {
  const Outcome o = run("exec --check=none --certificate=" + scratch("unchecked.json") + " -- " +
                        program("certified"));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(has(o.err, "certified.cu:15 was not checked, as no check ran\n")) << o.err;
}

TEST(Profile, NamesKernelsLinesAndWhatTimeIsSpentOn) {
  const std::string file = scratch("profile.json");
  const Outcome o = run("exec --profile=" + file + " -- " + program("certified") + " busy");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(has(o.out, "  seconds  share   loop  arithmetic  memory  races")) << o.out;
  EXPECT_TRUE(has(o.out, "of_certified::busy(int*, int)\n")) << o.out;
  EXPECT_TRUE(has(o.out, "certified.cu:29\n")) << "the store to shared memory: " << o.out;
  const json profile = json::parse(contents(file));
  EXPECT_EQ(profile["schema"], "lockstep.profile/1");
  EXPECT_EQ(profile["complete"], true);
  ASSERT_EQ(profile["kernels"].size(), 1u);
  const json& busy = profile["kernels"][0];
  double sum = 0;
  for (const char* what : {"loop", "memory", "races", "synchronisation"}) {
    EXPECT_GT(busy["spent"][what].get<double>(), 0) << what << o.out;
    sum += busy["spent"][what].get<double>();
  }
  EXPECT_LE(sum, busy["seconds"].get<double>() * 1.001);
  EXPECT_DOUBLE_EQ(busy["seconds"].get<double>(), profile["seconds"].get<double>());
  for (const json& i : profile["instructions"]) {
    EXPECT_GE(i["line"].get<int>(), 25) << i;
    EXPECT_LE(i["line"].get<int>(), 35) << i;
  }
}

// It is a whole warp's, as barriers are.
TEST(Profile, AProductOfMatricesIsArithmetic) {
  const std::string file = scratch("profile.json");
  const Outcome o = run("exec --profile=" + file + " -- " + program("certified") + " multiply");
  EXPECT_EQ(o.status, 0) << o.err;
  const json profile = json::parse(contents(file));
  double arithmetic = 0, loop = 0;
  for (const json& i : profile["instructions"]) {
    if (!i["instruction"].get<std::string>().starts_with("mma.")) continue;
    arithmetic += i["spent"]["arithmetic"].get<double>();
    loop += i["spent"]["loop"].get<double>();
  }
  EXPECT_GT(arithmetic, 4 * loop) << o.out;
}

TEST(Profile, IsPrintedWithoutAFileAndOnlyIfAskedFor) {
  const std::string busy = " -- " + program("certified") + " busy";
  EXPECT_TRUE(has(run("exec --profile" + busy).out, "of_certified::busy(int*, int)\n"));
  EXPECT_EQ(run("exec" + busy).out, "");
}

}  // namespace
}  // namespace lockstep
