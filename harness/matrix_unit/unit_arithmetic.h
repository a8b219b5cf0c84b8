// How a matrix unit computes one element of D = A * B + C, as parameters, and what it computes if
// these are they.
//
// An element is C plus k products. The products are summed in steps. In a step every term (its
// products, and what the steps before have left) is cut to some bits below the largest exponent of
// all terms; what is left is summed without error, and the sum rounded to D's type. C is a term of
// the first step, or is added to the result at the end.
//
// These are the rules that the literature found on silicon (docs/reference/matrix.md has the
// sources), with each constant free: the probe measures them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/matrix_unit/number_format.h"

namespace lockstep::matrix_unit {

// The numbers of one instruction form.
struct Formats {
  NumberFormat a, b, d;
  int k = 0;
};

// One element: k elements of A's row, k of B's column, and C's.
struct Dot {
  std::vector<std::uint64_t> a, b;
  std::uint64_t c = 0;
};

// Where what does not fit goes.
enum class Direction : std::uint8_t { kZero, kNearestEven, kDown, kUp, kNearestAway };
std::string text_of(Direction d);  // "toward zero"

// Bits that are kept where no limit was found: more than any sum of terms that can be told apart.
inline constexpr int kExactBits = 90;

struct UnitArithmetic {
  std::vector<std::vector<int>> steps;             // of k, in the order in which they are summed
  bool adds_c_last = false;                        // else C is a term of the first step
  Direction c_rounding = Direction::kNearestEven;  // of that addition

  int fraction_bits = kExactBits;    // kept below the largest exponent
  Direction cut = Direction::kZero;  // of a term's bits below these
  bool normalises_products = false;  // a product of 2 or more has the exponent above
  bool normalises_subnormals =
      false;  // a subnormal factor has an exponent of its own instead of the least
  int zero_exponent = -100000;   // of a term that is zero
  int result_fraction_bits = 0;  // of a sum, after each step
  Direction rounding = Direction::kZero;

  bool subnormal_factors = true;  // count; else they are zero
  bool subnormal_c = true;
  bool subnormal_results = true;
  bool keeps_minus_zero = false;          // a sum of nothing but -0 is -0
  bool underflows_to_minus_zero = false;  // a negative sum that rounds to zero is -0
  bool overflows_to_infinity = true;      // else to the greatest number
  std::uint64_t nan = 0;                  // what every NaN becomes
  bool hands_nan_on = false;              // no: a NaN of the operands goes on, whichever
};

// D's bits. Where a NaN is handed on, any NaN of D's format. D of f64 only with steps of one
// product that are exact and rounded to the nearest; throws std::invalid_argument for others.
std::uint64_t element_of(const UnitArithmetic& unit, const Formats& formats, const Dot& dot);

}  // namespace lockstep::matrix_unit
