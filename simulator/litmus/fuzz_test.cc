// Compares the simulated GPU's search for races with the oracle: on shapes with known verdicts, and
// on random programs.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "simulator/litmus/campaign.h"
#include "simulator/litmus/text.h"

namespace lockstep::litmus {
namespace {

std::vector<Named> programs(const char* file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return parse(text.str());
}

// The fault of the simulated GPU and the rule that explains it; empty if there is none.
std::string difference(const Program& p, Simulator& gpu) {
  Opinion opinion(p, Rules{});
  gpu.load({&p, 1});
  const auto d = compare(p, opinion, gpu, 0, schedules(16));
  if (!d) return "";
  return std::string(name(d->fault)) + (d->rule.empty() ? ", " + d->report : " by rule " + d->rule);
}

TEST(Litmus, ShapesAreReportedAsTheManualSays) {
  Simulator gpu;
  for (const Named& shape : programs("golden/litmus/shapes.litmus")) {
    const std::string what = difference(shape.program, gpu);
    const bool allowed = what.find(" by rule ") != std::string::npos;
    EXPECT_TRUE(what.empty() || allowed) << to_text(shape.program, shape.name) << what;
  }
}

// Programs on which the simulated GPU is known to differ, each with the reason. A program that no
// longer differs must be removed from the list.
TEST(Litmus, ListedProgramsDiffer) {
  Simulator gpu;
  for (const Named& listed : programs("golden/litmus/known.litmus")) {
    EXPECT_FALSE(listed.expected.empty()) << listed.name << " has no reason";
    EXPECT_NE(difference(listed.program, gpu), "")
        << to_text(listed.program, listed.name) << "no longer differs";
  }
}

TEST(Litmus, RandomProgramsAreReportedAsTheManualSays) {
  Plan plan;
  plan.programs = 2'000;
  plan.schedules = 4;
  plan.most_shown = 3;
  const Tally t = run(plan);
  EXPECT_EQ(t.programs, 2'000u);
  EXPECT_EQ(t.unexplained(), 0u);
  for (const Found& f : t.found) {
    if (f.difference.rule.empty()) {
      ADD_FAILURE() << name(f.difference.fault) << ", schedule " << f.difference.schedule << "\n"
                    << to_text(f.program, "found") << f.difference.report;
    }
  }
  // Every placement, with programs of both verdicts.
  for (int p = 0; p < kPlacements; ++p) {
    std::uint64_t race = 0, free = 0;
    for (int s = 0; s < kSpaces; ++s) race += t.verdicts[p][s][0], free += t.verdicts[p][s][1];
    EXPECT_GT(race, 80u) << name(static_cast<Placement>(p));
    EXPECT_GT(free, 50u) << name(static_cast<Placement>(p));
  }
}

}  // namespace
}  // namespace lockstep::litmus
