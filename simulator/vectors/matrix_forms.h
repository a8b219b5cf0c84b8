// Kernels that execute one matrix instruction each on tiles of their own: what is recorded on a GPU
// and replayed on the simulated one.
//
// As vectors.h, but the unit is a tile: what the lanes of one warp, or of the four of a warpgroup,
// compute together. A kernel has two parameters, the addresses of its input and its output. A
// tile's input is a row of sections, one a matrix (or other operand), each `lanes` times `words`
// words of 32 bits; the next tile's input follows it. Where the instruction takes registers, lane l
// has the l-th part of a section; where it takes an address, the section is the matrix itself in
// memory. Outputs likewise. Of every tile's output 32 bits of a digest are kept: a tile that
// differs shows, and can be computed again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/isa/form_examples.h"

namespace lockstep::vectors {

inline constexpr int kThreadsABlock = 128;

struct Section {
  isa::Type type = isa::Type::kNone;  // of an element; kB32: anything
  int words = 0;                      // a lane's, of 32 bits
  enum class Use : std::uint8_t {
    kFactor,
    kAccumulator,
    kMetadata,  // of a sparse matrix
    kAny,
  } use = Use::kAny;
};

struct MatrixForm {
  static constexpr const char* kArchitecture = "sm_90a";
  std::string name;  // the instruction, unique
  isa::Spelling spelling;
  std::string entry;   // name of the kernel
  std::string kernel;  // its text
  std::vector<Section> inputs, outputs;
  int lanes = 32;   // of a tile
  int tiles = 512;  // of a recording

  int blocks() const { return tiles * lanes / kThreadsABlock; }
  int input_words() const;   // of a tile
  int output_words() const;  // of a tile
};

// All forms that the lanes of one warp or warpgroup execute on matrices and that exist on sm_90 or
// sm_90a.
std::vector<MatrixForm> matrix_forms();

// The input of all tiles: numbers of all sizes, near one, tiny, huge, with zeros, NaNs and
// infinities, and such that cancel; the same for every call.
std::vector<std::uint32_t> matrix_inputs(const MatrixForm& form);
// The input of `tiles` others, by `seed`.
std::vector<std::uint32_t> matrix_inputs(const MatrixForm& form, std::uint64_t seed, int tiles);

// A module for sm_90a that holds the kernels of `forms`.
std::string matrix_module(std::span<const MatrixForm> forms);

// FNV-1a of every tile's output, folded to 32 bits, in little-endian order: what a recording keeps.
std::vector<std::uint8_t> tile_digests(const MatrixForm& form,
                                       std::span<const std::uint32_t> output);

}  // namespace lockstep::vectors
