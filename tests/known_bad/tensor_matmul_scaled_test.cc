// Runs the laws of the product with block scaling on its mutants and negative controls.
#include "properties/tensor_matmul_scaled.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tests/known_bad/launcher_mutants.h"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

// Without the laws about launchers (state between calls, streams, other devices), which the kernels
// here do not change. The broken launchers below are judged by those.
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

struct ScaledFamily : One<&kernels::tensor_matmul_scaled> {
  static constexpr std::uint8_t kLast = 1;  // the last kind of elements
  static std::uint8_t edge(const auto& a) { return static_cast<std::uint8_t>(std::get<0>(a)); }
  // The largest number of rows that is promised for this number of columns.
  static constexpr std::int64_t kLastOfFew = std::int64_t{1} << 16;
  static std::int64_t few(const auto& a) { return std::get<1>(a).rows; }
};

const bool added = [] {
  add_mutation_tests("tensor_matmul_scaled", tensor_matmul_scaled_mutants(), laws());
  add_mutation_tests("tensor_matmul_scaled_launcher", mutants_of<ScaledFamily>(),
                     batteries(properties::tensor_matmul_scaled_laws()));
  return true;
}();

}  // namespace
}  // namespace lockstep::known_bad
