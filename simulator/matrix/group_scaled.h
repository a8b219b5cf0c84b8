// The arithmetic of kind::mxf4 and kind::mxf4nvf4: products of e2m1, with a scale for each 16 or
// 32.
//
// The products of 16 elements of a row and a column are summed exactly and multiplied by the
// significands of their two scales. The result is one term, whose exponent is the sum of the
// scales' exponents. The accumulator is a further term. All terms are truncated, in magnitude, to
// 35 bits below the largest exponent, added, and rounded to f32 toward zero. A term with zero
// products, a zero scale and a zero accumulator have the exponent -139. The sign of a ue4m3 scale
// is ignored.
//
// Sources: PTX ISA 9.0, 9.7.14.3 and 9.7.16.3 (block scaling); MMA-Sim, arXiv 2511.10909, for the
// parameters, measured there on an RTX PRO 6000 and a B200. No measurement has been published for
// 96 elements: here all six sums and the accumulator are added at once.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"

namespace lockstep::matrix {

// The scales of one multiplication: `per_line` scales for each row of A and each column of B: 2 or
// 4, for 96 elements 3 or 6. A scale is a byte, either ue8m0 or ue4m3.
struct GroupScales {
  const std::uint8_t *rows = nullptr, *columns = nullptr;
  int per_line = 2;
  bool ue4m3 = false;
};

// a: shape.m rows of e2m1 elements. b: shape.n columns of shape.k elements. c, d: f32, row by row.
// columns: nullptr if A is dense; its rows then have shape.k elements, 64 or 96. If A is sparse,
// its rows have 64 elements, shape.k is 128, and `columns` has the column in the whole matrix of
// each element of A.
void multiply_group_scaled(const isa::Shape& shape, const std::uint64_t* a, const std::uint64_t* b,
                           const std::uint64_t* c, const std::uint8_t* columns,
                           const GroupScales& scales, std::uint64_t* d);

}  // namespace lockstep::matrix
