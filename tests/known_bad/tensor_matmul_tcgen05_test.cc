// Runs the laws of the tensor_matmul family on the mutants and negative controls of its tcgen05
// paths.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "properties/tensor_matmul.h"
#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

// Every mutant fails within the first cases, and a negative control passes a few of each law, as
// for wgmma. Laws about launchers (state between calls, streams, other devices) are left out:
// launchers_test.cc runs them. Of the laws that repeat a case, GivesTheSameUnderEachSchedule stays.
auto laws() {
  constexpr std::string_view kOfLaunchers[] = {"HoldsOnASecondDevice",
                                               "WorksOnItsStream",
                                               "CanBeCaptured",
                                               "ReturnsEachErrorOfCuda",
                                               "KeepsNoState",
                                               "KeepsNoStateOfArguments",
                                               "KeepsNoStateBetweenDevices",
                                               "CoversMoreTilesThanBlocks",
                                               "RefusesBadArguments",
                                               "IsDeterministic",
                                               "ReachesFarElements"};
  auto all = of_kernels(properties::tensor_matmul_tcgen05_laws(properties::Listed::kOfMutants));
  std::erase_if(all, [&](const auto& law) {
    return std::ranges::find(kOfLaunchers, law.name) != std::end(kOfLaunchers);
  });
  for (auto& law : all) law.options.cost *= 12;
  return all;
}

const bool added =
    add_mutation_tests("tensor_matmul_tcgen05", tensor_matmul_tcgen05_mutants(), laws());

}  // namespace
}  // namespace lockstep::known_bad
