// The laws of the staging family, run on its mutants and negative controls.
#include "properties/staging.h"

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/staging.h"

namespace lockstep::known_bad {
namespace {

using kernels::StagingLaunchers;

// The laws that judge a replaced launcher, and those that judge all launchers. A law of an
// unchanged launcher cannot reject the mutant.
properties::Laws<properties::Staging> laws_for(const StagingLaunchers& mutant) {
  const StagingLaunchers real;
  properties::Laws<properties::Staging> laws = of_kernels(properties::staging_laws());
  const auto leave_out = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      if (std::erase_if(laws, [&](const auto& law) { return law.name == name; }) != 1)
        throw std::logic_error("the staging family has no law " + std::string(name));
    }
  };
  if (mutant.thread_map == real.thread_map) leave_out({"ThreadMapMatchesItsReference"});
  if (mutant.tile_map == real.tile_map)
    leave_out({"TileMapMatchesItsReference", "ReversingTwiceChangesNothing",
               "RotatingABlockTimesChangesNothing"});
  if (mutant.transpose == real.transpose)
    leave_out({"PaddingRemovesEveryBankConflict", "TransposeMatchesItsReference",
               "TransposingTwiceChangesNothing", "TransposeVariantsAgree",
               "TransposesRowsBeyondTheGrid", "TransposeIsDeterministic"});
  return laws;
}

const bool added = [] {
  for (const auto& mutant : staging_mutants())
    add_mutation_tests("staging", Mutants<const StagingLaunchers>{mutant},
                       laws_for(*mutant.launch));
  return true;
}();

}  // namespace
}  // namespace lockstep::known_bad
