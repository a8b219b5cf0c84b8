#include "simulator/vectors/tolerance.h"

#include <algorithm>
#include <cmath>

namespace lockstep::vectors {
namespace {

using isa::Opcode;
using isa::Type;

struct Format {
  int fraction_bits, exponent_bits;
};
constexpr Format kF16{10, 5}, kBF16{7, 8}, kF32{23, 8}, kF64{52, 11};

double value_of(std::uint64_t bits, Format f) {
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << f.fraction_bits) - 1);
  const int exponent = static_cast<int>(bits >> f.fraction_bits & ((1u << f.exponent_bits) - 1));
  const int top = (1 << f.exponent_bits) - 1, bias = top / 2;
  const bool negative = bits >> (f.fraction_bits + f.exponent_bits) & 1;
  double v;
  if (exponent == top) {
    v = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    v = std::ldexp(static_cast<double>(fraction), 1 - bias - f.fraction_bits);
  } else {
    v = std::ldexp(static_cast<double>(fraction | std::uint64_t{1} << f.fraction_bits),
                   exponent - bias - f.fraction_bits);
  }
  return negative ? -v : v;
}

// The last place of a number.
double ulp(double v, Format f) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const int exponent = v == 0 ? 1 - bias : std::max(std::ilogb(v), 1 - bias);
  return std::ldexp(1.0, exponent - f.fraction_bits);
}

// The documented error of an approximate instruction whose result is `result`.
double bound(const VectorForm& form, std::span<const std::uint64_t> inputs, double result, Format f,
             std::size_t element) {
  const double magnitude = std::fabs(result);
  const bool bf16 = f.exponent_bits == 8 && f.fraction_bits == 7;
  const std::uint64_t operand = inputs.empty() ? 0 : inputs[0] >> (16 * element);
  switch (form.spelling.form->row->opcode) {
    case Opcode::k_rcp: return f.fraction_bits == 52 ? magnitude * 0x1p-20 : ulp(result, f);
    case Opcode::k_rsqrt:
      return f.fraction_bits == 52 ? magnitude * 0x1p-20 : magnitude * std::exp2(-22.9);
    case Opcode::k_sqrt: return magnitude * 0x1p-23;
    case Opcode::k_div: return 2 * ulp(result, f);
    case Opcode::k_ex2:
      if (f.fraction_bits == 23) return 2 * ulp(result, f);
      return bf16 ? magnitude * 0x1p-7 : magnitude * std::exp2(-9.9);
    case Opcode::k_tanh:
      if (f.fraction_bits == 23) return magnitude * 0x1p-11;
      return bf16 ? 0x1p-8 : std::exp2(-10.987);
    case Opcode::k_lg2: {
      const double x = value_of(operand & 0xffffffff, f);
      return x > 0.5 && x < 2 ? 0x1p-22 : magnitude * 0x1p-22;
    }
    case Opcode::k_sin:
    case Opcode::k_cos: {
      const double x = std::fabs(value_of(operand & 0xffffffff, f));
      return x <= 2 * M_PI     ? std::exp2(-20.5)
             : x <= 100 * M_PI ? std::exp2(-14.7)
                               : 2;  // beyond, the manual promises nothing
    }
    default: return 0;
  }
}

bool is_nan64(std::uint64_t v) { return (v & 0x7fffffffffffffff) > 0x7ff0000000000000; }

// f64 addition and multiplication return a NaN operand, quieted. With two NaNs, ptxas may put
// either first.
bool hands_on_a_nan(const VectorForm& form, std::span<const std::uint64_t> inputs,
                    std::uint64_t recorded) {
  const Opcode op = form.spelling.form->row->opcode;
  if (op != Opcode::k_add && op != Opcode::k_sub && op != Opcode::k_mul && op != Opcode::k_atom &&
      op != Opcode::k_red)
    return false;
  if (form.spelling.modifiers.type != Type::kF64 || inputs.size() != 2 || !is_nan64(inputs[0]) ||
      !is_nan64(inputs[1]))
    return false;
  const std::uint64_t quiet = std::uint64_t{1} << 51;
  return (recorded | quiet) == (inputs[0] | quiet) || (recorded | quiet) == (inputs[1] | quiet);
}

bool elements_agree(const VectorForm& form, std::span<const std::uint64_t> inputs,
                    std::uint64_t recorded, std::uint64_t got, Format f, std::size_t element) {
  if (recorded == got) return true;
  const double a = value_of(recorded, f), b = value_of(got, f);
  if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b)) return false;
  // ex2 of f16: among subnormals, down to zero, hardware may be off by one ulp.
  const double smallest = std::ldexp(1.0, 2 - (1 << (f.exponent_bits - 1)));
  const double subnormal = f.fraction_bits == 10 && std::fabs(b) < smallest ? ulp(b, f) / 2 : 0;
  return std::fabs(a - b) <= bound(form, inputs, a, f, element) + ulp(b, f) / 2 + subnormal;
}

}  // namespace

bool agree(const VectorForm& form, std::size_t output, std::span<const std::uint64_t> inputs,
           std::uint64_t recorded, std::uint64_t got) {
  if (recorded == got || hands_on_a_nan(form, inputs, recorded)) return true;
  if (!form.spelling.modifiers.approx && !form.spelling.modifiers.full) return false;
  switch (form.outputs[output].type) {
    case Type::kF32: return elements_agree(form, inputs, recorded, got, kF32, 0);
    case Type::kF64: return elements_agree(form, inputs, recorded, got, kF64, 0);
    case Type::kF16: return elements_agree(form, inputs, recorded, got, kF16, 0);
    case Type::kBF16: return elements_agree(form, inputs, recorded, got, kBF16, 0);
    case Type::kF16x2:
    case Type::kBF16x2: {
      const Format f = form.outputs[output].type == Type::kF16x2 ? kF16 : kBF16;
      return elements_agree(form, inputs, recorded & 0xffff, got & 0xffff, f, 0) &&
             elements_agree(form, inputs, recorded >> 16, got >> 16, f, 1);
    }
    default: return false;
  }
}

}  // namespace lockstep::vectors
