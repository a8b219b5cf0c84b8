// The layout of fragments: which element of a matrix each register of a lane holds, for mma, wmma
// and related instructions.
//
// Source: PTX ISA 9.0, 9.7.14.5 (mma), 9.7.14.6 (mma.sp) and 9.7.15.5 (wgmma). The layout of wmma
// is not documented; it was recorded on an H100 (docs/journal/silicon.md).
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"

namespace lockstep::matrix {

enum class Which : std::uint8_t { kA, kB, kC };  // kC: the accumulator, and the result

enum class Family : std::uint8_t {
  kMma,
  kMmaSparse,
  kWmma,
  kWarpgroup,
  kWarpgroupSparse
};  // kWarpgroup: the 16 rows of one warp

struct Fragment {
  Family family = Family::kMma;
  Which which = Which::kA;
  isa::Type type = isa::Type::kNone;  // of each element
  isa::Shape shape;                   // of the instruction
  bool by_columns = false;            // only if the layout depends on it: mma.m8n8k4 of f16

  // Rows and columns of the matrix; for a sparse A, the stored columns. mma.m8n8k4 of f16 is four
  // multiplications: the A matrices and the accumulators are stacked vertically, the B matrices
  // side by side.
  int rows() const;
  int columns() const;
  int bits() const { return isa::bits_of(type); }
  int elements_a_register() const { return bits() >= 32 ? 1 : 32 / bits(); }
  int registers() const;  // of each lane
  int elements() const { return registers() * elements_a_register(); }
};

// Whether an instruction consists of four multiplications, one by each quarter of the warp.
bool is_quad(const Fragment& fragment);

struct Element {
  int row = 0, column = 0;
};

// Element `n` of lane `lane`: registers in order, each from its low bits up. Some fragments of wmma
// hold an element twice.
Element element_of(const Fragment& fragment, int lane, int n);

// The metadata of a sparse A: four bits select the stored columns of a group. A group has 2 columns
// of 32 bits, 4 of 16 or 8 bits, or 8 of 4 bits, which are selected in pairs.
struct Sparsity {
  isa::Type type = isa::Type::kNone;  // of A's elements
  isa::Shape shape;

  int group() const;                                // columns
  int groups() const { return shape.k / group(); }  // in each row
  int stored() const { return group() / 2; }        // columns in each group
  // The lane that holds the four bits, and the position of the lowest. selector: 0 to
  // isa::sparsity_selectors() - 1.
  struct Place {
    int lane = 0, shift = 0;
  };
  Place place(int row, int group, int selector) const;
  // The column of stored element `n` within its group.
  int column(std::uint32_t four_bits, int n) const;
};

}  // namespace lockstep::matrix
