// tensor_matmul by mma.sync: tiles of 64 x 64 elements of D, four warps with 32 x 32 each. A stage
// holds 64 bytes of each row of A and B; three stages are in flight by cp.async.
//
// All element types share one kernel, because an instruction reads 32 bytes of a row of either
// factor for every type. ldmatrix gives each lane the bytes for mma, and the layout of the
// accumulator is the same. Only f64 loads its fragments by itself.
//
// A kernel consists of steps. Mma has the correct steps; a known-bad kernel is a struct that
// replaces one of them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/tensor_matmul_paths.h"

namespace lockstep::kernels::by_mma {

constexpr int kTile = 64;        // rows and columns of D per block
constexpr int kStageBytes = 64;  // of a row, per stage
constexpr int kStepBytes = 32;   // of a row, per instruction
constexpr int kPitch =
    80;  // from one row to the next: five times 16 bytes, so that eight rows share no bank
constexpr int kStages = 3;
constexpr int kThreads = 128;
constexpr int kChunk = 16;  // bytes of one cp.async, or of one row of an 8 x 8 matrix
constexpr int kMostBlocks = 512;

struct Stage {
  alignas(16) unsigned char a[kTile][kPitch];
  alignas(16) unsigned char b[kTile][kPitch];
};

// How a factor's rows are copied to shared memory.
enum class Copy : std::uint8_t { kAsync16, kAsync4, kElements };

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// ---- The instruction for each element type: a[4] and b[2] are the 32-bit registers of the
// fragments.

template <MatrixElement kElement>
struct Unit;

template <>
struct Unit<MatrixElement::kF16> {
  using Result = float;
  __device__ static void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

template <>
struct Unit<MatrixElement::kBf16> {
  using Result = float;
  __device__ static void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

template <>
struct Unit<MatrixElement::kTf32> {
  using Result = float;
  __device__ static void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

template <>
struct Unit<MatrixElement::kS8> {
  using Result = int;
  __device__ static void multiply(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
        "%9}, "
        "{%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

template <>
struct Unit<MatrixElement::kE4m3> {
  using Result = float;
  __device__ static void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    asm volatile("trap;");  // the launcher prevents this
#endif
  }
};

// Two of m8n8k4, one below the other: a[0..1] and a[2..3] hold one double each, b holds one.
template <>
struct Unit<MatrixElement::kF64> {
  using Result = double;
  __device__ static double joined(unsigned low, unsigned high) {
    return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
  }
  __device__ static void multiply(double (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    for (int half = 0; half < 2; ++half) {
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(d[2 * half]), "+d"(d[2 * half + 1])
                   : "d"(joined(a[2 * half], a[2 * half + 1])), "d"(joined(b[0], b[1])));
    }
  }
};

// ---- The steps.

struct Mma {
  // Copies 16 bytes of a row: the first `valid` exist, the others become zeros.
  __device__ static void copy_16(unsigned to, const std::byte* from, int valid) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid)
                 : "memory");
  }
  __device__ static void copy_4(unsigned to, const std::byte* from, int valid) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(valid)
                 : "memory");
  }
  // The number of bytes from `at` on in a row of `bytes` bytes, at most `most`.
  __device__ static int valid(std::int64_t bytes, std::int64_t at, int most) {
    const std::int64_t left = bytes - at;
    return left >= most ? most : left > 0 ? static_cast<int>(left) : 0;
  }
  __device__ static void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
  // Waits until all stages but the last one begun have arrived.
  __device__ static void wait_for_stage() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
  }
  // Waits for every thread's copies; afterwards no thread reads the previous stage.
  __device__ static void wait_for_block() { __syncthreads(); }
  // Before the first stage of the next tile of D.
  __device__ static void wait_for_tile() { __syncthreads(); }
  __device__ static constexpr bool refills_before_the_barrier() { return false; }

  __device__ static void load_matrices(unsigned (&r)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
  }
  // The place of a lane's row of the four 8 x 8 matrices. For A: two matrices one below the other,
  // then the two to their right. For B: two along k, then the two of the next eight columns.
  __device__ static int row_of_a(int lane) { return lane % 16; }
  __device__ static int chunk_of_a(int lane) { return lane / 16; }
  __device__ static int row_of_b(int lane) { return lane / 16 * 8 + lane % 8; }
  __device__ static int chunk_of_b(int lane) { return lane / 8 % 2; }

  // Lane l holds rows l / 4 and l / 4 + 8, columns 2 (l % 4) and the next.
  __device__ static int row_of_d(int lane, int register_) { return lane / 4 + register_ / 2 * 8; }
  __device__ static int column_of_d(int lane, int register_) {
    return lane % 4 * 2 + register_ % 2;
  }

  // The accumulator's value before the first product.
  template <class Result>
  __device__ static Result first(Result c) {
    return c;
  }
  template <class U, class Result>
  __device__ static void multiply(Result (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    U::multiply(d, a, b);
  }
  // On the host: how a factor is copied.
  static Copy copy_of(const std::byte* data, std::int64_t stride, int element_bytes) {
    if (rows_are_aligned(data, stride, element_bytes, 16)) return Copy::kAsync16;
    return rows_are_aligned(data, stride, element_bytes, 4) ? Copy::kAsync4 : Copy::kElements;
  }
  // The number of instructions for a stage, without those whose products are all past the end of
  // the row.
  __device__ static int steps(std::int64_t bytes_left) {
    return bytes_left > kStepBytes ? kStageBytes / kStepBytes : 1;
  }
};

