// The matrix units, one instruction form at a time: computes D = A * B + C for single tiles, to
// measure the units' arithmetic.
//
// A form is one instruction of PTX. Each tile has matrices of its own, row after row, packed:
//   A: m rows of k elements, B: n columns of k elements, C and D: m rows of n elements of D's type.
// An element of less than 32 bits is stored in the low bits of its word first. tf32 fills a word,
// of which the low 13 bits are ignored. PTX ISA 9.0, 9.7.14 and 9.7.15, define which lane holds
// which element. The matrices of a warpgroup are in shared memory without swizzle.
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

// The bits of an element in memory.
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

// How products of integers are computed and added.
enum class IntegerProducts : std::uint8_t {
  kMultiply,          // without a modifier; a sum that exceeds the range wraps
  kMultiplySaturate,  // .satfinite
  kXor,               // counts bits that differ
  kAnd,               // counts bits that are both set
};

struct MatrixForm {
  // Computes `tiles` tiles. The matrices are in device memory, each aligned to 16 bytes.
  using Launch = LaunchStatus (*)(const MatrixForm& form, const void* a, const void* b,
                                  const void* c, void* d, int tiles, cudaStream_t stream);

  const char* name;  // "mma m16n8k16 f16 x f16 to f32"
  UnitElement a, b, d;
  int m, n, k;
  int capability;  // ten times the lowest compute capability with the instruction
  IntegerProducts integers = IntegerProducts::kMultiply;
  Launch launch = nullptr;

  int a_bytes() const { return m * k * bits_of(a) / 8; }  // of a tile
  int b_bytes() const { return n * k * bits_of(b) / 8; }
  int d_bytes() const { return m * n * bits_of(d) / 8; }  // of a tile of D or C
};

// mma.sync, the instructions of a warp: every dense shape and type from sm_75 to sm_90, except
// m8n8k4 of f16, which only Volta and Turing have in a matrix unit. Integer shapes have signed and
// unsigned factors.
const std::vector<MatrixForm>& mma_forms();

// wgmma.mma_async, the instructions of a warpgroup on sm_90a: every type with the least n.
const std::vector<MatrixForm>& wgmma_forms();

// Computes D = A * B + C for `tiles` tiles with one form, 0 ... 2^20. With 0 nothing is launched,
// and matrices may be null. D overlaps none of the others. Errors: cudaErrorInvalidValue for
// arguments outside of the above, otherwise the error that CUDA returned:
// cudaErrorNoKernelImageForDevice if the device lacks the instruction.
LaunchStatus multiply_tiles(const MatrixForm& form, const void* a, const void* b, const void* c,
                            void* d, int tiles, cudaStream_t stream = nullptr);

}  // namespace lockstep::kernels
