// One kernel for each kind of access or control flow that the simulated GPU is slow at.
#include "benchmarks/kernel_support.h"
#include "benchmarks/single_workloads.h"
#include "benchmarks/workload.h"

namespace lockstep::benchmarks {
namespace {

// Blocks hand a token round: each spins on a flag that its neighbour sets.
constexpr int kRing = 16, kRounds = 64, kRingThreads = 64;
__global__ void pass_token(volatile int* turn, int* visits, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) {
      // Backwards: blocks that begin earlier wait for those that begin later.
      const int mine = round * gridDim.x + (gridDim.x - 1 - blockIdx.x);
      while (*turn != mine) {
      }
      __threadfence();
    }
    __syncthreads();
    visits[threadIdx.x] += blockIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      *turn = *turn + 1;
    }
  }
}
bool flags(int launches, Cost& cost) {
  int *turn = upload(std::vector<int>(1)), *visits = upload(std::vector<int>(kRingThreads));
  cost = cost_of(launches, [&] {
    check(cudaMemset(turn, 0, sizeof(int)), "cudaMemset");
    check(cudaMemset(visits, 0, kRingThreads * sizeof(int)), "cudaMemset");
    pass_token<<<kRing, kRingThreads>>>(turn, visits, kRounds);
  });
  return equal(download(visits, kRingThreads),
               std::vector<int>(kRingThreads, kRounds * kRing * (kRing + 1) / 2), "flags");
}

__global__ void gather_scattered(const int* index, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[i]];
}
bool gather(int launches, Cost& cost) {
  const Gathered g = gathered();
  float *x = upload(g.x), *y = upload(std::vector<float>(g.x.size()));
  int* index = upload(g.index);
  cost = cost_of(launches,
                 [&] { gather_scattered<<<kGathered / kBlock, kBlock>>>(index, x, y, kGathered); });
  return equal(download(y, g.x.size()), taken(g), "gather");
}

constexpr int kSide = 128, kLayers = 8;
__global__ void blend_layers(cudaTextureObject_t texture, float* y, int side, int layers) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  float sum = 0;
  for (int layer = 0; layer < layers; ++layer)
    sum += tex2DLayered<float>(texture, i + 1.f, row + 1.f, layer);
  y[row * side + i] = sum;
}
// Between four elements, at the corner that they share; clamped at the far edges.
std::vector<float> blended(const std::vector<float>& x) {
  std::vector<float> y(kSide * kSide);
  for (int row = 0; row < kSide; ++row)
    for (int i = 0; i < kSide; ++i) {
      float sum = 0;
      for (int layer = 0; layer < kLayers; ++layer) {
        const auto at = [&](int r, int c) {
          r = r < kSide ? r : kSide - 1, c = c < kSide ? c : kSide - 1;
          return x[static_cast<std::size_t>((layer * kSide + r) * kSide + c)];
        };
        sum += (at(row, i) + at(row, i + 1) + at(row + 1, i) + at(row + 1, i + 1)) / 4;
      }
      y[static_cast<std::size_t>(row * kSide + i)] = sum;
    }
  return y;
}
bool layered_texture(int launches, Cost& cost) {
  const auto x = floats(kLayers * kSide * kSide, 7);
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(kSide, kSide, kLayers);
  check(cudaMalloc3DArray(&array, &format, extent, cudaArrayLayered), "cudaMalloc3DArray");
  cudaMemcpy3DParms copy{};
  copy.srcPtr =
      make_cudaPitchedPtr(const_cast<float*>(x.data()), kSide * sizeof(float), kSide, kSide);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  check(cudaMemcpy3D(&copy), "cudaMemcpy3D");
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) mode = cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture = 0;
  check(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
        "cudaCreateTextureObject");
  float* y = upload(std::vector<float>(kSide * kSide));
  cost = cost_of(launches,
                 [&] { blend_layers<<<dim3(1, kSide), kSide>>>(texture, y, kSide, kLayers); });
  const bool right = equal(download(y, kSide * kSide), blended(x), "layered_texture");
  check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
  check(cudaFreeArray(array), "cudaFreeArray");
  return right;
}

// All threads count at system scope: one counter a warp, then one of 64 that others use too.
constexpr int kCounters = 64, kCounting = 1 << 17;
__global__ void count_for_the_system(unsigned* shared_by_all, unsigned* of_warps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd_system(&of_warps[i / 32], 1u);
  atomicAdd_system(&shared_by_all[i * 7 % kCounters], static_cast<unsigned>(i & 3));
}
bool system_atomics(int launches, Cost& cost) {
  unsigned *all = upload(std::vector<unsigned>(kCounters)),
           *warps = upload(std::vector<unsigned>(kCounting / 32));
  cost = cost_of(launches, [&] {
    check(cudaMemset(all, 0, kCounters * sizeof(unsigned)), "cudaMemset");
    check(cudaMemset(warps, 0, kCounting / 32 * sizeof(unsigned)), "cudaMemset");
    count_for_the_system<<<kCounting / kBlock, kBlock>>>(all, warps);
  });
  std::vector<unsigned> want(kCounters);
  for (int i = 0; i < kCounting; ++i) want[i * 7 % kCounters] += i & 3;
  return equal(download(all, kCounters), want, "system_atomics") &&
         equal(download(warps, kCounting / 32), std::vector<unsigned>(kCounting / 32, 32),
               "system_atomics");
}

constexpr int kStreamed = 1 << 24;  // floats: 64 MiB
__global__ void copy_elements(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
bool streaming_copy(int launches, Cost& cost) {
  const auto x = floats(kStreamed, 8);
  float *dx = upload(x), *dy = nullptr;
  check(cudaMalloc(&dy, x.size() * sizeof(float)), "cudaMalloc");
  cost =
      cost_of(launches, [&] { copy_elements<<<kStreamed / kBlock, kBlock>>>(dx, dy, kStreamed); });
  return equal(download(dy, x.size()), x, "streaming_copy");
}

__global__ void count_steps(const std::uint32_t* starts, int* steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  steps[i] = collatz_steps(starts[i]);
}
__global__ void interpret_each(const std::uint32_t* starts, std::uint32_t* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  results[i] = interpret(starts[i], 16 + (starts[i] & 31));
}
bool divergence(int launches, Cost& cost) {
  const auto s = starts();
  std::uint32_t *dstarts = upload(s), *results = upload(s);
  int* steps = upload(std::vector<int>(kSequences));
  cost = cost_of(launches, [&] {
    count_steps<<<kSequences / kBlock, kBlock>>>(dstarts, steps);
    interpret_each<<<kSequences / kBlock, kBlock>>>(dstarts, results);
  });
  return equal(download(steps, kSequences), steps_of(s), "divergence") &&
         equal(download(results, kSequences), interpreted(s), "divergence");
}

}  // namespace

const std::vector<SingleKernel> kSlowKernels = {
    {"flags", "16 blocks hand a token round, spinning on a flag", flags},
    {"gather", "2^19 floats from random places", gather},
    {"layered_texture", "8 layers of 128 x 128 floats, linear filter", layered_texture},
    {"system_atomics", "2 x 2^17 atomics of system scope", system_atomics},
    {"streaming_copy", "64 MiB, a float a thread", streaming_copy},
    {"divergence", "Collatz sequences; a switch whose cases lanes share", divergence},
};

}  // namespace lockstep::benchmarks
