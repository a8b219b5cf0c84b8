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
  std::uint32_t leading = 0;  // bytes from one core matrix to the next along the dimension that is
                              // not contiguous in it (or beyond the swizzled row)
  std::uint32_t stride = 0;   // bytes from eight rows to the next eight
  std::uint32_t base = 0;     // of the pattern that swizzling repeats, in units of its rows
  int swizzle = 0;            // bytes of a row that are permuted: 0, 32, 64 or 128
  bool wide = false;          // of the 128 bytes units of 32 change places, in groups of four lines
  bool absolute = false;      // `leading` is the address at which a line of 128 bytes goes on
};
Descriptor descriptor_of(std::uint64_t bits);

inline constexpr int kChunkBytes = 16;  // a row of a core matrix
// Where chunk `chunk` of line `line` is: lines are rows, or columns where these are contiguous
// (`across`).
std::uint32_t chunk_address(const Descriptor& d, int line, int chunk, bool across);

// Visits the 16-byte chunks of a matrix: visit(address, line, the chunk's first element in it).
template <class Visit>
void each_chunk(const Descriptor& d, int rows, int columns, int bits, bool across, Visit visit) {
  const int lines = across ? columns : rows, along = across ? rows : columns,
            per = 8 * kChunkBytes / bits;
  for (int line = 0; line < lines; ++line) {
    for (int chunk = 0; chunk < along / per; ++chunk)
      visit(chunk_address(d, line, chunk, across), line, chunk * per);
  }
}

// Reads `rows` rows of `columns` elements of `bits` bits each, row by row, into `out`. across: in
// memory a column is contiguous instead. What was read is added to `read`. `issuer`: the lane that
// reads alone (tcgen05), or -1 where the warp does (wgmma). `held`: how many bytes of a chunk there
// are, the others being gaps that nobody need have written. False: a finding ends the launch.
bool read_matrix(Warp& w, const Op& op, const Descriptor& d, int rows, int columns, int bits,
                 bool across, std::uint64_t* out, std::vector<MatrixBytes>& read, int issuer = -1,
                 int held = kChunkBytes);

}  // namespace lockstep::engine
