// What the registers of tcgen05.mma and cp describe: the product, and matrices in shared memory
// (PTX ISA 9.7.16.4.1, 9.7.16.4.2).
#pragma once

#include <cstdint>
#include <string>

#include "simulator/engine/ops/matrix/shared_matrix.h"
#include "simulator/matrix/unit.h"
#include "simulator/program/tensor_memory.h"

namespace lockstep::engine {

// An instruction descriptor, understood.
struct TensorProduct {
  matrix::Operation operation;  // types, shape, saturation
  bool packed = false;          // two elements of four bits in a byte
  bool a_negated = false, b_negated = false;
  bool a_across = false, b_across = false;  // A by columns, B by rows
  // Block scale: the first byte of a word that has some, and how many there are for a row.
  int row_scale = 0, column_scale = 0, scales = 0;
  bool ue4m3 = false;       // scales are of that type, and not powers of two
  int metadata_column = 0;  // of a sparse A: how far behind their address the metadata begin
  int farthest_column = 0;  // .ws: by how many columns of B its first may be moved
  // Columns of A that are stored.
  int stored_k() const { return operation.sparse ? operation.shape.k / 2 : operation.shape.k; }
  // Bits of a factor in shared and in tensor memory.
  int stored_bits() const;
};

// Why a descriptor is none of this instruction's; empty when it is. compute_capability: 10 times.
std::string understand(std::uint32_t bits, const program::TensorOperation& of,
                       int compute_capability, TensorProduct& product);

// A descriptor of a matrix in shared memory. Why it is none; empty when it is.
std::string understand(std::uint64_t bits, Descriptor& descriptor);
// The same for a matrix that is stored by columns (`across`), or by rows.
std::string understand(std::uint64_t bits, bool across, int compute_capability,
                       Descriptor& descriptor);

// A factor as it is stored, a byte of 16 that hold 16 packed elements of fewer bits, in a byte of
// its own: what kind::f8f6f4 reads of shared memory (PTX ISA 9.7.16.4.3).
void spread_narrow(std::uint64_t* elements, std::size_t count, isa::Type type);

}  // namespace lockstep::engine
