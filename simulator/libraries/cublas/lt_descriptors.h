// Descriptors of cuBLASLt. They are stored in the caller's opaque structures, whose sizes
// cublasLt.h fixes. Attributes have that header's numbers.
#pragma once

#include <cstdint>

#include "simulator/libraries/cublas/names.h"

namespace lockstep::cublas {

struct MatmulDesc {
  std::int32_t compute = CUBLAS_COMPUTE_32F;
  std::int32_t scale = CUDA_R_32F;
  std::int32_t pointer_mode = 0;
  std::int32_t op_a = 0, op_b = 0, op_c = 0;
  std::int32_t fill = CUBLAS_FILL_MODE_FULL;
  std::uint32_t epilogue = 1;
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
  std::int32_t bias_type = -1;  // defaults to D's type
  std::int32_t sm_count = 0;
  // Device addresses of one float each, or nullptr: the factors of A, B, C and D, and the place for
  // the largest magnitude of D.
  const void* scales[4] = {};
  void* largest = nullptr;
  // Attributes that are stored but not simulated: a call that uses one is refused.
  const void* others[5] = {};
  std::int64_t other_numbers[6] = {};
};
static_assert(sizeof(MatmulDesc) <= 256);

struct MatrixLayout {
  std::uint32_t type = CUDA_R_32F;
  std::int32_t order = 0;  // 0: column-major; 1: row-major
  std::uint64_t rows = 0, columns = 0;
  std::int64_t ld = 0;
  std::int32_t batch = 1, batch_mode = 0;
  std::int64_t stride = 0, plane_offset = 0;
};
static_assert(sizeof(MatrixLayout) <= 64);

struct Preference {
  std::uint32_t search_mode = 0, reductions = 7;
  std::uint64_t workspace = 0;
  std::uint32_t alignments[4] = {256, 256, 256, 256};
  float waves = 0;
  std::uint32_t unused = 0;
  std::uint64_t implementations = ~std::uint64_t{0};
};
static_assert(sizeof(Preference) <= 64);

struct Algorithm {
  std::uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace;
  cublasStatus_t state;
  float waves;
  int reserved[4];
};

// The place of an attribute in its descriptor.
struct Attribute {
  int number;
  std::size_t offset, size;
};

enum : std::uint32_t {
  kEpilogueDefault = 1,
  kEpilogueRelu = 2,
  kEpilogueBias = 4,
  kEpilogueGelu = 32,
};

}  // namespace lockstep::cublas
