// Kernels of the kinds that programs consist of, as OpenCL: the same algorithms with the same
// launch geometry on the same data as ordinary_kernels.cu and slow_kernels.cu. Where OpenCL 1.2 has
// no counterpart, the nearest that runs natively:
//
//   shuffle_reduction  sums of a warp go through local memory
//   f16                pairs of f32, since PoCL has no arithmetic of half precision
//   mma                a product of f32, an element a work item, of factors in half precision
//
// Blocks that hand a token round (flags) have none: work groups need not be under way together.
#include "benchmarks/opencl_support.h"
#include "benchmarks/single_workloads.h"

namespace lockstep::benchmarks {
namespace {

const char* const kSource = R"CL(
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

int sum_of_warp(__local int* of_lanes, int mine) {
  const int t = get_local_id(0), lane = t % 32;
  of_lanes[t] = mine;
  for (int step = 16; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const int other = lane + step < 32 ? of_lanes[t + step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    of_lanes[t] += other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return of_lanes[t];
}
__kernel void shuffle_reduction(__global const int* x, int n, __global int* sum) {
  __local int of_lanes[BLOCK], of_warps[BLOCK / 32];
  const int t = get_local_id(0);
  int mine = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) mine += x[i];
  mine = sum_of_warp(of_lanes, mine);
  if (t % 32 == 0) of_warps[t / 32] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  mine = sum_of_warp(of_lanes, t < BLOCK / 32 ? of_warps[t] : 0);
  if (t == 0) atomic_add(sum, mine);
}

// 1: the sum of the tile, 2: the sum up to its end.
__kernel void look_back_scan(__global const int* x, __global int* y,
                             volatile __global ulong* tiles) {
  __local int scanned[BLOCK], before;
  const int i = get_global_id(0), t = get_local_id(0), block = get_group_id(0);
  int mine = x[i];
  scanned[t] = mine;
  for (int step = 1; step < BLOCK; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const int other = t >= step ? scanned[t - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    scanned[t] = mine += other;
  }
  if (t == BLOCK - 1) {
    int sum = 0;
    tiles[block] = (ulong)(block == 0 ? 2 : 1) << 32 | (uint)mine;
    for (int at = block - 1; at >= 0; --at) {
      ulong tile = tiles[at];
      while (tile >> 32 == 0) tile = tiles[at];
      sum += (int)(uint)tile;
      if (tile >> 32 == 2) break;
    }
    if (block != 0) tiles[block] = (ulong)2 << 32 | (uint)(sum + mine);
    before = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  y[i] = before + mine;
}

__kernel void transpose(__global const float* x, __global float* y, int side) {
  __local float tile[32][33];
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int column = get_group_id(0) * 32 + tx, row = get_group_id(1) * 32 + ty;
  for (int r = 0; r < 32; r += 8) tile[ty + r][tx] = x[(row + r) * side + column];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int to_column = get_group_id(1) * 32 + tx, to_row = get_group_id(0) * 32 + ty;
  for (int r = 0; r < 32; r += 8) y[(to_row + r) * side + to_column] = tile[tx][ty + r];
}

__kernel void sparse_product(__global const int* begins, __global const int* columns,
                             __global const float* values, __global const float* x,
                             __global float* y, int rows) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int i = begins[row]; i < begins[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

float dot_of(const float* a, const float* b) {
  return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0]));
}
__kernel void ray_tracer(__global const float* spheres, __global float* image) {
  const int x = get_global_id(0), y = get_global_id(1);
  float from[3] = {0, 0, -4}, to[3] = {(x - IMAGE / 2) / 64.f, (y - IMAGE / 2) / 64.f, 2};
  const float scale = 1 / sqrt(dot_of(to, to));
  for (int k = 0; k < 3; ++k) to[k] *= scale;
  float light = 0, share = 1;
  for (int bounce = 0; bounce < BOUNCES; ++bounce) {
    int hit = -1;
    float nearest = 1e30f;
    for (int s = 0; s < SPHERES; ++s) {
      __global const float* sphere = spheres + 4 * s;
      const float rel[3] = {sphere[0] - from[0], sphere[1] - from[1], sphere[2] - from[2]};
      const float along = dot_of(rel, to),
                  square = fma(sphere[3], sphere[3], fma(along, along, -dot_of(rel, rel)));
      if (square < 0) continue;
      const float at = along - sqrt(square);
      if (at > 1e-3f && at < nearest) nearest = at, hit = s;
    }
    if (hit < 0) {
      light = fma(share, fma(0.5f, to[1], 0.5f), light);
      break;
    }
    float normal[3];
    for (int k = 0; k < 3; ++k) {
      from[k] = fma(nearest, to[k], from[k]);
      normal[k] = (from[k] - spheres[4 * hit + k]) / spheres[4 * hit + 3];
    }
    const float turn = -2 * dot_of(normal, to);
    for (int k = 0; k < 3; ++k) to[k] = fma(turn, normal[k], to[k]);
    share *= 0.6f;
  }
  image[y * IMAGE + x] = light;
}

__kernel void f64(__global double* x) {
  const int i = get_global_id(0);
  double v = x[i];
  for (int k = 0; k < ITERATIONS; ++k) v = fma(-3.75 * v, v, 3.75 * v);
  x[i] = v;
}

__kernel void f16(__global float2* x, __global const float2* scales, __global const float2* terms) {
  const int i = get_global_id(0);
  float2 v = x[i];
  for (int k = 0; k < ITERATIONS; ++k) v = fma(v, scales[k], terms[k]);
  x[i] = v;
}

__kernel void atomics(__global const int* places, __global uint* counts, int n) {
  const int i = get_global_id(0);
  if (i < n) atomic_add(&counts[places[i]], 1u);
}

__kernel void tiny_launches(__global int* x) {
  if (get_local_id(0) == 0) ++*x;
}

__kernel void mma(__global const half* a, __global const half* b, __global float* c, int n) {
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += vload_half(row * n + k, a) * vload_half(k * n + column, b);
  c[row * n + column] = sum;
}

__kernel void gather(__global const int* index, __global const float* x, __global float* y, int n) {
  const int i = get_global_id(0);
  if (i < n) y[i] = x[index[i]];
}

__kernel void count_steps(__global const uint* starts, __global int* steps) {
  const int i = get_global_id(0);
  int count = 0;
  for (ulong n = starts[i]; n != 1; ++count) {
    if (n % 2 == 0)
      n /= 2;
    else
      n = 3 * n + 1;
  }
  steps[i] = count;
}
__kernel void interpret_each(__global const uint* starts, __global uint* results) {
  const int i = get_global_id(0), turns = 16 + (starts[i] & 31);
  uint x = starts[i] | 1;
  for (int t = 0; t < turns; ++t) {
    switch (x >> 29) {
      case 0: x = x * 5 + 3; break;
      case 1: x ^= x << 13; break;
      case 2: x = x * 9 - t; break;
      case 3: x ^= x >> 17; break;
      case 4: x += 0x9e3779b9u; break;
      case 5: x = (x << 7) | (x >> 25); break;
      case 6: x = ~x * 3; break;
      default: x -= x >> 3; break;
    }
    x += 0x7f4a7c15u;
  }
  results[i] = x;
}
)CL";

constexpr std::size_t kGroup = kBlock;

bool shuffle_reduction(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const auto x = summands();
  cl_mem sum = upload(d, std::vector<int>(1));
  cl_kernel k = make_kernel(p, "shuffle_reduction", upload(d, x), cl_int{kReduced}, sum);
  seconds = time_work(d, launches, [&] {
    fill_with_zeros(d, sum, sizeof(int));
    launch(d, k, {kReduced / 4}, {kGroup});
  });
  return same(download<int>(d, sum, 1), {sum_of(x)}, "shuffle_reduction");
}

bool look_back_scan(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const auto x = scan_input();
  const std::size_t tiles = kScanned / kGroup;
  cl_mem y = upload(d, x), states = upload(d, std::vector<cl_ulong>(tiles));
  cl_kernel k = make_kernel(p, "look_back_scan", upload(d, x), y, states);
  seconds = time_work(d, launches, [&] {
    fill_with_zeros(d, states, tiles * sizeof(cl_ulong));
    launch(d, k, {kScanned}, {kGroup});
  });
  return same(download<int>(d, y, x.size()), scanned(x), "look_back_scan");
}

bool transpose(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const auto x = square();
  cl_mem y = upload(d, x);
  cl_kernel k = make_kernel(p, "transpose", upload(d, x), y, cl_int{kRows});
  seconds = time_work(d, launches, [&] { launch(d, k, {kRows, kRows / 4}, {32, 8}); });
  return same(download<float>(d, y, x.size()), transposed(x), "transpose");
}

bool sparse_product(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const SparseMatrix m = sparse_matrix();
  cl_mem y = upload(d, m.x);
  cl_kernel k = make_kernel(p, "sparse_product", upload(d, m.begins), upload(d, m.columns),
                            upload(d, m.values), upload(d, m.x), y, cl_int{kMatrixRows});
  seconds = time_work(d, launches, [&] { launch(d, k, {kMatrixRows}, {kGroup}); });
  return same(download<float>(d, y, kMatrixRows), product(m), "sparse_product");
}

bool ray_tracer(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const auto spheres = scene();
  cl_mem image = upload(d, std::vector<float>(kImage * kImage));
  cl_kernel k = make_kernel(p, "ray_tracer", upload(d, spheres), image);
  seconds = time_work(d, launches, [&] { launch(d, k, {kImage, kImage}, {16, 16}); });
  return same(download<float>(d, image, kImage * kImage), traced(spheres), "ray_tracer");
}

bool f64(const Device& d, cl_program p, int launches, Seconds& seconds) {
  auto x = seeds();
  cl_mem m = upload(d, x);
  cl_kernel k = make_kernel(p, "f64", m);
  seconds = time_work(d, launches, [&] { launch(d, k, {kIterated}, {kGroup}); });
  for (double& v : x)
    for (int n = 0; n < launches; ++n) v = iterate(v);
  return same(download<double>(d, m, x.size()), x, "f64");
}

bool f16(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const Pairs w = pairs();
  cl_mem x = upload(d, w.x);
  cl_kernel k = make_kernel(p, "f16", x, upload(d, w.scales), upload(d, w.terms));
  seconds = time_work(d, launches, [&] { launch(d, k, {kIterated}, {kGroup}); });
  return same(download<float>(d, x, w.x.size()), iterated(w, launches), "f16");
}

bool atomics(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const auto at = places();
  cl_mem counts = upload(d, std::vector<unsigned>(kPlaces));
  cl_kernel k = make_kernel(p, "atomics", upload(d, at), counts, cl_int{kCounted});
  seconds = time_work(d, launches, [&] {
    fill_with_zeros(d, counts, kPlaces * sizeof(unsigned));
    launch(d, k, {kCounted}, {kGroup});
  });
  return same(download<unsigned>(d, counts, kPlaces), counted(at), "atomics");
}

bool tiny_launches(const Device& d, cl_program p, int launches, Seconds& seconds) {
  cl_mem x = upload(d, std::vector<int>(1));
  cl_kernel k = make_kernel(p, "tiny_launches", x);
  seconds = time_work(d, launches, [&] {
    for (int i = 0; i < kTinyLaunches; ++i) launch(d, k, {32}, {32});
  });
  return same(download<int>(d, x, 1), {launches * kTinyLaunches}, "tiny_launches");
}

bool mma(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const Factors f = factors();
  // Of small integers, f16 has the leading bits of f32.
  const auto halves = [](const std::vector<float>& v) {
    std::vector<cl_half> h;
    for (const float x : v) {
      std::uint32_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      const std::uint32_t size = bits & 0x7fffffff;
      h.push_back(static_cast<cl_half>(bits >> 16 & 0x8000) |
                  static_cast<cl_half>(size == 0 ? 0 : (size - (112u << 23)) >> 13));
    }
    return h;
  };
  cl_mem c = upload(d, std::vector<float>(f.a.size()));
  cl_kernel k =
      make_kernel(p, "mma", upload(d, halves(f.a)), upload(d, halves(f.b)), c, cl_int{kProduct});
  seconds = time_work(d, launches, [&] { launch(d, k, {kProduct, kProduct}, {16, 16}); });
  return same(download<float>(d, c, f.a.size()), product(f), "mma");
}

bool gather(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const Gathered g = gathered();
  cl_mem y = upload(d, std::vector<float>(g.x.size()));
  cl_kernel k = make_kernel(p, "gather", upload(d, g.index), upload(d, g.x), y, cl_int{kGathered});
  seconds = time_work(d, launches, [&] { launch(d, k, {kGathered}, {kGroup}); });
  return same(download<float>(d, y, g.x.size()), taken(g), "gather");
}

bool divergence(const Device& d, cl_program p, int launches, Seconds& seconds) {
  const auto s = starts();
  cl_mem steps = upload(d, std::vector<int>(kSequences)), results = upload(d, s);
  cl_kernel count = make_kernel(p, "count_steps", upload(d, s), steps),
            interpret = make_kernel(p, "interpret_each", upload(d, s), results);
  seconds = time_work(d, launches, [&] {
    launch(d, count, {kSequences}, {kGroup});
    launch(d, interpret, {kSequences}, {kGroup});
  });
  return same(download<int>(d, steps, kSequences), steps_of(s), "divergence") &&
         same(download<std::uint32_t>(d, results, kSequences), interpreted(s), "divergence");
}

}  // namespace

cl_program build_single_kernels(const Device& d) {
  return build(d, kSource,
               "-cl-std=CL1.2 -DBLOCK=" + std::to_string(kBlock) +
                   " -DIMAGE=" + std::to_string(kImage) + " -DSPHERES=" + std::to_string(kSpheres) +
                   " -DBOUNCES=" + std::to_string(kBounces) +
                   " -DITERATIONS=" + std::to_string(kIterations));
}

const std::vector<SingleKernel> kSingleKernels = {
    {"shuffle_reduction", shuffle_reduction},
    {"look_back_scan", look_back_scan},
    {"transpose", transpose},
    {"sparse_product", sparse_product},
    {"ray_tracer", ray_tracer},
    {"f64", f64},
    {"f16", f16},
    {"atomics", atomics},
    {"tiny_launches", tiny_launches},
    {"mma", mma},
    {"gather", gather},
    {"divergence", divergence},
};

}  // namespace lockstep::benchmarks
