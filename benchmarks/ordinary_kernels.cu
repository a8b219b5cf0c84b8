// Kernels of the kinds that programs consist of, each timed by itself.
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>

#include "benchmarks/kernel_support.h"
#include "benchmarks/workload.h"

namespace lockstep::benchmarks {
namespace {

constexpr int kReduced = 1 << 20;
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
  const auto x = ints(kReduced, 10);
  int *dx = upload(x), *sum = upload(std::vector<int>(1)), want = 0;
  cost = cost_of(launches, [&] {
    check(cudaMemset(sum, 0, sizeof(int)), "cudaMemset");
    sum_by_shuffles<<<kReduced / kBlock / 4, kBlock>>>(dx, kReduced, sum);
  });
  for (const int v : x) want += v;
  return equal(download(sum, 1), {want}, "shuffle_reduction");
}

// A scan in one pass: each block adds up those before it (Merrill and Garland, "Single-pass
// Parallel Prefix Scan with Decoupled Look-back", 2016).
constexpr int kScanned = 1 << 19;
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
  const auto x = ints(kScanned, 11);
  int *dx = upload(x), *dy = upload(x);
  auto* tiles = upload(std::vector<unsigned long long>(kScanned / kBlock));
  cost = cost_of(launches, [&] {
    check(cudaMemset(tiles, 0, kScanned / kBlock * sizeof *tiles), "cudaMemset");
    scan_looking_back<<<kScanned / kBlock, kBlock>>>(dx, dy, tiles);
  });
  std::vector<int> want(x);
  for (std::size_t i = 1; i < want.size(); ++i) want[i] += want[i - 1];
  return equal(download(dy, want.size()), want, "look_back_scan");
}

constexpr int kRows = 1024;
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
  const auto x = floats(kRows * kRows, 12);
  float *dx = upload(x), *dy = upload(x);
  cost = cost_of(launches, [&] {
    transpose_tiles<<<dim3(kRows / 32, kRows / 32), dim3(32, 8)>>>(dx, dy, kRows);
  });
  std::vector<float> want(x.size());
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t c = 0; c < kRows; ++c) want[c * kRows + r] = x[r * kRows + c];
  return equal(download(dy, x.size()), want, "transpose");
}

