// Operations on matrices that are distributed over the lanes of a warp (PTX ISA 9.7.14).
//
// SyncFields::kind() is SyncKind::kWholeWarp. Op::immediate is the index into Program::matrices;
// lanes that arrive one after the other find each other by it. Actions:
// - kWarpgroupFence, kWarpgroupCommit: no operands.
// - kWarpgroupWait: src[0] is a constant, the number of groups that may still be pending.
// - kWarpgroupMultiply: every warp computes its 16 of the 64 rows; d, a and b are those of one
//   warp.
// - kLoadMatrix, kStoreMatrix: ldmatrix, stmatrix. elements: matrices. ListedFields: one register a
//   matrix.
// - kMoveMatrix: movmatrix from src[1] to dst.
// - kLoadFragment, kStoreFragment: wmma.load, wmma.store. src[1]: stride in elements, or kNoSlot.
//   width: bytes of an access.
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
  int registers = 0;        // of each lane
  int bits = 0;             // of each element
  int rows = 0, columns = 0;
  // At l * elements + n: the index of lane l's element n in the matrix, row by row; column by
  // column for a B.
  std::vector<std::uint16_t> places;

  int elements() const { return static_cast<int>(places.size()) / kWarpSize; }
};

struct Matrix {
  matrix::Operation operation;
  MatrixRegisters d, a, b, c;
  int multiplications = 1;  // 4 for mma.m8n8k4, where each quarter of a warp has its own
  // mma.sp: the register of the metadata and, for each group of columns of A, row by row, the place
  // of the group's four bits.
  Slot metadata = kNoSlot;
  struct Bits {
    std::uint8_t lane = 0, shift = 0;
  };
  std::vector<Bits> metadata_places;
  // mma with a kind: an element with fewer than eight bits has a byte, which is shifted by `shift`
  // and masked. Elements of four bits are packed instead.
  struct Narrow {
    int shift = 0;
    std::uint8_t mask = 0xff;
  };
  Narrow narrow_a, narrow_b;
  bool packed = false;
  // Scales of rows and columns: a register, and two 16-bit registers or constants that select the
  // first byte and the threads of a quad that have the scales. scales_per_line: bytes; 0 if nothing
  // is scaled.
  struct Scales {
    Slot data = kNoSlot, byte = kNoSlot, thread = kNoSlot;
  };
  Scales row_scales, column_scales;
  int scales_per_line = 0;
  bool fine_scales = false;  // the scales are ue4m3
  // wgmma: the descriptors of A (kNoSlot: A is in registers) and B; the predicate, without which C
  // is zero; factors of -1; and whether A is stored by columns and B by rows.
  struct Descriptors {
    Slot a = kNoSlot, b = kNoSlot;
    Slot accumulates = kNoSlot;
    bool a_negated = false, b_negated = false, a_across = false, b_across = false;
  } descriptors;
  // wmma.load and wmma.store, with fragment d: the matrix's order in memory, and its stride if the
  // instruction has none.
  bool by_columns = false;
  bool d_by_columns = false;  // d has the layout of a B
  // For each of d.places: its row in memory, or its column if by_columns, and its place there.
  std::vector<std::uint8_t> lines, places_in_line;
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
  // Rows of 16 bytes. kHalves: elements of two bytes; kHalvesAcross: transposed. kBytesAcross16 and
  // kBytesAcross8: elements of one byte, transposed, with 16 rows in two registers or 8 in one.
  enum class Kind : std::uint8_t { kHalves, kHalvesAcross, kBytesAcross16, kBytesAcross8 };
  Kind kind() const { return static_cast<Kind>(what() & 3); }
  // The bits of an element in memory. A row has 16 of them, and each is extended to a byte in
  // registers. 0: elements are not extended.
  int narrow_bits() const { return what() >> 2; }
  void set(Kind kind, int narrow_bits) {
    what() = static_cast<std::uint8_t>(static_cast<int>(kind) | narrow_bits << 2);
  }
};

}  // namespace lockstep::program
