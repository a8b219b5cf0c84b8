// The families give the same outputs, bit for bit, whether the registers of their kernels share places or each has its
// own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/report/passport_diff.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace {

Passport passport_of(const std::string& registers) {
  const std::string out = fresh_file(registers);
  // Without those whose cases are a fixed list, however few are asked for.
  const std::string chosen = std::string(kAllButTheFar) + ",CoversMoreTiles,CanBeMeasured";
  const Ended ended = run("harness/conform/conform", {"--cases=5", "--jobs=2", "-k", chosen, "--out=" + out},
                          {{"LOCKSTEP_REGISTERS", registers}}, 250);
  EXPECT_TRUE(ended.status == 0 || ended.status == 1)
      << ended.output;  // whether a family is right is for its own test to say
  Passport passport;
  std::string error;
  EXPECT_TRUE(read_passport(out + "/passport.json", passport, error)) << error;
  return passport;
}

TEST(Registers, SharingPlacesChangesNoFamilysOutputs) {
  const Passport shared = passport_of("shared"), separate = passport_of("separate");
  const PassportDiff diff = diff_passports(shared, separate);
  EXPECT_FALSE(diff.worse()) << diff_text(shared, separate, diff);
  EXPECT_GT(diff.compared, 90u);
  EXPECT_GT(diff.digests_compared, 60u);
}

}  // namespace
}  // namespace lockstep::end_to_end
