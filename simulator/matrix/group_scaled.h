// The arithmetic of kind::mxf4 and kind::mxf4nvf4: products of e2m1, with a scale for 16 or 32 of
// them.
//
// The products of 16 elements of a row and a column are summed exactly, and multiplied by the
// significands of their two scales. Such a sum is one term, with the sum of the scales' exponents
// for its own; the accumulator is one more. All are cut, in magnitude, to 35 bits below the largest
// exponent, added, and rounded to f32 toward zero. A term of zero products, a scale of zero and an
// accumulator of zero have the exponent -139. The sign of a scale of ue4m3 does not count.
//
// Sources: PTX ISA 9.0, 9.7.14.3 and 9.7.16.3 (block scaling); MMA-Sim, arXiv 2511.10909, for the
// parameters, which it measured on an RTX PRO 6000 and a B200. Of 96 elements nobody has published
// a measurement: here all six sums and the accumulator are added at once.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"

namespace lockstep::matrix {

// Of one multiplication: `a_line` scales of each row of A and of each column of B: 2 or 4, of 96
// elements 3 or 6. A scale is a byte: of ue8m0, or of ue4m3.
struct GroupScales {
  const std::uint8_t *rows = nullptr, *columns = nullptr;
  int a_line = 2;
  bool ue4m3 = false;
};

// a: shape.m rows of elements of e2m1. b: shape.n columns of shape.k elements. c, d: f32, row by
// row. columns: nullptr, and A's rows have shape.k elements, 64 or 96; or A is sparse, with rows of
// 64, shape.k is 128, and for each of A's elements the column of the whole matrix that it is from.
void multiply_group_scaled(const isa::Shape& shape, const std::uint64_t* a, const std::uint64_t* b,
                           const std::uint64_t* c, const std::uint8_t* columns,
                           const GroupScales& scales, std::uint64_t* d);

}  // namespace lockstep::matrix
