// Tensor Memory: the same mistakes with other kinds of products. Four warps; thread 0 multiplies.
#include "tests/checker/checker.h"
#include "tests/checker/tensor.cuh"

namespace {

// The faulty kernel reads the accumulator before the commit of the product `statement`.
#define READ_EARLY(name, before, statement)                    \
  template <bool faulty>                                       \
  __global__ void name(unsigned* y) {                          \
    TENSOR_BLOCK();                                            \
    TENSOR_FACTORS(true);                                      \
    before;                                                    \
    if (threadIdx.x == 0) {                                    \
      statement;                                               \
      TENSOR_COMMIT(&bar);                                     \
    }                                                          \
    if (!faulty) WAIT_PHASE(&bar, 0);                          \
    __syncthreads();                                           \
    FENCE_AFTER();                                             \
    unsigned r;                                                \
    TENSOR_LOAD(r, own);                                       \
    WAIT_LOADS(r);                                             \
    WAIT_PHASE(&bar, 0);                                       \
    y[threadIdx.x] = r;                                        \
    TENSOR_END();                                              \
  }                                                            \
  PAIR(name, "async-order") { ON_ONE_BLOCK(name); }
#define STORED(first, last, value)                                            \
  for (unsigned c = first; c < last; ++c) TENSOR_STORE(own + c, value);       \
  WAIT_STORES();                                                              \
  FENCE_BEFORE();                                                             \
  __syncthreads();                                                            \
  FENCE_AFTER()
#define OF(words, of) TENSOR_MULTIPLY_AS(words, tm, a, b, of, false)

READ_EARLY(tensor_tf32_read_early, , OF(".cta_group::1.kind::tf32",  // FAULT tensor_tf32_read_early
                                        kind | 2u << 7 | 2u << 10))
READ_EARLY(tensor_bf16_read_early, , OF(".cta_group::1.kind::f16",  // FAULT tensor_bf16_read_early
                                        kind | 1u << 7 | 1u << 10))
// FAULT tensor_fp8_read_early
READ_EARLY(tensor_fp8_read_early, , OF(".cta_group::1.kind::f8f6f4", kind))
// FAULT tensor_integers_read_early
READ_EARLY(tensor_integers_read_early, , OF(".cta_group::1.kind::i8",
                                            kind ^ 3u << 4))
READ_EARLY(tensor_scaled_read_early,  // FAULT tensor_scaled_read_early
           STORED(32, 48, 0x7f7f7f7fu),
           TENSOR_MULTIPLY_SCALED(".cta_group::1.kind::mxf8f6f4.block_scale", tm, a, b,
                                  kWide / 8 << 17 | 128u / 16 << 24 | 1u << 23, tm + 32, tm + 40))
READ_EARLY(tensor_four_bits_read_early,  // FAULT tensor_four_bits_read_early
           STORED(32, 48, 0x38383838u),
           TENSOR_MULTIPLY_SCALED(".cta_group::1.kind::mxf4nvf4.block_scale.block16", tm, a, b,
                                  kWide / 8 << 17 | 128u / 16 << 24 | 1u << 7 | 1u << 10, tm + 32,
                                  tm + 40))
READ_EARLY(tensor_stationary_read_early, ,  // FAULT tensor_stationary_read_early
           TENSOR_MULTIPLY_AS(".ws.cta_group::1.kind::f16", tm, a, a,
                              (kind & ~(63u << 17)) | 8u << 17, false))
READ_EARLY(tensor_sparse_read_early,  // FAULT tensor_sparse_read_early
           STORED(32, 33, 0x44444444u),
           TENSOR_MULTIPLY_SPARSE(".cta_group::1.kind::f16", tm, a,
                                  tensor_descriptor(tile, 16 * kWide), tm + 32, kind | 4u))
READ_EARLY(tensor_of_tensor_memory_read_early,  // FAULT tensor_of_tensor_memory_read_early
           STORED(32, 40, 0x3c003c00u),
           TENSOR_MULTIPLY_OF_TENSOR(".cta_group::1.kind::f16", tm, tm + 32, b, kind, false))
READ_EARLY(tensor_shifted_read_early,  // FAULT tensor_shifted_read_early
           STORED(32, 40, 0x3c003c00u),
           TENSOR_MULTIPLY_OF_TENSOR(".cta_group::1.kind::f16.ashift", tm, tm + 32, b, kind, false))

// The faulty product reads scales or metadata from stores that are not yet complete.
#define IN_FLIGHT(name, first, last, value, statement)                        \
  template <bool faulty>                                                      \
  __global__ void name(unsigned* y) {                                         \
    TENSOR_BLOCK();                                                           \
    for (unsigned c = first; c < last; ++c) TENSOR_STORE(own + c, value);     \
    if (!faulty) WAIT_STORES();                                               \
    FENCE_BEFORE();                                                           \
    TENSOR_FACTORS(true);                                                     \
    FENCE_AFTER();                                                            \
    if (threadIdx.x == 0) {                                                   \
      statement;                                                              \
      TENSOR_COMMIT(&bar);                                                    \
    }                                                                         \
    if (faulty) WAIT_STORES();                                                \
    WAIT_PHASE(&bar, 0);                                                      \
    y[threadIdx.x] = 0;                                                       \
    FENCE_AFTER();                                                            \
    TENSOR_END();                                                             \
  }                                                                           \
  PAIR(name, "async-order") { ON_ONE_BLOCK(name); }
IN_FLIGHT(tensor_scales_in_flight,  // FAULT tensor_scales_in_flight
          32, 48, 0x7f7f7f7fu,
          TENSOR_MULTIPLY_SCALED(".cta_group::1.kind::mxf8f6f4.block_scale", tm, a, b,
                                 kWide / 8 << 17 | 128u / 16 << 24 | 1u << 23, tm + 32, tm + 40))
IN_FLIGHT(tensor_metadata_in_flight,  // FAULT tensor_metadata_in_flight
          32, 33, 0x44444444u,
          TENSOR_MULTIPLY_SPARSE(".cta_group::1.kind::f16", tm, a,
                                 tensor_descriptor(tile, 16 * kWide), tm + 32, kind | 4u))
IN_FLIGHT(tensor_accumulator_in_flight,  // FAULT tensor_accumulator_in_flight
          0, kWide, 0u, TENSOR_MULTIPLY(tm, a, b, kind, true))

// Ordinary stores to the factors, and no proxy fence before the product. tilelang 2634: the
// compiler fenced dense products but not sparse or block-scaled ones.
#define UNFENCED(name, before, statement)                   \
  template <bool faulty>                                    \
  __global__ void name(unsigned* y) {                       \
    TENSOR_BLOCK();                                         \
    TENSOR_FACTORS(!faulty);                                \
    before;                                                 \
    if (threadIdx.x == 0) {                                 \
      statement;                                            \
      TENSOR_COMMIT(&bar);                                  \
    }                                                       \
    WAIT_PHASE(&bar, 0);                                    \
    y[threadIdx.x] = 0;                                     \
    FENCE_AFTER();                                          \
    TENSOR_END();                                           \
  }                                                         \
  PAIR(name, "missing-proxy-fence") { ON_ONE_BLOCK(name); }
UNFENCED(tensor_scaled_without_a_proxy_fence,  // FAULT tensor_scaled_without_a_proxy_fence
         STORED(32, 48, 0x7f7f7f7fu),
         TENSOR_MULTIPLY_SCALED(".cta_group::1.kind::mxf8f6f4.block_scale", tm, a, b,
                                kWide / 8 << 17 | 128u / 16 << 24 | 1u << 23, tm + 32, tm + 40))
UNFENCED(tensor_sparse_without_a_proxy_fence,  // FAULT tensor_sparse_without_a_proxy_fence
         STORED(32, 33, 0x44444444u),
         TENSOR_MULTIPLY_SPARSE(".cta_group::1.kind::f16", tm, a,
                                tensor_descriptor(tile, 16 * kWide), tm + 32, kind | 4u))

// B of each kind of factor, overwritten too early.
#define OVERWRITTEN(name, statement)                      \
  template <bool faulty>                                  \
  __global__ void name(unsigned* y) {                     \
    TENSOR_BLOCK();                                       \
    TENSOR_FACTORS(true);                                 \
    if (threadIdx.x == 0) {                               \
      statement;                                          \
      TENSOR_COMMIT(&bar);                                \
    }                                                     \
    if (!faulty) WAIT_PHASE(&bar, 0);                     \
    __syncthreads();                                      \
    tile[kA + threadIdx.x] = 0;                           \
    WAIT_PHASE(&bar, 0);                                  \
    y[threadIdx.x] = 0;                                   \
    FENCE_AFTER();                                        \
    TENSOR_END();                                         \
  }                                                       \
  PAIR(name, "race") { ON_ONE_BLOCK(name); }
OVERWRITTEN(tensor_b_of_halves_overwritten,  // FAULT tensor_b_of_halves_overwritten
            TENSOR_MULTIPLY(tm, a, b, kind, false))
OVERWRITTEN(tensor_b_of_fp8_overwritten,  // FAULT tensor_b_of_fp8_overwritten
            OF(".cta_group::1.kind::f8f6f4", kind))
OVERWRITTEN(tensor_b_of_integers_overwritten,  // FAULT tensor_b_of_integers_overwritten
            OF(".cta_group::1.kind::i8", kind ^ 3u << 4))

}  // namespace
