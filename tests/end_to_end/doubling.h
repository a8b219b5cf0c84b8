// One case type and one check for every kernel of faults.h.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/property/compare.h"
#include "harness/property/field.h"
#include "harness/property/values.h"
#include "tests/end_to_end/faults.h"

namespace lockstep::end_to_end {

struct DoubleCase {
  std::int64_t n = 0;
  int threads = 1024;
  int misalignment = 0;
  Poison poison = Poison::kNaN;
  Values values;
  static void fields(DoubleCase& c, FieldVisitor& field) {
    field("n", c.n, sizes(0, 1024));
    field("threads", c.threads, one_of<int>({1024}));
    field("misalignment", c.misalignment, range<int>(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values, values_of({ValueKind::kSmallIntegers, ValueKind::kUniform}));
  }
};

// y = 2 x is exact in binary floating point: the bits must be equal.
inline void check(Launcher launch, const DoubleCase& c) {
  const auto x = make_values<float>(c.values, static_cast<std::size_t>(c.n));
  const Layout layout{c.misalignment, c.poison};
  const auto in = DeviceArray<float>::input("x", x, layout);
  auto out = DeviceArray<float>::output("y", x.size(), layout);
  REQUIRE_CUDA(launch(in.data(), out.data(), static_cast<int>(c.n), c.threads));
  std::vector<float> expected = x;
  for (float& v : expected) v *= 2;
  REQUIRE_BITWISE_EQUAL(out, expected);
}

}  // namespace lockstep::end_to_end