// Compressed sparse rows, a thread a row; rows have 0 to 31 elements.
constexpr int kMatrixRows = 1 << 14;
__global__ void multiply_rows(const int* begins, const int* columns, const float* values,
                              const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = begins[row]; i < begins[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}
bool sparse_product(int launches, Cost& cost) {
  std::vector<int> begins{0}, columns;
  std::uint32_t state = 13;
  for (int row = 0; row < kMatrixRows; ++row) {
    for (std::uint32_t n = next(state) >> 27; n > 0; --n)
      columns.push_back(static_cast<int>(next(state) >> 8) % kMatrixRows);
    begins.push_back(static_cast<int>(columns.size()));
  }
  const auto values = floats(static_cast<int>(columns.size()), 14), x = floats(kMatrixRows, 15);
  int *dbegins = upload(begins), *dcolumns = upload(columns);
  float *dvalues = upload(values), *dx = upload(x), *dy = upload(x);
  cost = cost_of(launches, [&] {
    multiply_rows<<<kMatrixRows / kBlock, kBlock>>>(dbegins, dcolumns, dvalues, dx, dy,
                                                    kMatrixRows);
  });
  // Exact: sums of multiples of 1/256 below 2^14.
  std::vector<float> want(kMatrixRows);
  for (std::size_t row = 0; row < want.size(); ++row)
    for (int i = begins[row]; i < begins[row + 1]; ++i)
      want[row] += values[static_cast<std::size_t>(i)] *
                   x[static_cast<std::size_t>(columns[static_cast<std::size_t>(i)])];
  return equal(download(dy, want.size()), want, "sparse_product");
}

// Operations that neither compiler merges or splits: host and device compute the same bits.
__host__ __device__ float times(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
__host__ __device__ float dot(const float* a, const float* b) {
  return fmaf(a[2], b[2], fmaf(a[1], b[1], times(a[0], b[0])));
}
constexpr int kImage = 128, kSpheres = 8, kBounces = 3;
// The brightness of a ray through pixel (x, y), which spheres reflect.
__host__ __device__ float trace(const float (*spheres)[4], int x, int y) {
  float from[3] = {0, 0, -4}, to[3] = {(x - kImage / 2) / 64.f, (y - kImage / 2) / 64.f, 2};
  const float scale = 1 / sqrtf(dot(to, to));
  for (float& t : to) t = times(t, scale);
  float light = 0, share = 1;
  for (int bounce = 0; bounce < kBounces; ++bounce) {
    int hit = -1;
    float nearest = 1e30f;
    for (int s = 0; s < kSpheres; ++s) {
      const float rel[3] = {spheres[s][0] - from[0], spheres[s][1] - from[1],
                            spheres[s][2] - from[2]};
      const float along = dot(rel, to),
                  square = fmaf(spheres[s][3], spheres[s][3], fmaf(along, along, -dot(rel, rel)));
      if (square < 0) continue;
      const float at = along - sqrtf(square);
      if (at > 1e-3f && at < nearest) nearest = at, hit = s;
    }
    if (hit < 0) {
      light = fmaf(share, fmaf(0.5f, to[1], 0.5f), light);
      break;
    }
    float normal[3];
    for (int k = 0; k < 3; ++k) {
      from[k] = fmaf(nearest, to[k], from[k]);
      normal[k] = (from[k] - spheres[hit][k]) / spheres[hit][3];
    }
    const float turn = times(-2, dot(normal, to));
    for (int k = 0; k < 3; ++k) to[k] = fmaf(turn, normal[k], to[k]);
    share = times(share, 0.6f);
  }
  return light;
}
__global__ void trace_pixels(const float (*spheres)[4], float* image) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  image[y * kImage + x] = trace(spheres, x, y);
}
bool ray_tracer(int launches, Cost& cost) {
  std::vector<float> spheres;
  std::uint32_t state = 16;
  for (int s = 0; s < kSpheres; ++s) {
    for (int k = 0; k < 3; ++k)
      spheres.push_back(static_cast<float>(static_cast<int>(next(state) >> 24) - 128) / 100);
    spheres.push_back(0.3f + static_cast<float>(next(state) >> 24) / 512);
  }
  float *dspheres = upload(spheres), *image = upload(std::vector<float>(kImage * kImage));
  cost = cost_of(launches, [&] {
    trace_pixels<<<dim3(kImage / 16, kImage / 16), dim3(16, 16)>>>(
        reinterpret_cast<const float(*)[4]>(dspheres), image);
  });
  std::vector<float> want(kImage * kImage);
  for (int y = 0; y < kImage; ++y)
    for (int x = 0; x < kImage; ++x)
      want[static_cast<std::size_t>(y * kImage + x)] =
          trace(reinterpret_cast<const float(*)[4]>(spheres.data()), x, y);
  return equal(download(image, want.size()), want, "ray_tracer");
}

constexpr int kIterated = 1 << 14, kIterations = 64;
__host__ __device__ double iterate(double x) {
  for (int i = 0; i < kIterations; ++i) x = fma(-3.75 * x, x, 3.75 * x);
  return x;
}
__global__ void iterate_doubles(double* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = iterate(x[i]);
}
bool f64(int launches, Cost& cost) {
  std::vector<double> x(kIterated);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (static_cast<double>(i) + 0.5) / kIterated;
  double* dx = upload(x);
  cost = cost_of(launches, [&] { iterate_doubles<<<kIterated / kBlock, kBlock>>>(dx); });
  for (double& v : x)
    for (int n = 0; n < launches; ++n) v = iterate(v);
  return equal(download(dx, x.size()), x, "f64");
}

// Small integers, which f16 represents exactly.
__global__ void iterate_halves(__half2* x, const __half2* scales, const __half2* terms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 v = x[i];
  for (int k = 0; k < kIterations; ++k) v = __hfma2(v, scales[k], terms[k]);
  x[i] = v;
}
bool f16(int launches, Cost& cost) {
  std::vector<__half> x(2 * kIterated), scales(2 * kIterations), terms(2 * kIterations);
  std::vector<float> want(x.size());
  std::uint32_t state = 17;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = __float2half(want[i] = static_cast<float>(next(state) >> 26));
  for (std::size_t k = 0; k < scales.size(); ++k) {
    scales[k] = __float2half(k % 4 < 2 ? -1.f : 1.f);
    terms[k] = __float2half(static_cast<float>(next(state) >> 30) - 1);
  }
  const auto pairs = [](const std::vector<__half>& v) {
    return reinterpret_cast<__half2*>(upload(v));
  };
  __half2 *dx = pairs(x), *dscales = pairs(scales), *dterms = pairs(terms);
  cost = cost_of(launches,
                 [&] { iterate_halves<<<kIterated / kBlock, kBlock>>>(dx, dscales, dterms); });
  std::vector<float> got;
  for (const __half h : download(reinterpret_cast<__half*>(dx), x.size()))
    got.push_back(__half2float(h));
  for (int n = 0; n < launches; ++n)
    for (std::size_t i = 0; i < want.size(); ++i)
      for (std::size_t k = i % 2; k < scales.size(); k += 2)
        want[i] = want[i] * __half2float(scales[k]) + __half2float(terms[k]);
  return equal(got, want, "f16");
}

constexpr int kPlaces = 1 << 14, kCounted = 1 << 18;
__global__ void count_places(const int* places, unsigned* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[places[i]], 1u);
}
bool atomics(int launches, Cost& cost) {
  std::vector<int> places(kCounted);
  std::vector<unsigned> want(kPlaces);
  std::uint32_t state = 18;
  for (int& p : places) ++want[static_cast<std::size_t>(p = static_cast<int>(next(state) >> 18))];
  int* dplaces = upload(places);
  unsigned* counts = upload(std::vector<unsigned>(kPlaces));
  cost = cost_of(launches, [&] {
    check(cudaMemset(counts, 0, kPlaces * sizeof *counts), "cudaMemset");
    count_places<<<kCounted / kBlock, kBlock>>>(dplaces, counts, kCounted);
  });
  return equal(download(counts, kPlaces), want, "atomics");
}

constexpr int kTinyLaunches = 10000;
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

// One warp a tile of 16 x 16. Exact: sums of small integers.
constexpr int kProduct = 256;
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
  std::vector<__half> a(kProduct * kProduct), b(a.size());
  std::uint32_t state = 19;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = __float2half(static_cast<float>(next(state) >> 29) - 4);
    b[i] = __float2half(static_cast<float>(next(state) >> 29) - 4);
  }
  __half *da = upload(a), *db = upload(b);
  float* dc = upload(std::vector<float>(a.size()));
  cost = cost_of(launches, [&] {
    multiply_by_mma<<<dim3(kProduct / 16, kProduct / 64), dim3(32, 4)>>>(da, db, dc, kProduct);
  });
  std::vector<float> want(a.size()), wide(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) wide[i] = __half2float(b[i]);
  for (std::size_t i = 0; i < kProduct; ++i)
    for (std::size_t k = 0; k < kProduct; ++k) {
      const float left = __half2float(a[i * kProduct + k]);
      for (std::size_t j = 0; j < kProduct; ++j)
        want[i * kProduct + j] += left * wide[k * kProduct + j];
    }
  return equal(download(dc, want.size()), want, "mma");
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
