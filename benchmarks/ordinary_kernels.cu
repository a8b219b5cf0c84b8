// Kernels of the kinds that programs consist of, each timed by itself.
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>

#include "benchmarks/kernel_support.h"
#include "benchmarks/single_workloads.h"
#include "benchmarks/workload.h"

namespace lockstep::benchmarks {
namespace {

__global__ void sum_by_shuffles(const int* x, int n, int* sum) {
  __shared__ int of_warps[kBlock / 32];
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += x[i];
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  mine = threadIdx.x < blockDim.x / 32 ? of_warps[threadIdx.x] : 0;
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
  if (threadIdx.x == 0) atomicAdd(sum, mine);
}
bool shuffle_reduction(int launches, Cost& cost) {
  const auto x = summands();
  int *dx = upload(x), *sum = upload(std::vector<int>(1));
  cost = cost_of(launches, [&] {
    check(cudaMemset(sum, 0, sizeof(int)), "cudaMemset");
    sum_by_shuffles<<<kReduced / kBlock / 4, kBlock>>>(dx, kReduced, sum);
  });
  return equal(download(sum, 1), {sum_of(x)}, "shuffle_reduction");
}

// A scan in one pass: each block adds up those before it (Merrill and Garland, "Single-pass
// Parallel Prefix Scan with Decoupled Look-back", 2016).
struct Tile {
  unsigned state;  // 0: nothing yet, 1: the sum of the tile, 2: the sum up to its end
  int value;
};
__device__ Tile read_tile(const unsigned long long* tiles, int t) {
  const unsigned long long word = *static_cast<const volatile unsigned long long*>(tiles + t);
  return {static_cast<unsigned>(word >> 32), static_cast<int>(word)};
}
__device__ void write_tile(unsigned long long* tiles, int t, Tile tile) {
  *static_cast<volatile unsigned long long*>(tiles + t) =
      static_cast<unsigned long long>(tile.state) << 32 | static_cast<unsigned>(tile.value);
}
__global__ void scan_looking_back(const int* x, int* y, unsigned long long* tiles) {
  __shared__ int of_warps[kBlock / 32], before;
  const int i = blockIdx.x * kBlock + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int mine = x[i];
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(~0u, mine, step);
    if (lane >= step) mine += other;
  }
  if (lane == 31) of_warps[warp] = mine;
  __syncthreads();
  int of_others = 0;
  for (int w = 0; w < warp; ++w) of_others += of_warps[w];
  mine += of_others;
  if (threadIdx.x == kBlock - 1) {
    int sum = 0;
    write_tile(tiles, blockIdx.x, {blockIdx.x == 0 ? 2u : 1u, mine});
    for (int t = static_cast<int>(blockIdx.x) - 1; t >= 0; --t) {
      Tile tile = read_tile(tiles, t);
      while (tile.state == 0) tile = read_tile(tiles, t);
      sum += tile.value;
      if (tile.state == 2) break;
    }
    if (blockIdx.x != 0) write_tile(tiles, blockIdx.x, {2u, sum + mine});
    before = sum;
  }
  __syncthreads();
  y[i] = before + mine;
}
bool look_back_scan(int launches, Cost& cost) {
  const auto x = scan_input();
  int *dx = upload(x), *dy = upload(x);
  auto* tiles = upload(std::vector<unsigned long long>(kScanned / kBlock));
  cost = cost_of(launches, [&] {
    check(cudaMemset(tiles, 0, kScanned / kBlock * sizeof *tiles), "cudaMemset");
    scan_looking_back<<<kScanned / kBlock, kBlock>>>(dx, dy, tiles);
  });
  return equal(download(dy, x.size()), scanned(x), "look_back_scan");
}

__global__ void transpose_tiles(const float* x, float* y, int side) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += 8) tile[threadIdx.y + r][threadIdx.x] = x[(row + r) * side + column];
  __syncthreads();
  const int to_column = blockIdx.y * 32 + threadIdx.x, to_row = blockIdx.x * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += 8)
    y[(to_row + r) * side + to_column] = tile[threadIdx.x][threadIdx.y + r];
}
bool transpose(int launches, Cost& cost) {
  const auto x = square();
  float *dx = upload(x), *dy = upload(x);
  cost = cost_of(launches, [&] {
    transpose_tiles<<<dim3(kRows / 32, kRows / 32), dim3(32, 8)>>>(dx, dy, kRows);
  });
  return equal(download(dy, x.size()), transposed(x), "transpose");
}

