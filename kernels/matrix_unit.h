// The matrix units, one instruction form at a time: D = A * B + C of single tiles, for measuring
// how they compute.
//
// A form is one instruction of PTX. Each tile has matrices of its own, row after row, packed:
//   A: m rows of k elements, B: n columns of k elements, C and D: m rows of n elements of D's type.
// An element of less than 32 bits stands in the lower bits of its word first; tf32 fills a word, of
// which the lower 13 bits do not count. Which lane holds what is as PTX ISA 9.0, 9.7.14 and 9.7.15,
// says; the matrices of a warpgroup lie in shared memory without swizzle.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

enum class UnitElement : std::uint8_t {
  kF16,
  kBF16,
  kTF32,
  kE4M3,
  kE5M2,
  kF32,
  kF64,
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kS32
};

// Bits that an element takes in memory.
constexpr int bits_of(UnitElement e) {
  switch (e) {
    case UnitElement::kF64: return 64;
    case UnitElement::kTF32:
    case UnitElement::kF32:
    case UnitElement::kS32: return 32;
    case UnitElement::kF16:
    case UnitElement::kBF16: return 16;
    case UnitElement::kS4:
    case UnitElement::kU4: return 4;
    case UnitElement::kB1: return 1;
    default: return 8;
  }
}

// How the products of integers are made and added.
enum class IntegerProducts : std::uint8_t {
  kMultiply,          // whatever PTX says of sums that do not fit: it wraps
  kMultiplySaturate,  // .satfinite
  kXor,               // bits that differ are counted
  kAnd,               // bits that are both set are counted
};

struct MatrixForm {
  // Matrices, `tiles` of each, in device memory; each aligned to 16 bytes.
  using Launch = LaunchStatus (*)(const MatrixForm& form, const void* a, const void* b,
                                  const void* c, void* d, int tiles, cudaStream_t stream);

  const char* name;  // "mma m16n8k16 f16 x f16 to f32"
  UnitElement a, b, d;
  int m, n, k;
  int capability;  // the lowest compute capability that has it, times ten
  IntegerProducts integers = IntegerProducts::kMultiply;
  Launch launch = nullptr;

  int a_bytes() const { return m * k * bits_of(a) / 8; }  // of a tile
  int b_bytes() const { return n * k * bits_of(b) / 8; }
  int d_bytes() const { return m * n * bits_of(d) / 8; }  // of C too
};

// mma.sync, what a warp multiplies: every dense shape and type from sm_75 to sm_90 but m8n8k4 of
// f16, which is a matrix unit's on Volta and Turing alone. Of integers each shape with signed and
// with unsigned factors.
const std::vector<MatrixForm>& mma_forms();

// wgmma.mma_async, what a warpgroup multiplies, of sm_90a alone: every type with the least n.
const std::vector<MatrixForm>& wgmma_forms();

// D = A * B + C of `tiles` tiles by one form, 0 ... 2^20: with 0 nothing is launched, and matrices
// may be null. D overlaps none of the others. Errors: cudaErrorInvalidValue for arguments outside
// of the above, or what CUDA returned: cudaErrorNoKernelImageForDevice where the device lacks the
// instruction.
LaunchStatus multiply_tiles(const MatrixForm& form, const void* a, const void* b, const void* c,
                            void* d, int tiles, cudaStream_t stream = nullptr);

}  // namespace lockstep::kernels
