// Operations on matrices that the lanes of a warp hold together (PTX ISA 9.7.14).
//
// SyncFields::kind() is SyncKind::kWholeWarp. Op::immediate is the index into Program::matrices;
// lanes that arrive separately match by it.
// - Action::kWarpgroupFence, kWarpgroupCommit: no operands. kWarpgroupWait: src[0] is a constant,
//   the number of groups that may be unfinished.
// - Action::kWarpgroupMultiply: every warp computes its 16 of the 64 rows; d, a and b are those of
//   one warp.
// - Action::kLoadMatrix, kStoreMatrix: ldmatrix, stmatrix. elements: number of matrices;
//   ListedFields: one register for each.
// - Action::kMoveMatrix: movmatrix, from src[1] to dst.
// - Action::kLoadFragment, kStoreFragment: wmma.load, wmma.store. src[1]: stride in elements, or
//   kNoSlot; width: bytes of an access.
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
  int registers = 0;        // for each lane
  int bits = 0;             // for each element
  int rows = 0, columns = 0;
  // For element n of lane l, at index l * elements + n: its index in the matrix, row by row (for B,
  // column by column).
  std::vector<std::uint16_t> places;

  int elements() const { return static_cast<int>(places.size()) / kWarpSize; }
};

struct Matrix {
  matrix::Operation operation;
  MatrixRegisters d, a, b, c;
  int multiplications = 1;  // four quarters of a warp each have one of mma.m8n8k4
  // mma.sp: the register of the metadata and, for each group of columns of A, row by row, the
  // position of its four bits.
  Slot metadata = kNoSlot;
  struct Bits {
    std::uint8_t lane = 0, shift = 0;
  };
  std::vector<Bits> metadata_places;
  // mma with a kind: elements of fewer than eight bits occupy a byte each, which is shifted by this
  // many bits and masked. Elements of four bits are packed instead.
  struct Narrow {
    int shift = 0;
    std::uint8_t mask = 0xff;
  };
  Narrow narrow_a, narrow_b;
  bool packed = false;
  // Scales of rows and columns: a register, and two 16-bit registers or constants, the first byte
  // and the threads of a quad that hold them. a_line: bytes for each row; 0: no scales.
  struct Scales {
    Slot data = kNoSlot, byte = kNoSlot, thread = kNoSlot;
  };
  Scales row_scales, column_scales;
  int scales_a_line = 0;
  bool fine_scales = false;  // scales are of type ue4m3
  // wgmma: the descriptors of A (kNoSlot: in registers) and B, the predicate without which C counts
  // as zero, the factors of -1, and whether A is stored by columns and B by rows.
  struct Descriptors {
    Slot a = kNoSlot, b = kNoSlot;
    Slot accumulates = kNoSlot;
    bool a_negated = false, b_negated = false, a_across = false, b_across = false;
  } descriptors;
  // wmma.load and wmma.store, with fragment d: the layout of the matrix in memory, and the stride
  // if none is given.
  bool by_columns = false;
  bool d_by_columns = false;         // the places of d are those of a B
  std::uint32_t natural_stride = 0;  // elements
  // The address of a load or store.
  AddressOperand address;
};

// ldmatrix, stmatrix.
class MatrixRowsFields : public Fields {
 public:
  explicit MatrixRowsFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) {
    return a == Action::kLoadMatrix || a == Action::kStoreMatrix;
  }
  // Rows of 16 bytes. Elements of two bytes, direct or transposed; elements of one byte transposed,
  // 16 rows in two registers or 8 rows in one.
  enum class Kind : std::uint8_t { kHalves, kHalvesAcross, kBytesAcross16, kBytesAcross8 };
  Kind kind() const { return static_cast<Kind>(what() & 3); }
  // Bits of a packed element, 16 in a row, that occupies a byte in registers; 0: not packed.
  int narrow_bits() const { return what() >> 2; }
  void set(Kind kind, int narrow_bits) {
    what() = static_cast<std::uint8_t>(static_cast<int>(kind) | narrow_bits << 2);
  }
};

}  // namespace lockstep::program
