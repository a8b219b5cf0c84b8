// The distribution of matrix elements over lanes and registers: the fragments of mma, wmma and
// related instructions.
//
// Source: PTX ISA 9.0, 9.7.14.5 (mma), 9.7.14.6 (mma.sp) and 9.7.15.5 (wgmma). The layout of wmma
// is not documented; it follows an H100 (docs/journal/silicon.md).
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
  isa::Type type = isa::Type::kNone;  // of an element
  isa::Shape shape;                   // of the instruction
  bool by_columns = false;            // matters for mma.m8n8k4 of f16

  // Rows and columns of the matrix; for a sparse A, the stored columns. mma.m8n8k4 of f16 is four
  // multiplications: the four A's and accumulators are stacked vertically, the four B's
  // horizontally.
  int rows() const;
  int columns() const;
  int bits() const { return isa::bits_of(type); }
  int elements_a_register() const { return bits() >= 32 ? 1 : 32 / bits(); }
  int registers() const;  // for each lane
  int elements() const { return registers() * elements_a_register(); }
};

// Whether the instruction is four multiplications, one by each quarter of a warp.
bool is_quad(const Fragment& fragment);

struct Element {
  int row = 0, column = 0;
};

// Element `n` of lane `lane`: registers in order, and within a register from its low bits upwards.
// Some wmma fragments hold an element in two places.
Element element_of(const Fragment& fragment, int lane, int n);

// For a sparse A: four bits of metadata select the stored columns of a group. A group has 2 columns
// of 32 bits, 4 of 16 or 8 bits, or 8 of 4 bits, in pairs.
struct Sparsity {
  isa::Type type = isa::Type::kNone;  // of A's elements
  isa::Shape shape;

  int group() const;                                // columns
  int groups() const { return shape.k / group(); }  // of a row
  int stored() const { return group() / 2; }        // columns of a group
  // The lane that holds the four bits, and the lowest bit. selector: 0 to isa::sparsity_selectors()
  // - 1.
  struct Place {
    int lane = 0, shift = 0;
  };
  Place place(int row, int group, int selector) const;
  // The column, within its group, of stored element `n`.
  int column(std::uint32_t four_bits, int n) const;
};

}  // namespace lockstep::matrix
