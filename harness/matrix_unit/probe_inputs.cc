#include "harness/matrix_unit/probe_inputs.h"

#include <algorithm>
#include <cmath>

namespace lockstep::matrix_unit {

Dot Inputs::zeros() const {
  const auto k = static_cast<std::size_t>(f_.k);
  return {std::vector<std::uint64_t>(k), std::vector<std::uint64_t>(k), 0};
}

bool Inputs::factors(Dot& dot, int k, double x, double y, bool allow_subnormal) const {
  const auto at = static_cast<std::size_t>(k);
  return encode(x, f_.a, allow_subnormal, dot.a[at]) && encode(y, f_.b, allow_subnormal, dot.b[at]);
}

// Splits a value into a power of two and the rest, about halfway.
bool Inputs::split(Dot& dot, int k, double value, bool allow_subnormal) const {
  const auto least = [&](const NumberFormat& f) {
    return allow_subnormal ? f.quantum_exponent() : f.least_exponent();
  };
  const int exponent = std::ilogb(value);
  int of_b = std::clamp(exponent / 2, least(f_.b), f_.b.greatest_exponent());
  const int of_a = std::clamp(exponent - of_b, least(f_.a), f_.a.greatest_exponent());
  of_b = exponent - of_a;
  const double rest = std::ldexp(value, -exponent);
  return factors(dot, k, std::ldexp(rest, of_a), std::ldexp(1.0, of_b), allow_subnormal) ||
         factors(dot, k, std::ldexp(1.0, of_a), std::ldexp(rest, of_b), allow_subnormal);
}

bool Inputs::product(Dot& dot, int k, double value) const {
  return split(dot, k, value, false) || (subnormal_ && split(dot, k, value, true));
}

bool Inputs::c(Dot& dot, double value) const { return encode(value, f_.d, true, dot.c); }

int Inputs::least_product() const {
  const auto least = [&](const NumberFormat& f) {
    return subnormal_ ? f.quantum_exponent() : f.least_exponent();
  };
  return least(f_.a) + least(f_.b);
}

int Inputs::greatest_product() const { return f_.a.greatest_exponent() + f_.b.greatest_exponent(); }

}  // namespace lockstep::matrix_unit
