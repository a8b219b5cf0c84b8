// The laws of the product with block scale, run on its mutants and negative controls.
#include "properties/tensor_matmul_scaled.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tests/known_bad/mutation_test.h"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

// What a launcher does between calls, on its stream and on another device is not the kernel's:
// launchers_test.cc has that of the other launcher.
auto laws() {
  constexpr std::string_view kOfLaunchers[] = {
      "HoldsOnASecondDevice",       "WorksOnItsStream",   "CanBeCaptured",
      "ReturnsEachErrorOfCuda",     "KeepsNoState",       "KeepsNoStateOfArguments",
      "KeepsNoStateBetweenDevices", "RefusesBadArguments"};
  auto all = of_kernels(properties::tensor_matmul_scaled_laws());
  std::erase_if(all, [&](const auto& law) {
    return std::ranges::find(kOfLaunchers, law.name) != std::end(kOfLaunchers);
  });
  for (auto& law : all) law.options.cost *= 8;
  return all;
}

const bool added =
    add_mutation_tests("tensor_matmul_scaled", tensor_matmul_scaled_mutants(), laws());

}  // namespace
}  // namespace lockstep::known_bad
