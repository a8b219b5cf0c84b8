// The arithmetic of a matrix unit for one element of D = A * B + C, as parameters, and a function
// that computes the element with them.
//
// An element is C plus k products, summed in steps. The terms of a step are its products and the
// result of the steps before. Each term is cut to some bits below the largest exponent of all
// terms. The remaining bits are summed exactly, and the sum is rounded to D's type. C is a term of
// the first step, or is added to the result at the end.
//
// These are the rules that the literature found on silicon (docs/reference/matrix.md lists the
// sources). Each constant is a parameter here; the probe measures them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/matrix_unit/number_format.h"

namespace lockstep::matrix_unit {

// The number formats of one instruction form.
struct Formats {
  NumberFormat a, b, d;
  int k = 0;
};

// The inputs of one element: k elements of A's row, k of B's column, and C.
struct Dot {
  std::vector<std::uint64_t> a, b;
  std::uint64_t c = 0;
};

// The direction of rounding.
enum class Direction : std::uint8_t { kZero, kNearestEven, kDown, kUp, kNearestAway };
std::string text_of(Direction d);  // "toward zero"

// The number of bits if no limit was found: more than any distinguishable sum of terms has.
inline constexpr int kExactBits = 90;

struct UnitArithmetic {
  std::vector<std::vector<int>> steps;             // the k of each step, in the order of summation
  bool adds_c_last = false;                        // otherwise C is a term of the first step
  Direction c_rounding = Direction::kNearestEven;  // of the addition of C at the end

  int fraction_bits = kExactBits;    // bits kept below the largest exponent
  Direction cut = Direction::kZero;  // for the bits of a term below these
  bool normalises_products = false;  // a product of 2 or more has the next larger exponent
  bool normalises_subnormals =
      false;  // a subnormal factor is normalised; otherwise it has the least exponent
  int zero_exponent = -100000;   // of a zero term
  int result_fraction_bits = 0;  // of a sum, after each step
  Direction rounding = Direction::kZero;

  bool subnormal_factors = true;  // count; otherwise they are zero
  bool subnormal_c = true;
  bool subnormal_results = true;
  bool keeps_minus_zero = false;          // a sum of -0 only is -0
  bool underflows_to_minus_zero = false;  // a negative sum that rounds to zero is -0
  bool overflows_to_infinity = true;      // otherwise to the largest number
  std::uint64_t nan = 0;                  // the bits of every NaN result
  bool hands_nan_on = false;  // a NaN operand is the result, whichever; `nan` is then unused
};

// Computes the bits of D. With hands_nan_on a NaN result is any NaN of D's format. For D of f64,
// throws std::invalid_argument unless each step has one exact product and rounds to nearest.
std::uint64_t element_of(const UnitArithmetic& unit, const Formats& formats, const Dot& dot);

}  // namespace lockstep::matrix_unit
