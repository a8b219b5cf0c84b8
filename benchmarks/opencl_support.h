// What the benchmark's OpenCL programs share: checked calls, the device, buffers, and the time of
// launches.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#if !__has_include(<CL/cl.h>)
#error "Needs the Debian packages ocl-icd-opencl-dev, pocl-opencl-icd and oclgrind: install them."
#endif
#include <CL/cl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "benchmarks/workload.h"

namespace lockstep::benchmarks {

inline void check(cl_int e, const char* what) {
  if (e == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: OpenCL error %d\n", what, e);
  std::exit(1);
}

struct Device {
  cl_context context;
  cl_command_queue queue;
  cl_device_id id;
};

// The first device of the platform whose name holds `platform_name`.
inline Device open(const char* platform_name) {
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
    d.id = id;
    return d;
  }
  std::fprintf(stderr, "no OpenCL platform whose name holds '%s' among %u\n", platform_name, count);
  std::exit(1);
}

inline cl_program build(const Device& d, const char* source, const std::string& options) {
  cl_int e = 0;
  cl_program program = clCreateProgramWithSource(d.context, 1, &source, nullptr, &e);
  check(e, "clCreateProgramWithSource");
  if (clBuildProgram(program, 1, &d.id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    std::vector<char> log(1 << 16);
    clGetProgramBuildInfo(program, d.id, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
    std::fprintf(stderr, "clBuildProgram: %s\n", log.data());
    std::exit(1);
  }
  return program;
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
cl_kernel make_kernel(cl_program program, const char* name, Args... args) {
  cl_int e = 0;
  cl_kernel k = clCreateKernel(program, name, &e);
  check(e, name);
  cl_uint i = 0;
  (check(clSetKernelArg(k, i++, sizeof args, &args), "clSetKernelArg"), ...);
  return k;
}

using Sizes = std::initializer_list<std::size_t>;

// One launch: work items of the grid, and of a group.
inline void launch(const Device& d, cl_kernel k, Sizes global, Sizes local) {
  check(clEnqueueNDRangeKernel(d.queue, k, static_cast<cl_uint>(global.size()), nullptr,
                               global.begin(), local.begin(), 0, nullptr, nullptr),
        "launch");
}
inline void fill_with_zeros(const Device& d, cl_mem m, std::size_t bytes) {
  const cl_int zero = 0;
  check(clEnqueueFillBuffer(d.queue, m, &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr), "fill");
}

// Of each of `launches` calls of `work`, with what they have queued.
inline Seconds time_work(const Device& d, int launches, const std::function<void()>& work) {
  return time_each(launches, [&] {
    work();
    check(clFinish(d.queue), "clFinish");
  });
}

// A kernel that is timed by itself: as benchmarks/kernel_support.h has it for CUDA.
struct SingleKernel {
  const char* name;
  bool (*run)(const Device& d, cl_program program, int launches, Seconds& seconds);
};
extern const std::vector<SingleKernel> kSingleKernels;  // opencl_single_kernels.cc
cl_program build_single_kernels(const Device& d);

}  // namespace lockstep::benchmarks
