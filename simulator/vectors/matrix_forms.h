// Kernels that execute one matrix instruction each on tiles. They are recorded on a GPU and
// replayed on the simulated GPU.
//
// As in vectors.h, but the unit is a tile: what the lanes of one warp, or of the four warps of a
// warpgroup, compute together. A kernel has two parameters, the addresses of its input and its
// output. A tile's input is a sequence of sections, one for each matrix or other operand. A section
// has `lanes` times `words` words of 32 bits. The next tile's input follows. If the instruction
// reads registers, lane l has the l-th part of a section. If it reads memory, the section is the
// matrix itself. Outputs are laid out likewise. A recording keeps a 32-bit digest of every tile's
// output: a differing tile shows, and can be computed again.
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
  int words = 0;                      // for each lane, of 32 bits
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

// All forms that the lanes of one warp or warpgroup execute on matrices, and that exist on sm_90 or
// sm_90a.
std::vector<MatrixForm> matrix_forms();

// The input of all tiles: numbers near one, tiny and huge, with zeros, NaNs and infinities, and
// numbers that cancel. The same for every call.
std::vector<std::uint32_t> matrix_inputs(const MatrixForm& form);
// The input of `tiles` other tiles, determined by `seed`.
std::vector<std::uint32_t> matrix_inputs(const MatrixForm& form, std::uint64_t seed, int tiles);

// A module for sm_90a that holds the kernels of `forms`.
std::string matrix_module(std::span<const MatrixForm> forms);

// FNV-1a of every tile's output, folded to 32 bits, in little-endian order: the contents of a
// recording.
std::vector<std::uint8_t> tile_digests(const MatrixForm& form,
                                       std::span<const std::uint32_t> output);

}  // namespace lockstep::vectors
