// The outputs of the families must not change, bit for bit, if the registers of their kernels share
// storage or not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "harness/report/passport_diff.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace {

Passport passport_of(const std::string& registers) {
  const std::string out = fresh_file(registers);
  // Leaves out laws with a fixed list of cases, about refusals, and about launches: the last launch
  // the kernels of the other laws again. More cases of the other laws cover more of the kernels'
  // branches in a third of the time.
  std::string chosen =
      std::string(kAllButTheFar) +
      ",CoversMoreTiles,CoversTilesPast,CanBeMeasured,KeepsNoState,Deterministic,RefusesBad,"
      "CanBeCaptured,RepeatsItsBits,PassesFreivalds,HoldsOnASecondDevice,ReturnsEachErrorOfCuda,"
      "IsExactOverManyStages,.KeepsTheSignsOfZeros,AnswersForEachPath";
  if (!std::getenv("LOCKSTEP_SCALE"))
    chosen +=
        ",GivesTheSameUnderEachSchedule,HoldsAtItsFarEnds,LaunchesTheGridItPromises,"
        "MeasurementsExplain,NeedsNoOtherProperty,ReachesFarElements,TakesWhatItPromises";
  const std::string cases = std::getenv("LOCKSTEP_SCALE") ? "40" : "4";  // --config=nightly
  const Ended ended =
      run("harness/conform/conform", {"--cases=" + cases, "--jobs=2", "-k", chosen, "--out=" + out},
          {{"LOCKSTEP_REGISTERS", registers}, {"LOCKSTEP_HOST_THREADS", "1"}}, 250);
  EXPECT_TRUE(ended.status == 0 || ended.status == 1)
      << ended.output;  // whether a family passes is tested elsewhere
  Passport passport;
  std::string error;
  EXPECT_TRUE(read_passport(out + "/passport.json", passport, error)) << error;
  return passport;
}

TEST(Registers, SharingPlacesChangesNoFamilysOutputs) {
  const Passport shared = passport_of("shared"), separate = passport_of("separate");
  const PassportDiff diff = diff_passports(shared, separate);
  EXPECT_FALSE(diff.worse()) << diff_text(shared, separate, diff);
  fmt::print("{} properties and {} outputs compared\n", diff.compared, diff.digests_compared);
  EXPECT_GT(diff.compared, 150u);
  EXPECT_GT(diff.digests_compared, 120u);
}

}  // namespace
}  // namespace lockstep::end_to_end
