// The benchmark's kernels as an OpenCL program: `opencl_kernels PLATFORM [launches] [kernel]`
// prints the seconds of every launch.
//
// PLATFORM is a part of the platform's name: "Portable" for PoCL, "Oclgrind" for Oclgrind. Without
// a name it runs the first three. Those of opencl_single_kernels.cc have to be asked for by name;
// `list` prints their names.
#include "benchmarks/opencl_support.h"

namespace lb = lockstep::benchmarks;

namespace {

// Line for line the kernels of cuda_kernels.cu.
const char* const kSource = R"CL(
__kernel void stencil(__global const float* restrict x, __global float* restrict y,
                      __constant float* coefficients, int n) {
  __local float tile[BLOCK + 2 * RADIUS];
  const int i = get_global_id(0), t = get_local_id(0) + RADIUS;
  tile[t] = i < n ? x[i] : 0.f;
  if (get_local_id(0) < RADIUS) {
    const int left = i - RADIUS, right = i + BLOCK;
    tile[t - RADIUS] = left >= 0 ? x[left] : 0.f;
    tile[t + BLOCK] = right < n ? x[right] : 0.f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= n) return;
  float sum = 0.f;
  for (int k = 1; k <= RADIUS; ++k) sum += coefficients[k] * (tile[t + k] - tile[t - k]);
  y[i] = sum;
}

__kernel void matmul(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float ta[TILE][TILE], tb[TILE][TILE];
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int row = get_group_id(1) * TILE + ty, column = get_group_id(0) * TILE + tx;
  float sum = 0.f;
  for (int k = 0; k < n; k += TILE) {
    ta[ty][tx] = a[row * n + k + tx];
    tb[ty][tx] = b[(k + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < TILE; ++j) sum += ta[ty][j] * tb[j][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

__kernel void histogram(__global const int* values, int n, __global int* bins) {
  __local int counts[BINS];
  for (int b = get_local_id(0); b < BINS; b += get_local_size(0)) counts[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    const int v = values[i];
    atomic_add(&counts[v < 0 ? 0 : v >= BINS ? BINS - 1 : v], 1);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int b = get_local_id(0); b < BINS; b += get_local_size(0)) atomic_add(&bins[b], counts[b]);
}
)CL";

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PLATFORM [launches] [kernel]\n", argv[0]);
    return 2;
  }
  const lb::Device d = lb::open(argv[1]);
  const int launches = argc > 2 ? std::atoi(argv[2]) : 3;
  const char* only = argc > 3 ? argv[3] : nullptr;
  auto wanted = [&](const char* name) { return !only || !std::strcmp(only, name); };
  bool right = true;
  for (const lb::SingleKernel& k : lb::kSingleKernels) {
    if (only && !std::strcmp(only, "list")) std::printf("%s\n", k.name);
    if (!only || std::strcmp(only, k.name) != 0) continue;
    lb::Seconds seconds;
    right = k.run(d, lb::build_single_kernels(d), launches, seconds) && lb::report(k.name, seconds);
  }

  const cl_program program = lb::build(d, kSource,
                                       "-cl-std=CL1.2 -DBLOCK=" + std::to_string(lb::kBlock) +
                                           " -DRADIUS=" + std::to_string(lb::kRadius) +
                                           " -DTILE=" + std::to_string(lb::kTile) +
                                           " -DBINS=" + std::to_string(lb::kBins));

  if (wanted("stencil")) {
    const auto x = lb::floats(lb::kStencilSize, 1);
    cl_mem y = lb::upload(d, std::vector<float>(x.size()));
    cl_kernel k = lb::make_kernel(
        program, "stencil", lb::upload(d, x), y,
        lb::upload(d, std::vector<float>(lb::kCoefficients, lb::kCoefficients + lb::kRadius + 1)),
        cl_int{lb::kStencilSize});
    const auto seconds =
        lb::time_work(d, launches, [&] { lb::launch(d, k, {lb::kStencilSize}, {lb::kBlock}); });
    right &= lb::same(lb::download<float>(d, y, x.size()), lb::stencil(x), "stencil") &&
             lb::report("stencil", seconds);
  }
  if (wanted("matmul")) {
    const auto a = lb::floats(lb::kMatrix * lb::kMatrix, 2),
               b = lb::floats(lb::kMatrix * lb::kMatrix, 3);
    cl_mem c = lb::upload(d, std::vector<float>(a.size()));
    cl_kernel k = lb::make_kernel(program, "matmul", lb::upload(d, a), lb::upload(d, b), c,
                                  cl_int{lb::kMatrix});
    const auto seconds = lb::time_work(d, launches, [&] {
      lb::launch(d, k, {lb::kMatrix, lb::kMatrix}, {lb::kTile, lb::kTile});
    });
    right &= lb::same(lb::download<float>(d, c, a.size()), lb::matmul(a, b), "matmul") &&
             lb::report("matmul", seconds);
  }
  if (wanted("histogram")) {
    const auto values = lb::ints(lb::kHistogramSize, 4);
    cl_mem bins = lb::upload(d, std::vector<int>(lb::kBins));
    cl_kernel k = lb::make_kernel(program, "histogram", lb::upload(d, values),
                                  cl_int{lb::kHistogramSize}, bins);
    const auto seconds = lb::time_work(d, launches, [&] {
      lb::fill_with_zeros(d, bins, lb::kBins * sizeof(int));
      lb::launch(d, k, {lb::kHistogramBlocks * lb::kBlock}, {lb::kBlock});
    });
    right &= lb::same(lb::download<int>(d, bins, lb::kBins), lb::histogram(values), "histogram") &&
             lb::report("histogram", seconds);
  }
  return right ? 0 : 1;
}