// Copies bytes `at` to `at + 16` of a row of `bytes` bytes; row: null if it does not exist.
template <class Step, int kElementBytes>
__device__ void copy_chunk(unsigned char* to, const std::byte* data, const std::byte* row,
                           std::int64_t bytes, std::int64_t at, Copy copy) {
  const int valid = row == nullptr ? 0 : Step::valid(bytes, at, kChunk);
  // Without valid bytes nothing is read, but the address must be valid.
  const std::byte* const from = valid > 0 ? row + at : data;
  if (copy == Copy::kAsync16) {
    Step::copy_16(shared_address(to), from, valid);
  } else if (copy == Copy::kAsync4) {
    for (int i = 0; i < kChunk; i += 4) {
      const int part = valid > i ? min(valid - i, 4) : 0;
      Step::copy_4(shared_address(to + i), part > 0 ? from + i : data, part);
    }
  } else {
    for (int i = 0; i < kChunk; i += kElementBytes) {
      if constexpr (kElementBytes == 1) {
        to[i] = i < valid ? *reinterpret_cast<const unsigned char*>(from + i) : 0;
      } else if constexpr (kElementBytes == 2) {
        *reinterpret_cast<unsigned short*>(to + i) =
            i < valid ? *reinterpret_cast<const unsigned short*>(from + i) : 0;
      } else if constexpr (kElementBytes == 4) {
        *reinterpret_cast<unsigned*>(to + i) =
            i < valid ? *reinterpret_cast<const unsigned*>(from + i) : 0;
      } else {
        *reinterpret_cast<double*>(to + i) =
            i < valid ? *reinterpret_cast<const double*>(from + i) : 0;
      }
    }
  }
}

// Copies 64 bytes of 64 rows, from `first` on, of a matrix of `rows` rows.
template <class Step, int kElementBytes>
__device__ void copy_rows(unsigned char (*to)[kPitch], const std::byte* data, std::int64_t stride,
                          std::int64_t first, std::int64_t rows, std::int64_t bytes,
                          std::int64_t at, Copy copy) {
  constexpr int kAcross = kStageBytes / kChunk;
  for (int i = threadIdx.x; i < kTile * kAcross; i += kThreads) {
    const std::int64_t r = first + i / kAcross;
    const std::byte* const row = r < rows ? data + r * stride * kElementBytes : nullptr;
    copy_chunk<Step, kElementBytes>(to[i / kAcross] + i % kAcross * kChunk, data, row, bytes,
                                    at + i % kAcross * kChunk, copy);
  }
}

// Loads A's fragment of rows `row` to `row` + 15, and B's fragments of columns `column` to `column`
// + 15 (two instructions).
template <class Step, MatrixElement kElement>
__device__ void load_a(unsigned (&r)[4], const unsigned char (*a)[kPitch], int row, int byte) {
  const int lane = threadIdx.x % 32;
  if constexpr (kElement == MatrixElement::kF64) {
    for (int half = 0; half < 2; ++half) {
      const auto v =
          *reinterpret_cast<const uint2*>(a[row + 8 * half + lane / 4] + byte + lane % 4 * 8);
      r[2 * half] = v.x, r[2 * half + 1] = v.y;
    }
  } else {
    Step::load_matrices(
        r, shared_address(a[row + Step::row_of_a(lane)] + byte + Step::chunk_of_a(lane) * kChunk));
  }
}

