// Operations on matrices that the lanes of a warp hold together (PTX ISA 9.7.14).
//
// SyncFields::kind() is SyncKind::kWholeWarp and Op::immediate the index into Program::matrices, by
// which lanes that come one after the other find one another. Action::kWarpgroupFence,
// kWarpgroupCommit: no operands. kWarpgroupWait: src[0] a constant, the groups that may be left.
// Action::kWarpgroupMultiply: every warp computes its 16 rows of the 64; d, a and b are those of
// one warp. Action::kLoadMatrix, kStoreMatrix: ldmatrix, stmatrix. elements: matrices;
// ListedFields: a register each. Action::kMoveMatrix:
// movmatrix, of src[1] to dst. Action::kLoadFragment, kStoreFragment: wmma.load, wmma.store.
// src[1]: stride in elements, or kNoSlot; width: bytes of an access.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/matrix/unit.h"
#include "simulator/program/copies.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// A matrix in the registers of a warp.
struct MatrixRegisters {
  std::uint32_t first = 0;  // index into Program::slots of the first register
  int registers = 0;        // of a lane
  int bits = 0;             // of an element
  int rows = 0, columns = 0;
  // Of element n of lane l, at l * elements + n: its index in the matrix row by row, or of a B
  // column by column.
  std::vector<std::uint16_t> places;

  int elements() const { return static_cast<int>(places.size()) / kWarpSize; }
};

struct Matrix {
  matrix::Operation operation;
  MatrixRegisters d, a, b, c;
  int multiplications = 1;  // four quarters of a warp each have one of mma.m8n8k4
  // mma.sp: register of the metadata, and for each group of columns of A, row by row, where its
  // four bits are.
  Slot metadata = kNoSlot;
  struct Bits {
    std::uint8_t lane = 0, shift = 0;
  };
  std::vector<Bits> metadata_places;
  // mma with a kind: elements of fewer than eight bits have a byte each, which is moved by this
  // many bits and masked. Of four bits they are packed instead.
  struct Narrow {
    int shift = 0;
    std::uint8_t mask = 0xff;
  };
  Narrow narrow_a, narrow_b;
  bool packed = false;
  // Scales of rows and columns: a register, and two of 16 bits (or constants), the first byte and
  // which threads of a quad have them. a_line: bytes; 0: none are scaled.
  struct Scales {
    Slot data = kNoSlot, byte = kNoSlot, thread = kNoSlot;
  };
  Scales row_scales, column_scales;
  int scales_a_line = 0;
  bool fine_scales = false;  // of ue4m3
  // wgmma: descriptors of A (kNoSlot: it is in registers) and B, the predicate without which C is
  // zero, factors of -1, and whether they lie across: A by columns, B by rows.
  struct Descriptors {
    Slot a = kNoSlot, b = kNoSlot;
    Slot accumulates = kNoSlot;
    bool a_negated = false, b_negated = false, a_across = false, b_across = false;
  } descriptors;
  // wmma.load and wmma.store, whose fragment is d: how the matrix lies in memory, and its stride
  // where none is given.
  bool by_columns = false;
  bool d_by_columns = false;         // the places of d are those of a B
  std::uint32_t natural_stride = 0;  // elements
  // Of what loads or stores.
  AddressOperand address;
};

// ldmatrix, stmatrix.
class MatrixRowsFields : public Fields {
 public:
  explicit MatrixRowsFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) {
    return a == Action::kLoadMatrix || a == Action::kStoreMatrix;
  }
  // Rows of 16 bytes: of two bytes an element, as they stand or across; of one byte across, 16 rows
  // with two registers or 8 with one.
  enum class Kind : std::uint8_t { kHalves, kHalvesAcross, kBytesAcross16, kBytesAcross8 };
  Kind kind() const { return static_cast<Kind>(what() & 3); }
  // Bits of an element in memory, 16 of them in a row, that gets a byte in registers; 0: none does.
  int narrow_bits() const { return what() >> 2; }
  void set(Kind kind, int narrow_bits) {
    what() = static_cast<std::uint8_t>(static_cast<int>(kind) | narrow_bits << 2);
  }
};

}  // namespace lockstep::program
