// Matrices in shared memory that a descriptor names (PTX ISA 9.7.15.5.1, matrix descriptor and its
// layouts).
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/engine/state/warp.h"
#include "simulator/engine/state/warpgroup_state.h"

namespace lockstep::engine {

struct Descriptor {
  std::uint32_t start = 0;    // offset in shared memory
  std::uint32_t leading = 0;  // bytes from one core matrix to the next along its non-contiguous
                              // dimension (or beyond the swizzled row)
  std::uint32_t stride = 0;   // bytes from one group of eight rows to the next
  std::uint32_t base = 0;     // start of the repeating swizzle pattern, in its rows
  int swizzle = 0;            // bytes of a row that are permuted: 0, 32, 64 or 128
  bool wide = false;  // swaps units of 32 bytes instead of 16 in each 128, by groups of four lines
  bool absolute = false;  // `leading` is the address at which a line of 128 bytes continues
};
Descriptor descriptor_of(std::uint64_t bits);

inline constexpr int kChunkBytes = 16;  // a row of a core matrix
// The address of chunk `chunk` of line `line`. Lines are rows, or columns if columns are contiguous
// (`across`).
std::uint32_t chunk_address(const Descriptor& d, int line, int chunk, bool across);

// Visits the 16-byte chunks of a matrix: visit(address, line, index of the chunk's first element in
// the line).
template <class Visit>
void each_chunk(const Descriptor& d, int rows, int columns, int bits, bool across, Visit visit) {
  const int lines = across ? columns : rows, along = across ? rows : columns,
            per = 8 * kChunkBytes / bits;
  for (int line = 0; line < lines; ++line) {
    for (int chunk = 0; chunk < along / per; ++chunk)
      visit(chunk_address(d, line, chunk, across), line, chunk * per);
  }
}

// Reads `rows` rows of `columns` elements of `bits` bits each, row by row, into `out`. `across`:
// columns are contiguous in memory. The bytes read are added to `read`. `issuer`: the lane that
// reads alone (tcgen05), or -1 if the warp reads (wgmma). `held`: bytes of each chunk that exist;
// the others are gaps and may be unwritten. Returns false if a finding ends the launch.
bool read_matrix(Warp& w, const Op& op, const Descriptor& d, int rows, int columns, int bits,
                 bool across, std::uint64_t* out, std::vector<MatrixBytes>& read, int issuer = -1,
                 int held = kChunkBytes);

}  // namespace lockstep::engine