template <class Step, MatrixElement kElement>
__device__ void load_b(unsigned (&r)[4], const unsigned char (*b)[kPitch], int column, int byte) {
  const int lane = threadIdx.x % 32;
  if constexpr (kElement == MatrixElement::kF64) {
    load_a<Step, kElement>(r, b, column, byte);
  } else {
    Step::load_matrices(r, shared_address(b[column + Step::row_of_b(lane)] + byte +
                                          Step::chunk_of_b(lane) * kChunk));
  }
}

template <class Step, MatrixElement kElement>
__global__ void __launch_bounds__(kThreads)
    kernel(TensorMatmulArguments p, Copy copy_a, Copy copy_b) {
  using U = Unit<kElement>;
  using Result = typename U::Result;
  constexpr int kBytes = kBytesOf<kElement>, kWarpTile = kTile / 2, kDown = kWarpTile / 16,
                kAcross = kWarpTile / 8;
  __shared__ Stage stages[kStages];
  const auto* const c = static_cast<const Result*>(p.c);
  auto* const d = static_cast<Result*>(p.d);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int top = warp / 2 * kWarpTile, left = warp % 2 * kWarpTile;
  const std::int64_t bytes = p.k * kBytes, count = (bytes + kStageBytes - 1) / kStageBytes;
  const std::int64_t tiles_across = (p.n - 1) / kTile + 1,
                     tiles = ((p.m - 1) / kTile + 1) * tiles_across;

  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t row = tile / tiles_across * kTile, column = tile % tiles_across * kTile;
    const auto begin_stage = [&](std::int64_t s) {
      if (s < count) {
        Stage& stage = stages[s % kStages];
        copy_rows<Step, kBytes>(stage.a, p.a, p.a_stride, row, p.m, bytes, s * kStageBytes, copy_a);
        copy_rows<Step, kBytes>(stage.b, p.b, p.b_stride, column, p.n, bytes, s * kStageBytes,
                                copy_b);
      }
      Step::commit();  // an empty group at the end keeps the count for wait_for_stage
    };
    for (int s = 0; s < kStages - 1; ++s) begin_stage(s);

    const auto each_element = [&](auto visit) {
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            visit(i, j, e, row + top + 16 * i + Step::row_of_d(lane, e),
                  column + left + 8 * j + Step::column_of_d(lane, e));
          }
        }
      }
    };
    Result sum[kDown][kAcross][4];
    each_element([&](int i, int j, int e, std::int64_t r, std::int64_t q) {
      sum[i][j][e] = r < p.m && q < p.n ? Step::first(c[r * p.c_stride + q]) : Result{};
    });

    for (std::int64_t s = 0; s < count; ++s) {
      Step::wait_for_stage();
      if (Step::refills_before_the_barrier()) begin_stage(s + kStages - 1);
      Step::wait_for_block();
      if (!Step::refills_before_the_barrier()) begin_stage(s + kStages - 1);
      const Stage& stage = stages[s % kStages];
      const int steps = Step::steps(bytes - s * kStageBytes);
#pragma unroll
      for (int step = 0; step < kStageBytes / kStepBytes; ++step) {
        if (step >= steps) break;
        unsigned a[kDown][4], b[kAcross / 2][4];
#pragma unroll
        for (int i = 0; i < kDown; ++i)
          load_a<Step, kElement>(a[i], stage.a, top + 16 * i, step * kStepBytes);
#pragma unroll
        for (int j = 0; j < kAcross / 2; ++j)
          load_b<Step, kElement>(b[j], stage.b, left + 16 * j, step * kStepBytes);
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
          for (int j = 0; j < kAcross; ++j) {
            const unsigned columns[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
            Step::template multiply<U>(sum[i][j], a[i], columns);
          }
        }
      }
    }
    each_element([&](int i, int j, int e, std::int64_t r, std::int64_t q) {
      if (r < p.m && q < p.n) d[r * p.d_stride + q] = sum[i][j][e];
    });
    Step::wait_for_tile();
  }
}

// ---- Host.

template <class Step, MatrixElement kElement>
cudaError_t launch(const TensorMatmulArguments& p, cudaStream_t stream) {
  constexpr int kBytes = bytes_of(kElement);
  const std::int64_t tiles = tiles_of(p, kTile, kTile);
  kernel<Step, kElement>
      <<<static_cast<unsigned>(tiles < kMostBlocks ? tiles : kMostBlocks), kThreads, 0, stream>>>(
          p, Step::copy_of(p.a, p.a_stride, kBytes), Step::copy_of(p.b, p.b_stride, kBytes));
  return cudaGetLastError();
}

}  // namespace lockstep::kernels::by_mma