// A thread a row.
__global__ void multiply_rows(const int* begins, const int* columns, const float* values,
                              const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = begins[row]; i < begins[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}
bool sparse_product(int launches, Cost& cost) {
  const SparseMatrix m = sparse_matrix();
  int *begins = upload(m.begins), *columns = upload(m.columns);
  float *values = upload(m.values), *x = upload(m.x), *y = upload(m.x);
  cost = cost_of(launches, [&] {
    multiply_rows<<<kMatrixRows / kBlock, kBlock>>>(begins, columns, values, x, y, kMatrixRows);
  });
  return equal(download(y, kMatrixRows), product(m), "sparse_product");
}

__global__ void trace_pixels(const float (*spheres)[4], float* image) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  image[y * kImage + x] = trace(spheres, x, y);
}
bool ray_tracer(int launches, Cost& cost) {
  const auto spheres = scene();
  float *dspheres = upload(spheres), *image = upload(std::vector<float>(kImage * kImage));
  cost = cost_of(launches, [&] {
    trace_pixels<<<dim3(kImage / 16, kImage / 16), dim3(16, 16)>>>(
        reinterpret_cast<const float(*)[4]>(dspheres), image);
  });
  return equal(download(image, kImage * kImage), traced(spheres), "ray_tracer");
}

__global__ void iterate_doubles(double* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = iterate(x[i]);
}
bool f64(int launches, Cost& cost) {
  std::vector<double> x = seeds();
  double* dx = upload(x);
  cost = cost_of(launches, [&] { iterate_doubles<<<kIterated / kBlock, kBlock>>>(dx); });
  for (double& v : x)
    for (int n = 0; n < launches; ++n) v = iterate(v);
  return equal(download(dx, x.size()), x, "f64");
}

__global__ void iterate_halves(__half2* x, const __half2* scales, const __half2* terms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 v = x[i];
  for (int k = 0; k < kIterations; ++k) v = __hfma2(v, scales[k], terms[k]);
  x[i] = v;
}
bool f16(int launches, Cost& cost) {
  const Pairs p = pairs();
  const auto halves = [](const std::vector<float>& v) {
    std::vector<__half> h;
    for (const float f : v) h.push_back(__float2half(f));
    return reinterpret_cast<__half2*>(upload(h));
  };
  __half2 *x = halves(p.x), *scales = halves(p.scales), *terms = halves(p.terms);
  cost =
      cost_of(launches, [&] { iterate_halves<<<kIterated / kBlock, kBlock>>>(x, scales, terms); });
  std::vector<float> got;
  for (const __half h : download(reinterpret_cast<__half*>(x), p.x.size()))
    got.push_back(__half2float(h));
  return equal(got, iterated(p, launches), "f16");
}

__global__ void count_places(const int* places, unsigned* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[places[i]], 1u);
}
bool atomics(int launches, Cost& cost) {
  const auto at = places();
  int* dplaces = upload(at);
  unsigned* counts = upload(std::vector<unsigned>(kPlaces));
  cost = cost_of(launches, [&] {
    check(cudaMemset(counts, 0, kPlaces * sizeof *counts), "cudaMemset");
    count_places<<<kCounted / kBlock, kBlock>>>(dplaces, counts, kCounted);
  });
  return equal(download(counts, kPlaces), counted(at), "atomics");
}

__global__ void add_one(int* x) {
  if (threadIdx.x == 0) ++*x;
}
bool tiny_launches(int launches, Cost& cost) {
  int* x = upload(std::vector<int>(1));
  cost = cost_of(launches, [&] {
    for (int i = 0; i < kTinyLaunches; ++i) add_one<<<1, 32>>>(x);
  });
  return equal(download(x, 1), {launches * kTinyLaunches}, "tiny_launches");
}

// One warp a tile of 16 x 16.
__global__ void multiply_by_mma(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  const int row = 16 * (blockIdx.y * blockDim.y + threadIdx.y), column = 16 * blockIdx.x;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.f);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(fa, a + row * n + k, n);
    load_matrix_sync(fb, b + k * n + column, n);
    mma_sync(fc, fa, fb, fc);
  }
  store_matrix_sync(c + row * n + column, fc, n, mem_row_major);
}
bool mma(int launches, Cost& cost) {
  const Factors f = factors();
  std::vector<__half> a, b;
  for (const float v : f.a) a.push_back(__float2half(v));
  for (const float v : f.b) b.push_back(__float2half(v));
  __half *da = upload(a), *db = upload(b);
  float* dc = upload(std::vector<float>(a.size()));
  cost = cost_of(launches, [&] {
    multiply_by_mma<<<dim3(kProduct / 16, kProduct / 64), dim3(32, 4)>>>(da, db, dc, kProduct);
  });
  return equal(download(dc, a.size()), product(f), "mma");
}

}  // namespace

const std::vector<SingleKernel> kOrdinaryKernels = {
    {"shuffle_reduction", "the sum of 2^20 integers", shuffle_reduction},
    {"look_back_scan", "2^19 integers in one pass", look_back_scan},
    {"transpose", "1024 x 1024 floats, tiles in shared memory", transpose},
    {"sparse_product", "2^14 rows of 0 to 31 floats, a thread a row", sparse_product},
    {"ray_tracer", "128 x 128 pixels, 8 spheres, 3 bounces", ray_tracer},
    {"f64", "64 iterations of two operations, 2^14 threads", f64},
    {"f16", "64 fused operations on pairs, 2^14 threads", f16},
    {"atomics", "2^18 atomics to 2^14 counters in global memory", atomics},
    {"tiny_launches", "10^4 launches of one warp", tiny_launches},
    {"mma", "256 x 256, half precision, wmma", mma},
};

}  // namespace lockstep::benchmarks
