// Decodes the descriptors in the registers of tcgen05.mma and cp: the product, and matrices in
// shared memory (PTX ISA 9.7.16.4.1, 9.7.16.4.2).
#pragma once

#include <cstdint>
#include <string>

#include "simulator/engine/ops/matrix/shared_matrix.h"
#include "simulator/matrix/unit.h"
#include "simulator/program/tensor_memory.h"

namespace lockstep::engine {

// A decoded instruction descriptor.
struct TensorProduct {
  matrix::Operation operation;  // types, shape, saturation
  bool packed = false;          // two elements of four bits in a byte
  bool a_negated = false, b_negated = false;
  bool a_across = false, b_across = false;  // A by columns, B by rows
  // Block scale: the first byte of the scales in their word, and the number of scales for a row.
  int row_scale = 0, column_scale = 0, scales = 0;
  bool ue4m3 = false;  // scales are of type ue4m3, not powers of two
  int metadata_column =
      0;  // for a sparse A: the column where the metadata start, relative to their address
  int farthest_column = 0;  // for .ws: the largest column of B that may come first
  // The columns of A that are stored.
  int stored_k() const { return operation.sparse ? operation.shape.k / 2 : operation.shape.k; }
  // The bits of a factor's element in shared and tensor memory.
  int stored_bits() const;
};

// Decodes a descriptor. Returns why it is invalid for this instruction; empty if it is valid.
// `compute_capability`: 10 * major + minor.
std::string understand(std::uint32_t bits, const program::TensorOperation& of,
                       int compute_capability, TensorProduct& product);

// Decodes a descriptor of a matrix in shared memory. Returns why it is invalid; empty if it is
// valid.
std::string understand(std::uint64_t bits, Descriptor& descriptor);
// As above, for a matrix that is stored by columns (`across`) or by rows.
std::string understand(std::uint64_t bits, bool across, int compute_capability,
                       Descriptor& descriptor);

// Moves packed elements of fewer than 8 bits into a byte of their own each. Source: chunks of 16
// bytes that hold 16 packed elements, as kind::f8f6f4 reads them from shared memory (PTX ISA
// 9.7.16.4.3).
void spread_narrow(std::uint64_t* elements, std::size_t count, isa::Type type);

}  // namespace lockstep::engine
