// Tensor Memory: invalid descriptors, shapes, lanes and columns. Four warps; thread 0
// multiplies.
#include "tests/checker/checker.h"
#include "tests/checker/tensor.cuh"

namespace {

// A kernel with one product, `statement`; the mistake is in the code `before` it.
#define ONE_PRODUCT(name, finding, before, statement) \
  template <bool faulty>                              \
  __global__ void name(unsigned* y) {                 \
    TENSOR_BLOCK();                                   \
    TENSOR_FACTORS(true);                             \
    before;                                           \
    if (threadIdx.x == 0) {                           \
      statement;                                      \
      TENSOR_COMMIT(&bar);                            \
    }                                                 \
    TENSOR_WAITED();                                  \
  }                                                   \
  PAIR(name, finding) { ON_ONE_BLOCK(name); }
#define INSTRUCTION(wrong, right) const unsigned of = faulty ? (wrong) : (right)
#define F16(d, a, b, of) TENSOR_MULTIPLY(d, a, b, of, false)
#define AS(words, d, a, b, of) TENSOR_MULTIPLY_AS(words, d, a, b, of, false)

// The instruction descriptor: types of the result and of the factors, shapes, flags.
ONE_PRODUCT(tensor_integers_of_halves, "invalid-instruction",  // FAULT tensor_integers_of_halves
            INSTRUCTION(kind ^ 3u << 4, kind), F16(tm, a, b, of))
// FAULT tensor_factors_of_two_types
ONE_PRODUCT(tensor_factors_of_two_types, "invalid-instruction",
            INSTRUCTION(kind | 1u << 7, kind), F16(tm, a, b, of))
// FAULT tensor_type_of_another_kind
ONE_PRODUCT(tensor_type_of_another_kind, "invalid-instruction",
            INSTRUCTION(kind | 2u << 7 | 2u << 10, kind), F16(tm, a, b, of))
ONE_PRODUCT(tensor_columns_of_no_shape, "invalid-instruction",  // FAULT tensor_columns_of_no_shape
            INSTRUCTION(kind ^ 1u << 17, kind), F16(tm, a, b, of))
ONE_PRODUCT(tensor_rows_of_no_shape, "invalid-instruction",  // FAULT tensor_rows_of_no_shape
            INSTRUCTION(kind ^ 1u << 24, kind), F16(tm, a, b, of))
// FAULT tensor_256_rows_of_one_block
ONE_PRODUCT(tensor_256_rows_of_one_block, "invalid-instruction",
            INSTRUCTION((kind & ~(31u << 24)) | 16u << 24, kind), F16(tm, a, b, of))
ONE_PRODUCT(tensor_no_columns, "invalid-instruction",  // FAULT tensor_no_columns
            INSTRUCTION(kind & ~(63u << 17), kind), F16(tm, a, b, of))
// FAULT tensor_halves_that_saturate
ONE_PRODUCT(tensor_halves_that_saturate, "invalid-instruction",
            INSTRUCTION(kind | 1u << 3, kind), F16(tm, a, b, of))
// FAULT tensor_dense_that_says_sparse
ONE_PRODUCT(tensor_dense_that_says_sparse, "invalid-instruction",
            INSTRUCTION(kind | 1u << 2, kind), F16(tm, a, b, of))
ONE_PRODUCT(tensor_integers_negated, "invalid-instruction",  // FAULT tensor_integers_negated
            INSTRUCTION((kind ^ 3u << 4) | 1u << 13, kind ^ 3u << 4),
            AS(".cta_group::1.kind::i8", tm, a, b, of))
ONE_PRODUCT(tensor_bf16_to_f16, "invalid-instruction",  // FAULT tensor_bf16_to_f16
            INSTRUCTION((kind & ~(3u << 4)) | 1u << 7 | 1u << 10, kind & ~(3u << 4)),
            F16(tm, a, b, of))
// FAULT tensor_stationary_with_48_columns
ONE_PRODUCT(tensor_stationary_with_48_columns, "invalid-instruction",
            INSTRUCTION((kind & ~(63u << 17)) | 6u << 17, (kind & ~(63u << 17)) | 8u << 17),
            AS(".ws.cta_group::1.kind::f16", tm, a, a, of))

// Shared memory descriptors.
ONE_PRODUCT(tensor_swizzle_of_no_kind, "invalid-instruction",  // FAULT tensor_swizzle_of_no_kind
            const unsigned long long of = faulty ? a | 7ull << 61 : a, F16(tm, of, b, kind))
// FAULT tensor_factor_past_shared_memory
ONE_PRODUCT(tensor_factor_past_shared_memory, "out-of-bounds",
            const unsigned long long of = faulty ? a + (3ull << 12) : a, F16(tm, of, b, kind))
// FAULT tensor_rows_past_shared_memory
ONE_PRODUCT(tensor_rows_past_shared_memory, "out-of-bounds",
            const unsigned long long of = faulty ? b | 0x2000ull << 32 : b, F16(tm, a, of, kind))
// FAULT tensor_copy_past_shared_memory
ONE_PRODUCT(tensor_copy_past_shared_memory, "out-of-bounds",
            const unsigned long long of = faulty ? a + (3ull << 12) : a, TENSOR_COPY(tm, of))
// FAULT tensor_copy_by_a_descriptor_of_hopper
ONE_PRODUCT(tensor_copy_by_a_descriptor_of_hopper, "invalid-instruction",
            const unsigned long long of = faulty ? a & ~(1ull << 46) : a, TENSOR_COPY(tm, of))

// Lanes and columns.
// FAULT tensor_accumulator_in_lane_16
ONE_PRODUCT(tensor_accumulator_in_lane_16, "invalid-instruction",
            const unsigned to = faulty ? tm + (16u << 16) : tm, F16(to, a, b, kind))
// FAULT tensor_accumulator_past_the_columns
ONE_PRODUCT(tensor_accumulator_past_the_columns, "out-of-bounds",
            const unsigned to = tm + kColumns - (faulty ? 8 : kWide), F16(to, a, b, kind))
ONE_PRODUCT(tensor_copy_past_the_columns, "out-of-bounds",  // FAULT tensor_copy_past_the_columns
            const unsigned to = tm + kColumns - (faulty ? 4 : 8), TENSOR_COPY(to, a))
ONE_PRODUCT(tensor_copy_to_lane_32, "invalid-instruction",  // FAULT tensor_copy_to_lane_32
            const unsigned to = faulty ? tm + (32u << 16) : tm, TENSOR_COPY(to, a))
ONE_PRODUCT(tensor_shift_from_lane_16, "invalid-instruction",  // FAULT tensor_shift_from_lane_16
            const unsigned at = faulty ? tm + (16u << 16) : tm, TENSOR_SHIFT(at))
ONE_PRODUCT(tensor_shift_past_the_columns, "out-of-bounds",  // FAULT tensor_shift_past_the_columns
            const unsigned at = tm + kColumns - (faulty ? 4 : 8), TENSOR_SHIFT(at))

// The column mask of B: reserved bits, and a first column that the descriptor forbids.
#define STATIONARY const unsigned of = (kind & ~(63u << 17)) | 8u << 17
// FAULT tensor_mask_with_reserved_bits
ONE_PRODUCT(tensor_mask_with_reserved_bits, "invalid-instruction",
            STATIONARY, TENSOR_MULTIPLY_MASKED(tm, a, a, of, faulty ? 1ull << 37 : 0ull))
// FAULT tensor_first_column_too_far
ONE_PRODUCT(tensor_first_column_too_far, "invalid-instruction",
            STATIONARY | 1u << 30,
            TENSOR_MULTIPLY_MASKED(tm, a, a, of, (faulty ? 9ull : 8ull) << 56))

// A sparse A, whose metadata all warps store.
#define METADATA(written)                                               \
  if (written) {                                                        \
    TENSOR_STORE(own + 32, 0x44444444u);                                \
    WAIT_STORES();                                                      \
  }                                                                     \
  FENCE_BEFORE();                                                       \
  __syncthreads();                                                      \
  FENCE_AFTER();                                                        \
  /* B has twice as many rows: 64 bytes a column. */                    \
  const unsigned long long wide = tensor_descriptor(tile, 16 * kWide);  \
  const unsigned of = kind | 4u
ONE_PRODUCT(tensor_metadata_never_written, "uninitialised",  // FAULT tensor_metadata_never_written
            METADATA(!faulty),
            TENSOR_MULTIPLY_SPARSE(".cta_group::1.kind::f16", tm, a, wide, tm + 32, of))
// FAULT tensor_sparse_that_says_dense
ONE_PRODUCT(tensor_sparse_that_says_dense, "invalid-instruction",
            METADATA(true),
            TENSOR_MULTIPLY_SPARSE(".cta_group::1.kind::f16", tm, a, wide, tm + 32,
                                   faulty ? kind : of))
// FAULT tensor_metadata_of_other_lanes
ONE_PRODUCT(tensor_metadata_of_other_lanes, "invalid-instruction",
            METADATA(true),
            TENSOR_MULTIPLY_SPARSE(".cta_group::1.kind::f16", tm, a, wide,
                                   tm + 32 + (faulty ? 32u << 16 : 0), of))

// Block scaling: the scales of rows start at column 32, the scales of columns at 40.
#define SCALES(rows, columns)                                           \
  for (unsigned c = 0; c < 8; ++c) {                                    \
    if ((rows) || c >= 4) TENSOR_STORE(own + 32 + c, 0x7f7f7f7fu);      \
    if (columns) TENSOR_STORE(own + 40 + c, 0x7f7f7f7fu);               \
  }                                                                     \
  WAIT_STORES();                                                        \
  FENCE_BEFORE();                                                       \
  __syncthreads();                                                      \
  FENCE_AFTER();                                                        \
  const unsigned of = kWide / 8 << 17 | 128u / 16 << 24 | 1u << 23
#define SCALED(of) \
  TENSOR_MULTIPLY_SCALED(".cta_group::1.kind::mxf8f6f4.block_scale", tm, a, b, of, tm + 32, tm + 40)
// FAULT tensor_scales_of_rows_never_written
ONE_PRODUCT(tensor_scales_of_rows_never_written, "uninitialised",
            SCALES(!faulty, true), SCALED(of))
// FAULT tensor_scales_of_columns_never_written
ONE_PRODUCT(tensor_scales_of_columns_never_written, "uninitialised",
            SCALES(true, !faulty), SCALED(of))
// FAULT tensor_scales_of_another_type
ONE_PRODUCT(tensor_scales_of_another_type, "invalid-instruction",
            SCALES(true, true), SCALED(faulty ? of & ~(1u << 23) : of))
ONE_PRODUCT(tensor_64_rows_with_scales, "invalid-instruction",  // FAULT tensor_64_rows_with_scales
            SCALES(true, true), SCALED(faulty ? of ^ 12u << 24 : of))
// FAULT tensor_scales_that_begin_nowhere
ONE_PRODUCT(tensor_scales_that_begin_nowhere, "invalid-instruction",
            SCALES(true, true),
            TENSOR_MULTIPLY_SCALED(".cta_group::1.kind::mxf4.block_scale", tm, a, b,
                                   of | 1u << 7 | 1u << 10 | (faulty ? 1u << 29 : 0), tm + 32,
                                   tm + 40))
// FAULT tensor_packed_factors_across
ONE_PRODUCT(tensor_packed_factors_across, "invalid-instruction",
            SCALES(true, true),
            TENSOR_MULTIPLY_SCALED(".cta_group::1.kind::mxf4.block_scale", tm, a, b,
                                   of | 1u << 7 | 1u << 10 | (faulty ? 1u << 15 : 0), tm + 32,
                                   tm + 40))

// The factor A is in Tensor Memory.
#define FACTOR_STORED(written)                                                     \
  for (unsigned c = 0; c < 8; ++c) {                                               \
    if ((written) || c != 7) TENSOR_STORE(own + 32 + c, 0x3c003c00u);              \
  }                                                                                \
  WAIT_STORES();                                                                   \
  FENCE_BEFORE();                                                                  \
  __syncthreads();                                                                 \
  FENCE_AFTER()
ONE_PRODUCT(tensor_factor_never_written, "uninitialised",  // FAULT tensor_factor_never_written
            FACTOR_STORED(!faulty),
            TENSOR_MULTIPLY_OF_TENSOR(".cta_group::1.kind::f16", tm, tm + 32, b, kind, false))
// FAULT tensor_factor_in_tensor_memory_across
ONE_PRODUCT(tensor_factor_in_tensor_memory_across, "invalid-instruction",
            FACTOR_STORED(true),
            TENSOR_MULTIPLY_OF_TENSOR(".cta_group::1.kind::f16", tm, tm + 32, b,
                                      kind | (faulty ? 1u << 15 : 0), false))
ONE_PRODUCT(tensor_64_rows_shifted, "invalid-instruction",  // FAULT tensor_64_rows_shifted
            FACTOR_STORED(true),
            TENSOR_MULTIPLY_OF_TENSOR(".cta_group::1.kind::f16.ashift", tm, tm + 32, b,
                                      faulty ? kind ^ 12u << 24 : kind, false))

// Allocations.
#define ALLOCATIONS(name, finding, body)      \
  template <bool faulty>                      \
  __global__ void name(unsigned* y) {         \
    __shared__ unsigned base;                 \
    if (threadIdx.x < 32) {                   \
      body;                                   \
    }                                         \
    y[threadIdx.x] = 0;                       \
  }                                           \
  PAIR(name, finding) { ON_ONE_BLOCK(name); }
#define ALLOCATED(columns)    \
  ALLOCATE(&base, columns);   \
  __syncwarp();               \
  const unsigned tm = base
ALLOCATIONS(tensor_48_columns, "invalid-instruction",  // FAULT tensor_48_columns
            const unsigned n = faulty ? 48 : 64; ALLOCATED(n); FREE(tm, n))
ALLOCATIONS(tensor_16_columns, "invalid-instruction",  // FAULT tensor_16_columns
            const unsigned n = faulty ? 16 : 32; ALLOCATED(n); FREE(tm, n))
ALLOCATIONS(tensor_freed_twice, "invalid-instruction",  // FAULT tensor_freed_twice
            ALLOCATED(64); FREE(tm, 64); if (faulty) FREE(tm, 64))
// FAULT tensor_freed_columns_beside_it
ALLOCATIONS(tensor_freed_columns_beside_it, "invalid-instruction",
            ALLOCATED(64); if (faulty) FREE(tm + 32, 32); FREE(tm, 64))
ALLOCATIONS(tensor_no_room, "deadlock",  // FAULT tensor_no_room
            ALLOCATED(512); if (!faulty) FREE(tm, 512); __syncwarp();
            ALLOCATE(&base, 32); __syncwarp();
            if (faulty) FREE(tm, 512); FREE(base, 32))

}  // namespace
