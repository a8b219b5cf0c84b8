// The benchmark's kernels as a CUDA program: `cuda_kernels [launches] [kernel]` prints the seconds
// of every launch.
//
// Without a name it runs the first three. The others run by name. `launch` prints the seconds of a
// tiny launch among 10^4. `memory` prints the bytes of host memory that a byte of device memory
// takes once a kernel has read and written all of it. For each other kernel it prints `NAME` and
// the seconds on the wall of every launch, then `NAME:processor` and the seconds of processor time.
// Kernels of ordinary_kernels.cu and slow_kernels.cu also print `NAME:instructions` and the warp
// instructions of one launch. `list` prints their names and what they do.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "benchmarks/kernel_support.h"
#include "benchmarks/workload.h"

namespace lb = lockstep::benchmarks;

__constant__ float coefficients[lb::kRadius + 1];

__global__ void stencil(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float tile[lb::kBlock + 2 * lb::kRadius];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int t = threadIdx.x + lb::kRadius;
  tile[t] = i < n ? x[i] : 0.f;
  if (threadIdx.x < lb::kRadius) {
    const int left = i - lb::kRadius, right = i + lb::kBlock;
    tile[t - lb::kRadius] = left >= 0 ? x[left] : 0.f;
    tile[t + lb::kBlock] = right < n ? x[right] : 0.f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0.f;
#pragma unroll
  for (int k = 1; k <= lb::kRadius; ++k) sum += coefficients[k] * (tile[t + k] - tile[t - k]);
  y[i] = sum;
}

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[lb::kTile][lb::kTile], tb[lb::kTile][lb::kTile];
  const int row = blockIdx.y * lb::kTile + threadIdx.y,
            column = blockIdx.x * lb::kTile + threadIdx.x;
  float sum = 0.f;
  for (int k = 0; k < n; k += lb::kTile) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int j = 0; j < lb::kTile; ++j) sum += ta[threadIdx.y][j] * tb[j][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void histogram(const int* values, int n, int* bins) {
  __shared__ int local[lb::kBins];
  for (int b = threadIdx.x; b < lb::kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int v = values[i];
    atomicAdd(&local[v < 0 ? 0 : v >= lb::kBins ? lb::kBins - 1 : v], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < lb::kBins; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

__global__ void count_launch(int* launches) {
  if (threadIdx.x == 0) ++*launches;
}

__global__ void increment(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += 1;
}

namespace {

using lb::check;
using lb::download;
using lb::time_launches;
using lb::upload;

// Bytes of this process that are in memory now.
double resident_bytes() {
  long pages = 0, resident = 0;
  std::FILE* f = std::fopen("/proc/self/statm", "r");
  if (!f || std::fscanf(f, "%ld %ld", &pages, &resident) != 2) {
    std::fprintf(stderr, "cannot read /proc/self/statm\n");
    std::exit(1);
  }
  std::fclose(f);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 3;
  const char* only = argc > 2 ? argv[2] : nullptr;
  auto asked_for = [&](const char* name) { return only && !std::strcmp(only, name); };
  auto wanted = [&](const char* name) { return !only || asked_for(name); };
  bool right = true, known = !only;
  for (const char* name : {"stencil", "matmul", "histogram", "launch", "memory", "list"})
    known |= asked_for(name);

  if (wanted("stencil")) {
    const auto x = lb::floats(lb::kStencilSize, 1);
    check(cudaMemcpyToSymbol(coefficients, lb::kCoefficients, sizeof lb::kCoefficients),
          "cudaMemcpyToSymbol");
    float *dx = upload(x), *dy = upload(std::vector<float>(x.size()));
    const auto seconds = time_launches(launches, [&] {
      stencil<<<lb::kStencilSize / lb::kBlock, lb::kBlock>>>(dx, dy, lb::kStencilSize);
    });
    right &= lb::same(download(dy, x.size()), lb::stencil(x), "stencil") &&
             lb::report("stencil", seconds);
  }
  if (wanted("matmul")) {
    const auto a = lb::floats(lb::kMatrix * lb::kMatrix, 2),
               b = lb::floats(lb::kMatrix * lb::kMatrix, 3);
    float *da = upload(a), *db = upload(b), *dc = upload(std::vector<float>(a.size()));
    const dim3 grid(lb::kMatrix / lb::kTile, lb::kMatrix / lb::kTile), block(lb::kTile, lb::kTile);
    const auto seconds =
        time_launches(launches, [&] { matmul<<<grid, block>>>(da, db, dc, lb::kMatrix); });
    right &= lb::same(download(dc, a.size()), lb::matmul(a, b), "matmul") &&
             lb::report("matmul", seconds);
  }
  if (wanted("histogram")) {
    const auto values = lb::ints(lb::kHistogramSize, 4);
    const std::vector<int> zero(lb::kBins);
    int *dv = upload(values), *bins = upload(zero);
    const auto seconds = time_launches(launches, [&] {
      check(cudaMemset(bins, 0, lb::kBins * sizeof(int)), "cudaMemset");
      histogram<<<lb::kHistogramBlocks, lb::kBlock>>>(dv, lb::kHistogramSize, bins);
    });
    right &= lb::same(download(bins, lb::kBins), lb::histogram(values), "histogram") &&
             lb::report("histogram", seconds);
  }
  if (asked_for("launch")) {
    constexpr int kLaunches = 10000;
    int* launched = upload(std::vector<int>(1));
    const auto seconds = time_launches(launches, [&] {
      for (int i = 0; i < kLaunches; ++i) count_launch<<<1, 32>>>(launched);
    });
    std::vector<double> each;
    for (double s : seconds.wall) each.push_back(s / kLaunches);
    right &= lb::same(download(launched, 1), {launches * kLaunches}, "launch") &&
             lb::report("launch", each);
  }
  if (asked_for("memory")) {
    constexpr int kInts = 1 << 25;
    const double before = resident_bytes();
    int* p = nullptr;
    check(cudaMalloc(&p, kInts * sizeof(int)), "cudaMalloc");
    check(cudaMemset(p, 0, kInts * sizeof(int)), "cudaMemset");
    increment<<<kInts / lb::kBlock, lb::kBlock>>>(p, kInts);
    check(cudaDeviceSynchronize(), "increment");
    const double after = resident_bytes();
    right &= lb::same(download(p, kInts), std::vector<int>(kInts, 1), "memory") &&
             lb::report("memory", {(after - before) / (kInts * sizeof(int))});
  }
  for (const auto* kernels : {&lb::kOrdinaryKernels, &lb::kSlowKernels})
    for (const lb::SingleKernel& k : *kernels) {
      if (asked_for("list")) std::printf("%s %s\n", k.name, k.what);
      if (!asked_for(k.name)) continue;
      lb::Cost cost;
      const std::string name = k.name;
      right &=
          k.run(launches, cost) && lb::report(name, cost.seconds) &&
          lb::report((name + ":instructions").c_str(), {static_cast<double>(cost.instructions)});
      known = true;
    }
  if (only && !known) {
    std::fprintf(stderr, "there is no kernel '%s'\n", only);
    return 1;
  }
  return right ? 0 : 1;
}
