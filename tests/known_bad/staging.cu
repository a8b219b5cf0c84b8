// Mutants of the staging kernels. The correct kernel consists of steps; a mutant replaces one step
// by a typical mistake. The negative controls at the end are correct in another way and must be
// accepted.
#include <algorithm>

#include "tests/known_bad/staging.h"

namespace lockstep::known_bad {
namespace {

using kernels::LaunchStatus;
using kernels::StagingLaunchers;
using kernels::StagingShape;
using kernels::TileMap;
using kernels::TransposeVariant;
using Index = std::int64_t;
using Word = std::uint32_t;

constexpr const char* kWho = "known-bad staging";
constexpr Index kMaxGridY = 65535;

// ---- Block-local maps.

struct Honest {
  __device__ static int length(Index n, Index first, int block) {
    return static_cast<int>(n - first < block ? n - first : block);
  }
  __device__ static Word load(const Word* x, Index first, int j) { return x[first + j]; }
  __device__ static void wait(bool) { __syncthreads(); }
  __device__ static void wait_for_users() { __syncthreads(); }
  __device__ static Word combine(TileMap map, const Word* tile, int j, int length) {
    if (map == TileMap::kReverse) return tile[length - 1 - j];
    if (map == TileMap::kRotate) return tile[(j + 1) % length];
    return j == 0 ? tile[0] : tile[j] - tile[j - 1];
  }
  static unsigned tiles(Index n, Index block) { return (n - 1) / block + 1; }
};

template <class Step>
__global__ void tiles_of_words(TileMap map, const Word* x, Index n, Word* y) {
  extern __shared__ Word tile[];
  const int j = threadIdx.x, block = blockDim.x;
  for (Index first = Index{blockIdx.x} * block; first < n; first += Index{gridDim.x} * block) {
    const int length = Step::length(n, first, block);
    const bool active = first + j < n;
    if (active) tile[j] = Step::load(x, first, j);
    Step::wait(active);
    if (active) y[first + j] = Step::combine(map, tile, j, length);
    Step::wait_for_users();
  }
}

template <class Step>
LaunchStatus map_tiles(TileMap map, const Word* x, Index n, Word* y, const StagingShape& shape,
                       cudaStream_t stream) {
  if (LaunchStatus status = check_tile_map(map, x, n, y, shape); !status.ok() || n == 0)
    return status;
  const unsigned blocks = std::min<Index>(Step::tiles(n, shape.block), shape.max_blocks);
  if (blocks > 0)
    tiles_of_words<Step><<<blocks, shape.block, shape.block * sizeof(Word), stream>>>(map, x, n, y);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

struct NoBarrier : Honest {
  __device__ static void wait(bool) {}
};

struct NoSecondBarrier : Honest {
  __device__ static void wait_for_users() {}
};

struct BarrierForTheActive : Honest {
  __device__ static void wait(bool active) {
    if (active) __syncthreads();
  }
};

struct WarpBarrierOnly : Honest {
  __device__ static void wait(bool) { __syncwarp(); }
};

struct TailIsAWholeTile : Honest {
  __device__ static int length(Index, Index, int block) { return block; }
};

struct DifferenceReadsBefore : Honest {
  __device__ static Word combine(TileMap map, const Word* tile, int j, int length) {
    return map == TileMap::kAdjacentDifference ? tile[j] - tile[j - 1]
                                               : Honest::combine(map, tile, j, length);
  }
};

struct RotatesTheOtherWay : Honest {
  __device__ static Word combine(TileMap map, const Word* tile, int j, int length) {
    return map == TileMap::kRotate ? tile[(j + length - 1) % length]
                                   : Honest::combine(map, tile, j, length);
  }
};

struct RotationDoesNotWrap : Honest {
  __device__ static Word combine(TileMap map, const Word* tile, int j, int length) {
    return map == TileMap::kRotate ? tile[j + 1] : Honest::combine(map, tile, j, length);
  }
};

struct WholeTilesOnly : Honest {
  static unsigned tiles(Index n, Index block) { return n / block; }
};

// ---- The transpose.

struct HonestTranspose {
  static constexpr int kRowWords = 33;
  __device__ static bool inside(Index i, Index j, Index rows, Index columns) {
    return i < rows && j < columns;
  }
  __device__ static Index target(Index i, Index j, Index rows, Index) { return j * rows + i; }
  __device__ static void wait() { __syncthreads(); }
  __device__ static void wait_for_its_users() { __syncthreads(); }
  __device__ static Index next_row(Index row) { return row + Index{gridDim.y} * 32; }
};

template <class Step>
__global__ void transpose_tiles(const Word* x, Index rows, Index columns, Word* y) {
  __shared__ Word tile[32][Step::kRowWords];
  const Index column = Index{blockIdx.x} * 32;
  for (Index row = Index{blockIdx.y} * 32; row < rows; row = Step::next_row(row)) {
    for (int ty = threadIdx.y; ty < 32; ty += blockDim.y) {
      if (Step::inside(row + ty, column + threadIdx.x, rows, columns))
        tile[ty][threadIdx.x] = x[(row + ty) * columns + column + threadIdx.x];
    }
    Step::wait();
    for (int ty = threadIdx.y; ty < 32; ty += blockDim.y) {
      const Index i = row + threadIdx.x, j = column + ty;
      if (Step::inside(i, j, rows, columns))
        y[Step::target(i, j, rows, columns)] = tile[threadIdx.x][ty];
    }
    Step::wait_for_its_users();
  }
}

template <class Step>
LaunchStatus transpose(TransposeVariant variant, const Word* x, Index rows, Index columns, Word* y,
                       cudaStream_t stream) {
  if (variant != TransposeVariant::kPadded)
    return kernels::transpose(variant, x, rows, columns, y, stream);
  if (LaunchStatus status = check_transpose(variant, x, rows, columns, y);
      !status.ok() || rows == 0 || columns == 0)
    return status;
  const dim3 grid((columns - 1) / 32 + 1, std::min<Index>((rows - 1) / 32 + 1, kMaxGridY));
  transpose_tiles<Step><<<grid, dim3(32, 8), 0, stream>>>(x, rows, columns, y);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

// Omits the rows beyond a grid of 65,535 blocks.
struct OneGridOfRows : HonestTranspose {
  __device__ static Index next_row(Index) { return 0x7fffffffffffffff; }
};

// A block that processes more rows overwrites the tile while slower warps read it.
struct NextTileAtOnce : HonestTranspose {
  __device__ static void wait_for_its_users() {}
};

struct BankConflicts : HonestTranspose {
  static constexpr int kRowWords = 32;
};

struct StrideOfTheInput : HonestTranspose {
  __device__ static Index target(Index i, Index j, Index, Index columns) { return j * columns + i; }
};

struct EdgeOnColumnsOnly : HonestTranspose {
  __device__ static bool inside(Index, Index j, Index, Index columns) { return j < columns; }
};

struct TransposeWithoutBarrier : HonestTranspose {
  __device__ static void wait() {}
};

// ---- The thread-local map.

__global__ void map_signed(const Word* x, Index n, Word* y, Word a, Word b) {
  const Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] =
        static_cast<Word>(static_cast<float>(a) * static_cast<float>(x[i]) + static_cast<float>(b));
}

__global__ void map_without_stride(const Word* x, Index n, Word* y, Word a, Word b) {
  const Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + b;
}

__global__ void map_in_place(const Word* x, Index n, Word* y, Word a, Word b) {
  const Index step = Index{gridDim.x} * blockDim.x;
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    const_cast<Word*>(x)[i] = y[i] = a * x[i] + b;
}

// A negative control: four words per thread if both arrays are aligned, otherwise one.
__global__ void map_by_four(const Word* x, Index n, Word* y, Word a, Word b) {
  const Index step = Index{gridDim.x} * blockDim.x,
              thread = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(y)) % sizeof(uint4) ==
      0;
  const Index fours = aligned ? n / 4 : 0;
  for (Index i = thread; i < fours; i += step) {
    const uint4 v = reinterpret_cast<const uint4*>(x)[i];
    reinterpret_cast<uint4*>(y)[i] = make_uint4(a * v.x + b, a * v.y + b, a * v.z + b, a * v.w + b);
  }
  for (Index i = 4 * fours + thread; i < n; i += step) y[i] = a * x[i] + b;
}

template <auto kKernel>
LaunchStatus map_words(const Word* x, Index n, Word* y, Word a, Word b, const StagingShape& shape,
                       cudaStream_t stream) {
  if (LaunchStatus status = check_tile_map(TileMap::kReverse, x, n, y, shape);
      !status.ok() || n == 0)
    return status;
  kKernel<<<static_cast<unsigned>(std::min<Index>((n - 1) / shape.block + 1, shape.max_blocks)),
            shape.block, 0, stream>>>(x, n, y, a, b);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

// ---- Negative controls of the block-local maps and the transpose: no shared memory at all.

__global__ void tiles_from_global(TileMap map, const Word* x, Index n, Word* y) {
  const Index block = blockDim.x;
  for (Index first = blockIdx.x * block; first < n; first += gridDim.x * block) {
    const int length = Honest::length(n, first, blockDim.x), j = threadIdx.x;
    if (j < length) y[first + j] = Honest::combine(map, x + first, j, length);
  }
}

LaunchStatus map_tiles_from_global(TileMap map, const Word* x, Index n, Word* y,
                                   const StagingShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check_tile_map(map, x, n, y, shape); !status.ok() || n == 0)
    return status;
  tiles_from_global<<<static_cast<unsigned>(
                          std::min<Index>((n - 1) / shape.block + 1, shape.max_blocks)),
                      shape.block, 0, stream>>>(map, x, n, y);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

template <auto kTileMap>
const StagingLaunchers* with_tile_map() {
  static const StagingLaunchers family = {.tile_map = kTileMap};
  return &family;
}
template <auto kTranspose>
const StagingLaunchers* with_transpose() {
  static const StagingLaunchers family = {.transpose = kTranspose};
  return &family;
}
template <auto kThreadMap>
const StagingLaunchers* with_thread_map() {
  static const StagingLaunchers family = {.thread_map = kThreadMap};
  return &family;
}

}  // namespace

Mutants<const StagingLaunchers> staging_mutants() {
  constexpr const char* kWatched = "whether threads meet is up to the hardware's schedule";
  return {
      {"no_barrier",
       "uses neighbours' values before they are there",
       with_tile_map<map_tiles<NoBarrier>>(),
       {"finding:race", "finding:uninitialised"},
       {"mismatch"}},
      {"warp_barrier_only",
       "__syncwarp for __syncthreads",
       with_tile_map<map_tiles<WarpBarrierOnly>>(),
       {"finding:race", "finding:uninitialised"},
       {"mismatch"}},
      {"no_second_barrier",
       "loads the next tile while slower warps still read this one",
       with_tile_map<map_tiles<NoSecondBarrier>>(),
       {"finding:race"},
       {},
       kWatched},
      {"barrier_for_the_active",
       "a barrier inside if (i < n)",
       with_tile_map<map_tiles<BarrierForTheActive>>(),
       {"finding:barrier-divergence"},
       {},
       "on hardware the barrier counts warps, and the tile happens to be loaded in time"},
      {"tail_is_a_whole_tile",
       "a partial last tile taken as whole",
       with_tile_map<map_tiles<TailIsAWholeTile>>(),
       {"finding:uninitialised", "mismatch"},
       {"mismatch"}},
      {"difference_reads_before",
       "x[j] - x[j - 1] for j = 0 too",
       with_tile_map<map_tiles<DifferenceReadsBefore>>(),
       {"finding:out-of-bounds"},
       {},
       "an address below shared memory ends the context"},
      {"rotates_the_other_way",
       "moves to the end and not to the front",
       with_tile_map<map_tiles<RotatesTheOtherWay>>(),
       {"mismatch"},
       {"mismatch"}},
      {"rotation_does_not_wrap",
       "the last element reads past its tile",
       with_tile_map<map_tiles<RotationDoesNotWrap>>(),
       {"finding:out-of-bounds", "finding:uninitialised"},
       {"mismatch"},
       "shared memory is allocated in larger units: the word past the tile exists there"},
      {"whole_tiles_only",
       "n / block tiles: the tail is nobody's",
       with_tile_map<map_tiles<WholeTilesOnly>>(),
       {"unwritten"},
       {"unwritten"}},
      {"bank_conflicts",
       "32 words a row: a column is one bank (found by counters)",
       with_transpose<transpose<BankConflicts>>(),
       {"law"},
       {},
       "the result is right; only the counters show it"},
      {"stride_of_the_input",
       "stores with the input's row length",
       with_transpose<transpose<StrideOfTheInput>>(),
       {"mismatch", "unwritten", "finding:out-of-bounds", "finding:race"},
       {"mismatch", "unwritten", "guard"}},
      {"edge_on_columns_only",
       "no check of the last rows",
       with_transpose<transpose<EdgeOnColumnsOnly>>(),
       {"finding:out-of-bounds"},
       {"guard", "mismatch", "unwritten"}},
      {"transpose_without_barrier",
       "reads columns before the rows are there",
       with_transpose<transpose<TransposeWithoutBarrier>>(),
       {"finding:race", "finding:uninitialised"},
       {"mismatch"}},
      {"one_grid_of_rows",
       "no stride over the rows that a grid of 65,535 blocks does not cover",
       with_transpose<transpose<OneGridOfRows>>(),
       {"unwritten", "mismatch"},
       {"unwritten", "mismatch"}},
      {"next_tile_at_once",
       "the stride over rows without its barrier: 4,194,240 rows before one is missing",
       with_transpose<transpose<NextTileAtOnce>>(),
       {"finding:race"},
       {},
       kWatched},
      {"map_through_float",
       "computes in float: right below 2^24 only",
       with_thread_map<map_words<map_signed>>(),
       {"mismatch"},
       {"mismatch"}},
      {"map_without_stride",
       "a grid smaller than the data leaves the rest",
       with_thread_map<map_words<map_without_stride>>(),
       {"unwritten"},
       {"unwritten"}},
      {"map_in_place",
       "writes the result into the input too",
       with_thread_map<map_words<map_in_place>>(),
       {"input-changed"},
       {"input-changed"}},
      // Negative controls.
      {"tiles_in_steps", "the unchanged steps of the block-local maps",
       with_tile_map<map_tiles<Honest>>()},
      {"transpose_in_steps", "the unchanged steps of the transpose",
       with_transpose<transpose<HonestTranspose>>()},
      {"tiles_from_global", "neighbours from global memory, no barrier",
       with_tile_map<map_tiles_from_global>()},
      {"map_by_four", "16-byte accesses where the arrays are aligned to them",
       with_thread_map<map_words<map_by_four>>()},
  };
}

}  // namespace lockstep::known_bad
