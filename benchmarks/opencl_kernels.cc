// The benchmark's kernels as an OpenCL program: `opencl_kernels PLATFORM [launches] [kernel]`
// prints the seconds of every launch.
//
// PLATFORM is a part of the platform's name: "Portable" for PoCL, "Oclgrind" for Oclgrind.
#define CL_TARGET_OPENCL_VERSION 120
#if !__has_include(<CL/cl.h>)
#error "This benchmark needs the Debian packages ocl-icd-opencl-dev, pocl-opencl-icd and oclgrind: "
"apt-get install them."
#endif
#include <CL/cl.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "benchmarks/workload.h"

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

void check(cl_int e, const char* what) {
  if (e == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: OpenCL error %d\n", what, e);
  std::exit(1);
}

struct Device {
  cl_context context;
  cl_command_queue queue;
  cl_program program;
};

Device open(const char* platform_name) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
  for (cl_uint i = 0; i < count; ++i) {
    char name[256] = "";
    check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, nullptr),
          "clGetPlatformInfo");
    if (!std::strstr(name, platform_name)) continue;
    cl_device_id id;
    cl_int e = 0;
    check(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &id, nullptr), "clGetDeviceIDs");
    Device d;
    d.context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &e);
    check(e, "clCreateContext");
    d.queue = clCreateCommandQueue(d.context, id, 0, &e);
    check(e, "clCreateCommandQueue");
    d.program =
        clCreateProgramWithSource(d.context, 1, const_cast<const char**>(&kSource), nullptr, &e);
    check(e, "clCreateProgramWithSource");
    char options[256];
    std::snprintf(options, sizeof options,
                  "-cl-std=CL1.2 -DBLOCK=%d -DRADIUS=%d -DTILE=%d -DBINS=%d", lb::kBlock,
                  lb::kRadius, lb::kTile, lb::kBins);
    check(clBuildProgram(d.program, 1, &id, options, nullptr, nullptr), "clBuildProgram");
    return d;
  }
  std::fprintf(stderr, "no OpenCL platform whose name holds '%s' among %u\n", platform_name, count);
  std::exit(1);
}

template <class T>
cl_mem upload(const Device& d, const std::vector<T>& v) {
  cl_int e = 0;
  cl_mem m = clCreateBuffer(d.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                            v.size() * sizeof(T), const_cast<T*>(v.data()), &e);
  check(e, "clCreateBuffer");
  return m;
}

template <class T>
std::vector<T> download(const Device& d, cl_mem m, std::size_t n) {
  std::vector<T> v(n);
  check(clEnqueueReadBuffer(d.queue, m, CL_TRUE, 0, n * sizeof(T), v.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  return v;
}

template <class... Args>
cl_kernel make_kernel(const Device& d, const char* name, Args... args) {
  cl_int e = 0;
  cl_kernel k = clCreateKernel(d.program, name, &e);
  check(e, name);
  cl_uint i = 0;
  (check(clSetKernelArg(k, i++, sizeof args, &args), "clSetKernelArg"), ...);
  return k;
}

std::vector<double> time_launches(const Device& d, int launches, cl_kernel k, cl_uint dimensions,
                                  const std::size_t* global, const std::size_t* local,
                                  cl_mem zeroed = nullptr) {
  std::vector<double> seconds;
  for (int i = 0; i < launches; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const cl_int zero = 0;
    if (zeroed)
      check(clEnqueueFillBuffer(d.queue, zeroed, &zero, sizeof zero, 0, lb::kBins * sizeof(int), 0,
                                nullptr, nullptr),
            "fill");
    check(
        clEnqueueNDRangeKernel(d.queue, k, dimensions, nullptr, global, local, 0, nullptr, nullptr),
        "launch");
    check(clFinish(d.queue), "clFinish");
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PLATFORM [launches] [kernel]\n", argv[0]);
    return 2;
  }
  const Device d = open(argv[1]);
  const int launches = argc > 2 ? std::atoi(argv[2]) : 3;
  const char* only = argc > 3 ? argv[3] : nullptr;
  auto wanted = [&](const char* name) { return !only || !std::strcmp(only, name); };
  bool right = true;

  if (wanted("stencil")) {
    const auto x = lb::floats(lb::kStencilSize, 1);
    cl_mem y = upload(d, std::vector<float>(x.size()));
    cl_kernel k = make_kernel(
        d, "stencil", upload(d, x), y,
        upload(d, std::vector<float>(lb::kCoefficients, lb::kCoefficients + lb::kRadius + 1)),
        cl_int{lb::kStencilSize});
    const std::size_t global = lb::kStencilSize, local = lb::kBlock;
    const auto seconds = time_launches(d, launches, k, 1, &global, &local);
    right &= lb::same(download<float>(d, y, x.size()), lb::stencil(x), "stencil") &&
             lb::report("stencil", seconds);
  }
  if (wanted("matmul")) {
    const auto a = lb::floats(lb::kMatrix * lb::kMatrix, 2),
               b = lb::floats(lb::kMatrix * lb::kMatrix, 3);
    cl_mem c = upload(d, std::vector<float>(a.size()));
    cl_kernel k = make_kernel(d, "matmul", upload(d, a), upload(d, b), c, cl_int{lb::kMatrix});
    const std::size_t global[2] = {lb::kMatrix, lb::kMatrix}, local[2] = {lb::kTile, lb::kTile};
    const auto seconds = time_launches(d, launches, k, 2, global, local);
    right &= lb::same(download<float>(d, c, a.size()), lb::matmul(a, b), "matmul") &&
             lb::report("matmul", seconds);
  }
  if (wanted("histogram")) {
    const auto values = lb::ints(lb::kHistogramSize, 4);
    cl_mem bins = upload(d, std::vector<int>(lb::kBins));
    cl_kernel k = make_kernel(d, "histogram", upload(d, values), cl_int{lb::kHistogramSize}, bins);
    const std::size_t global = lb::kHistogramBlocks * lb::kBlock, local = lb::kBlock;
    const auto seconds = time_launches(d, launches, k, 1, &global, &local, bins);
    right &= lb::same(download<int>(d, bins, lb::kBins), lb::histogram(values), "histogram") &&
             lb::report("histogram", seconds);
  }
  return right ? 0 : 1;
}
