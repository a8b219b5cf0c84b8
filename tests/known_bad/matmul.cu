// Mutants of the tiled matrix product. The correct kernel consists of steps; a mutant replaces one
// step by a typical mistake. The negative controls at the end are correct in another way and must
// be accepted.
#include <cuda_fp16.h>

#include <algorithm>

#include "tests/known_bad/matmul.h"

namespace lockstep::known_bad {
namespace {

using kernels::LaunchStatus;
using kernels::MatmulVariant;
using kernels::MatrixView;
using Index = std::int64_t;
using In = MatrixView<const float>;
using Out = MatrixView<float>;

constexpr const char* kWho = "known-bad matmul";
constexpr int kTile = 8;
constexpr unsigned kMaxGridY = 65535;

// The correct steps, for one block of kTile x kTile threads and one tile of C.
struct Honest {
  __device__ static void load_a(float (*tile)[kTile], const In& a, Index i, Index p) {
    if (i < a.rows && p < a.columns) tile[threadIdx.y][threadIdx.x] = a.data[i * a.stride + p];
  }
  __device__ static void load_b(float (*tile)[kTile], const In& b, Index p, Index j) {
    if (p < b.rows && j < b.columns) tile[threadIdx.y][threadIdx.x] = b.data[p * b.stride + j];
  }
  __device__ static void wait_for_the_tile(bool) { __syncthreads(); }
  __device__ static void wait_for_its_users() { __syncthreads(); }
  __device__ static int depth(Index left) { return left < kTile ? static_cast<int>(left) : kTile; }
  __device__ static float add(float (*a)[kTile], float (*b)[kTile], int q, float sum) {
    return __fmaf_rn(a[threadIdx.y][q], b[q][threadIdx.x], sum);
  }
  __device__ static Index end(Index k) { return k; }
  __device__ static void store(const Out& c, Index i, Index j, float sum) {
    c.data[i * c.stride + j] = sum;
  }
  __device__ static Index next_row(Index row) { return row + Index{gridDim.y} * kTile; }
  // On the host: the number of tiles across or down.
  static unsigned tiles(Index n) { return (n - 1) / kTile + 1; }
};

template <class Step>
__global__ void product(In a, In b, Out c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const Index j = Index{blockIdx.x} * kTile + threadIdx.x;
  for (Index row = Index{blockIdx.y} * kTile; row < c.rows; row = Step::next_row(row)) {
    const Index i = row + threadIdx.y;
    const bool inside = i < c.rows && j < c.columns;
    float sum = 0;
    for (Index p = 0; p < Step::end(a.columns); p += kTile) {
      Step::load_a(tile_a, a, i, p + threadIdx.x);
      Step::load_b(tile_b, b, p + threadIdx.y, j);
      Step::wait_for_the_tile(inside);
      if (inside) {
        const int depth = Step::depth(a.columns - p);
        for (int q = 0; q < depth; ++q) sum = Step::add(tile_a, tile_b, q, sum);
      }
      Step::wait_for_its_users();
    }
    if (inside) Step::store(c, i, j, sum);
  }
}

template <class Step>
LaunchStatus launch_unchecked(const In& a, const In& b, const Out& c, cudaStream_t stream) {
  product<Step><<<dim3(Step::tiles(c.columns), std::min(Step::tiles(c.rows), kMaxGridY)),
                  dim3(kTile, kTile), 0, stream>>>(a, b, c);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

template <class Step>
LaunchStatus launch(MatmulVariant variant, const In& a, const In& b, const Out& c,
                    cudaStream_t stream) {
  if (LaunchStatus status = check_matmul(variant, a, b, c);
      !status.ok() || c.rows == 0 || c.columns == 0)
    return status;
  return launch_unchecked<Step>(a, b, c, stream);
}

// ---- Mistakes in loading a tile.

struct LoadsPastTheEdge : Honest {
  __device__ static void load_a(float (*tile)[kTile], const In& a, Index i, Index p) {
    tile[threadIdx.y][threadIdx.x] = a.data[i * a.stride + p];
  }
};

struct StrideForgotten : Honest {
  __device__ static void load_b(float (*tile)[kTile], const In& b, Index p, Index j) {
    if (p < b.rows && j < b.columns) tile[threadIdx.y][threadIdx.x] = b.data[p * b.columns + j];
  }
};

struct EdgeOfTheWrongSide : Honest {
  __device__ static void load_a(float (*tile)[kTile], const In& a, Index i, Index p) {
    if (i < a.columns && p < a.rows) tile[threadIdx.y][threadIdx.x] = a.data[i * a.stride + p];
  }
};

struct TileTransposed : Honest {
  __device__ static float add(float (*a)[kTile], float (*b)[kTile], int q, float sum) {
    return __fmaf_rn(a[threadIdx.y][q], b[threadIdx.x][q], sum);
  }
};

struct RowsOfAIn32Bits : Honest {
  __device__ static void load_a(float (*tile)[kTile], const In& a, Index i, Index p) {
    const auto row = static_cast<unsigned>(i) * static_cast<unsigned>(a.stride);
    if (i < a.rows && p < a.columns) tile[threadIdx.y][threadIdx.x] = a.data[row + p];
  }
};

struct RowsOfBIn32Bits : Honest {
  __device__ static void load_b(float (*tile)[kTile], const In& b, Index p, Index j) {
    const auto row = static_cast<unsigned>(p) * static_cast<unsigned>(b.stride);
    if (p < b.rows && j < b.columns) tile[threadIdx.y][threadIdx.x] = b.data[row + j];
  }
};

// ---- Mistakes in waiting.

struct NoFirstBarrier : Honest {
  __device__ static void wait_for_the_tile(bool) {}
};

struct NoSecondBarrier : Honest {
  __device__ static void wait_for_its_users() {}
};

struct BarrierInBranch : Honest {
  __device__ static void wait_for_the_tile(bool inside) {
    if (inside) __syncthreads();
  }
};

// ---- Mistakes in summing.

struct WholeDepthAlways : Honest {
  __device__ static int depth(Index) { return kTile; }
};

struct WholeTilesOnly : Honest {
  __device__ static Index end(Index k) { return k / kTile * kTile; }
};

struct LastTermForgotten : Honest {
  __device__ static int depth(Index left) {
    return left < kTile ? static_cast<int>(left) - 1 : kTile;
  }
};

struct HalfAccumulator : Honest {
  __device__ static float add(float (*a)[kTile], float (*b)[kTile], int q, float sum) {
    return __half2float(__float2half_rn(Honest::add(a, b, q, sum)));
  }
};

struct SaturatedProduct : Honest {
  __device__ static float add(float (*a)[kTile], float (*b)[kTile], int q, float sum) {
    return __fadd_rn(sum, __saturatef(__fmul_rn(a[threadIdx.y][q], b[q][threadIdx.x])));
  }
};

// ---- Mistakes in storing, and in the launch.

struct RowAndColumnSwapped : Honest {
  __device__ static void store(const Out& c, Index i, Index j, float sum) {
    // Only if the swapped element exists. Square matrices have it always; equal values would hide
    // the mistake.
    if (i < c.columns && j < c.rows) c.data[j * c.stride + i] = sum;
  }
};

struct DenseResult : Honest {
  __device__ static void store(const Out& c, Index i, Index j, float sum) {
    c.data[i * c.columns + j] = sum;
  }
};

struct RowsOfCIn32Bits : Honest {
  __device__ static void store(const Out& c, Index i, Index j, float sum) {
    c.data[static_cast<unsigned>(i) * static_cast<unsigned>(c.stride) + j] = sum;
  }
};

struct Accumulates : Honest {
  __device__ static void store(const Out& c, Index i, Index j, float sum) {
    c.data[i * c.stride + j] += sum;
  }
};

struct GridOfWholeTiles : Honest {
  static unsigned tiles(Index n) { return n < kTile ? 1 : n / kTile; }
};

// ---- Mistakes in rounding.

// Sums whole tiles with zeros outside the matrices: -0 plus +0 is +0.
struct ZeroPadded : Honest {
  __device__ static void load_a(float (*tile)[kTile], const In& a, Index i, Index p) {
    tile[threadIdx.y][threadIdx.x] = i < a.rows && p < a.columns ? a.data[i * a.stride + p] : 0.0f;
  }
  __device__ static void load_b(float (*tile)[kTile], const In& b, Index p, Index j) {
    tile[threadIdx.y][threadIdx.x] = p < b.rows && j < b.columns ? b.data[p * b.stride + j] : 0.0f;
  }
  __device__ static int depth(Index) { return kTile; }
};

struct ProductsRounded : Honest {
  __device__ static float add(float (*a)[kTile], float (*b)[kTile], int q, float sum) {
    return __fadd_rn(__fmul_rn(a[threadIdx.y][q], b[q][threadIdx.x]), sum);
  }
};

struct RoundsToZero : Honest {
  __device__ static float add(float (*a)[kTile], float (*b)[kTile], int q, float sum) {
    return __fmaf_rz(a[threadIdx.y][q], b[q][threadIdx.x], sum);
  }
};

struct FlushesSubnormals : Honest {
  __device__ static float add(float (*a)[kTile], float (*b)[kTile], int q, float sum) {
    const float s = Honest::add(a, b, q, sum);
    return fabsf(s) < 0x1p-126f ? 0.0f : s;
  }
};

// ---- Mistakes in the launch.

struct OneGridOfRows : Honest {
  __device__ static Index next_row(Index) { return 0x7fffffffffffffff; }
};

LaunchStatus nothing_for_no_depth(MatmulVariant variant, const In& a, const In& b, const Out& c,
                                  cudaStream_t stream) {
  if (LaunchStatus status = check_matmul(variant, a, b, c); !status.ok() || a.columns == 0)
    return status;
  return launch<Honest>(variant, a, b, c, stream);
}

LaunchStatus empty_grid(MatmulVariant variant, const In& a, const In& b, const Out& c,
                        cudaStream_t stream) {
  if (LaunchStatus status = check_matmul(variant, a, b, c); !status.ok()) return status;
  product<Honest><<<dim3((c.columns + kTile - 1) / kTile, (c.rows + kTile - 1) / kTile),
                    dim3(kTile, kTile), 0, stream>>>(a, b, c);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

LaunchStatus shapes_unchecked(MatmulVariant variant, const In& a, const In& b, const Out& c,
                              cudaStream_t stream) {
  if (LaunchStatus status = check_matmul(variant, a, b, c); status.ok())
    return launch<Honest>(variant, a, b, c, stream);
  return {};
}

// ---- Negative controls.

// One block per row of C; threads stride over columns; no shared memory; four terms per turn.
__global__ void row_a_block(In a, In b, Out c) {
  const Index i = blockIdx.x, k = a.columns;
  for (Index j = threadIdx.x; j < c.columns; j += blockDim.x) {
    float sum = 0;
    Index p = 0;
    for (; p + 4 <= k; p += 4) {
      for (int q = 0; q < 4; ++q)
        sum = __fmaf_rn(a.data[i * a.stride + p + q], b.data[(p + q) * b.stride + j], sum);
    }
    for (; p < k; ++p) sum = __fmaf_rn(a.data[i * a.stride + p], b.data[p * b.stride + j], sum);
    c.data[i * c.stride + j] = sum;
  }
}

LaunchStatus launch_row_a_block(MatmulVariant variant, const In& a, const In& b, const Out& c,
                                cudaStream_t stream) {
  if (LaunchStatus status = check_matmul(variant, a, b, c);
      !status.ok() || c.rows == 0 || c.columns == 0)
    return status;
  row_a_block<<<static_cast<unsigned>(c.rows), 64, 0, stream>>>(a, b, c);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

}  // namespace

Mutants<MatmulLauncher> matmul_mutants() {
  constexpr const char* kFarOutside =
      "an access far outside ends the context: the rest of the process could not run";
  return {
      {"loads_past_the_edge",
       "no bounds check at the edge of a partial tile",
       launch<LoadsPastTheEdge>,
       {"finding:out-of-bounds", "finding:uninitialised"},
       {"mismatch"},
       "a read past the edge of A is unused and harmless where memory happens to be mapped"},
      {"stride_forgotten",
       "rows of B taken as dense",
       launch<StrideForgotten>,
       {"mismatch"},
       {"mismatch"}},
      {"rows_of_a_in_32_bits",
       "the offset of a row of A in 32 bits",
       launch<RowsOfAIn32Bits>,
       {"finding:out-of-bounds", "mismatch"},
       {},
       kFarOutside},
      {"rows_of_b_in_32_bits",
       "the offset of a row of B in 32 bits",
       launch<RowsOfBIn32Bits>,
       {"finding:out-of-bounds", "mismatch"},
       {},
       kFarOutside},
      {"rows_of_c_in_32_bits",
       "the offset of a row of C in 32 bits",
       launch<RowsOfCIn32Bits>,
       {"finding:out-of-bounds", "finding:race", "unwritten", "mismatch"},
       {},
       kFarOutside},
      {"edge_of_the_wrong_side",
       "compares the row with the columns and the column with the rows",
       launch<EdgeOfTheWrongSide>,
       {"finding:uninitialised", "finding:out-of-bounds", "mismatch"},
       {"mismatch"}},
      {"tile_transposed",
       "B's tile read by columns",
       launch<TileTransposed>,
       {"mismatch", "finding:uninitialised"},
       {"mismatch"}},
      {"no_first_barrier",
       "sums before the tile is loaded",
       launch<NoFirstBarrier>,
       {"finding:race", "finding:uninitialised"},
       {"mismatch"}},
      {"no_second_barrier",
       "loads the next tile while slower warps still sum this one",
       launch<NoSecondBarrier>,
       {"finding:race"},
       {"mismatch"},
       "whether a warp overtakes another is up to the hardware's schedule"},
      {"barrier_in_branch",
       "a barrier inside if (inside the matrix)",
       launch<BarrierInBranch>,
       {"finding:barrier-divergence"},
       {},
       "on hardware the barrier counts warps, and the tile happens to be loaded in time"},
      {"whole_depth_always",
       "sums a whole tile where the last one is partial",
       launch<WholeDepthAlways>,
       {"finding:uninitialised", "mismatch"},
       {"mismatch"}},
      {"whole_tiles_only",
       "leaves out the terms of a partial last tile",
       launch<WholeTilesOnly>,
       {"mismatch"},
       {"mismatch"}},
      {"last_term_forgotten",
       "one term less in a partial last tile",
       launch<LastTermForgotten>,
       {"mismatch"},
       {"mismatch"}},
      {"half_accumulator",
       "keeps the sum in half precision",
       launch<HalfAccumulator>,
       {"mismatch"},
       {"mismatch"}},
      {"saturated_product",
       "clamps every product to [0, 1]",
       launch<SaturatedProduct>,
       {"mismatch"},
       {"mismatch"}},
      {"row_and_column_swapped",
       "stores C[j][i]: invisible on squares of equal values",
       launch<RowAndColumnSwapped>,
       {"mismatch", "unwritten"},
       {"mismatch", "unwritten"}},
      {"dense_result",
       "stores C without its stride",
       launch<DenseResult>,
       {"guard", "unwritten", "mismatch"},
       {"guard", "unwritten", "mismatch"}},
      {"accumulates",
       "C += A B, into a C that nobody has cleared",
       launch<Accumulates>,
       {"finding:uninitialised", "mismatch"},
       {"mismatch"}},
      {"grid_of_whole_tiles",
       "n / tile blocks: the last rows and columns are nobody's",
       launch<GridOfWholeTiles>,
       {"unwritten"},
       {"unwritten"}},
      {"nothing_for_no_depth",
       "k = 0 launches nothing, and C keeps what it held",
       nothing_for_no_depth,
       {"unwritten"},
       {"unwritten"}},
      {"empty_grid",
       "an empty C is a grid of 0 blocks",
       empty_grid,
       {"cuda-error", "law"},
       {"cuda-error", "law"}},
      {"shapes_unchecked",
       "takes shapes that do not fit without a word",
       shapes_unchecked,
       {"law"},
       {"law"}},
      {"zero_padded",
       "tiles padded with zeros, whole tiles summed: a sum of -0 becomes +0",
       launch<ZeroPadded>,
       {"mismatch"},
       {"mismatch"}},
      {"products_rounded",
       "rounds each product before it is added",
       launch<ProductsRounded>,
       {"mismatch"},
       {"mismatch"}},
      {"rounds_to_zero",
       "__fmaf_rz for __fmaf_rn",
       launch<RoundsToZero>,
       {"mismatch"},
       {"mismatch"}},
      {"flushes_subnormals",
       "sums below the least normal become 0",
       launch<FlushesSubnormals>,
       {"mismatch"},
       {"mismatch"}},
      {"one_grid_of_rows",
       "no stride over the rows that a grid of 65,535 blocks does not cover",
       launch<OneGridOfRows>,
       {"unwritten", "mismatch"},
       {"unwritten", "mismatch"}},
      // Negative controls.
      {"in_steps", "the unchanged steps from which the mutants are made", launch<Honest>},
      {"row_a_block", "a block for each row, no shared memory", launch_row_a_block},
  };
}

}  // namespace lockstep::known_bad
