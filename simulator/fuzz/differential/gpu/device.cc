#include "simulator/fuzz/differential/gpu/device.h"

#include <dlfcn.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/gpu/helpers.h"
#include "simulator/fuzz/differential/sums.h"

namespace lockstep::fuzz::differential {
namespace {

// The used part of the driver's interface (cuda.h).
using Pointer = unsigned long long;
constexpr int kNotReady = 600;

}  // namespace

struct Device::Driver {
  void* library = nullptr;
  void* context = nullptr;
  void* helpers = nullptr;
  void *prepare = nullptr, *digest = nullptr, *mark = nullptr;
  Pointer input = 0;

#define LOCKSTEP_CU(name, ...) int (*name)(__VA_ARGS__) = nullptr
  LOCKSTEP_CU(cuInit, unsigned);
  LOCKSTEP_CU(cuDeviceGet, int*, int);
  LOCKSTEP_CU(cuDeviceGetName, char*, int, int);
  LOCKSTEP_CU(cuDeviceGetAttribute, int*, int, int);
  LOCKSTEP_CU(cuDevicePrimaryCtxRetain, void**, int);
  LOCKSTEP_CU(cuCtxSetCurrent, void*);
  LOCKSTEP_CU(cuCtxSetLimit, int, std::size_t);
  LOCKSTEP_CU(cuModuleLoadData, void**, const void*);
  LOCKSTEP_CU(cuModuleUnload, void*);
  LOCKSTEP_CU(cuModuleGetFunction, void**, void*, const char*);
  LOCKSTEP_CU(cuMemAlloc, Pointer*, std::size_t);
  LOCKSTEP_CU(cuMemHostAlloc, void**, std::size_t, unsigned);
  LOCKSTEP_CU(cuMemHostGetDevicePointer, Pointer*, void*, unsigned);
  LOCKSTEP_CU(cuMemcpyHtoD, Pointer, const void*, std::size_t);
  LOCKSTEP_CU(cuMemcpyDtoH, void*, Pointer, std::size_t);
  LOCKSTEP_CU(cuMemcpyHtoDAsync, Pointer, const void*, std::size_t, void*);
  LOCKSTEP_CU(cuMemsetD8Async, Pointer, unsigned char, std::size_t, void*);
  LOCKSTEP_CU(cuLaunchKernel, void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
              unsigned, void*, void**, void**);
  LOCKSTEP_CU(cuStreamCreate, void**, unsigned);
  LOCKSTEP_CU(cuStreamQuery, void*);
  LOCKSTEP_CU(cuGetErrorName, int, const char**);
#undef LOCKSTEP_CU

  template <class F>
  void bind(F& f, const char* symbol) {
    f = reinterpret_cast<F>(dlsym(library, symbol));
    if (f == nullptr) throw std::runtime_error(std::string("libcuda.so.1 has no ") + symbol);
  }
  std::string text(int error) const {
    const char* s = nullptr;
    if (cuGetErrorName(error, &s) != 0 || s == nullptr) return "error " + std::to_string(error);
    return s;
  }
  void must(int error, const char* what) const {
    if (error != 0) throw std::runtime_error(std::string(what) + ": " + text(error));
  }
};

Device::Device() : driver_(std::make_unique<Driver>()) {
  Driver& d = *driver_;
  d.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (d.library == nullptr) throw std::runtime_error(dlerror());
  d.bind(d.cuInit, "cuInit");
  d.bind(d.cuDeviceGet, "cuDeviceGet");
  d.bind(d.cuDeviceGetName, "cuDeviceGetName");
  d.bind(d.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  d.bind(d.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  d.bind(d.cuCtxSetCurrent, "cuCtxSetCurrent");
  d.bind(d.cuCtxSetLimit, "cuCtxSetLimit");
  d.bind(d.cuModuleLoadData, "cuModuleLoadData");
  d.bind(d.cuModuleUnload, "cuModuleUnload");
  d.bind(d.cuModuleGetFunction, "cuModuleGetFunction");
  d.bind(d.cuMemAlloc, "cuMemAlloc_v2");
  d.bind(d.cuMemHostAlloc, "cuMemHostAlloc");
  d.bind(d.cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2");
  d.bind(d.cuMemcpyHtoD, "cuMemcpyHtoD_v2");
  d.bind(d.cuMemcpyDtoH, "cuMemcpyDtoH_v2");
  d.bind(d.cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  d.bind(d.cuMemsetD8Async, "cuMemsetD8Async");
  d.bind(d.cuLaunchKernel, "cuLaunchKernel");
  d.bind(d.cuStreamCreate, "cuStreamCreate");
  d.bind(d.cuStreamQuery, "cuStreamQuery");
  d.bind(d.cuGetErrorName, "cuGetErrorName");
  d.must(d.cuInit(0), "cuInit");
  int device = 0, major = 0, minor = 0;
  d.must(d.cuDeviceGet(&device, 0), "cuDeviceGet");
  char name[256] = {};
  d.must(d.cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  d.must(d.cuDeviceGetAttribute(&major, 75, device), "compute capability");
  d.must(d.cuDeviceGetAttribute(&minor, 76, device), "compute capability");
  name_ = name;
  if (major != 9 || minor != 0)
    throw std::runtime_error(name_ + " is of compute capability " + std::to_string(major) + "." +
                             std::to_string(minor) + ", not 9.0");
  d.must(d.cuDevicePrimaryCtxRetain(&d.context, device), "cuDevicePrimaryCtxRetain");
  d.must(d.cuCtxSetCurrent(d.context), "cuCtxSetCurrent");
  d.must(d.cuCtxSetLimit(0, 16384),
         "cuCtxSetLimit");  // the stack of a thread: functions call themselves
  d.must(d.cuModuleLoadData(&d.helpers, kHelpers), "helpers");
  d.must(d.cuModuleGetFunction(&d.prepare, d.helpers, "prepare"), "prepare");
  d.must(d.cuModuleGetFunction(&d.digest, d.helpers, "digest"), "digest");
  d.must(d.cuModuleGetFunction(&d.mark, d.helpers, "mark"), "mark");
  d.must(d.cuMemAlloc(&d.input, kInputBytes), "cuMemAlloc");
  d.must(d.cuMemcpyHtoD(d.input, input_data().data(), kInputBytes), "cuMemcpyHtoD");
}

Device::~Device() = default;

struct Device::Lane::State {
  Driver& d;
  void* stream = nullptr;
  Pointer arenas = 0, sizes = 0, results = 0, marked = 0;
  volatile std::uint32_t* mark = nullptr;  // in memory of the host: outlives the context's end
};

Device::Lane::Lane(Device& device, std::size_t programs) : state_(new State{*device.driver_}) {
  State& s = *state_;
  s.d.must(s.d.cuCtxSetCurrent(s.d.context), "cuCtxSetCurrent");
  s.d.must(s.d.cuStreamCreate(&s.stream, 1),
           "cuStreamCreate");  // does not wait for the default stream
  s.d.must(s.d.cuMemAlloc(&s.arenas, programs * Layout::kWhole), "cuMemAlloc");
  s.d.must(s.d.cuMemAlloc(&s.sizes, programs * 8), "cuMemAlloc");
  s.d.must(s.d.cuMemAlloc(&s.results, programs * 8), "cuMemAlloc");
  void* mark = nullptr;
  s.d.must(s.d.cuMemHostAlloc(&mark, 64, 2), "cuMemHostAlloc");  // 2: has a device address
  s.mark = static_cast<volatile std::uint32_t*>(mark);
  s.d.must(s.d.cuMemHostGetDevicePointer(&s.marked, mark, 0), "cuMemHostGetDevicePointer");
}

Device::Lane::~Lane() = default;

Device::Lane::Outcome Device::Lane::run(std::span<const Program> programs,
                                        std::span<const std::uint8_t> skipped,
                                        const std::string& cubin, int milliseconds) {
  State& s = *state_;
  Driver& d = s.d;
  Outcome o;
  void* module = nullptr;
  *s.mark = 0;
  if (const int e = d.cuModuleLoadData(&module, cubin.data()); e != 0) {
    o.error = "cuModuleLoadData: " + d.text(e);
    return o;
  }
  try {
    std::vector<std::uint32_t> sizes;
    for (const Program& p : programs)
      sizes.push_back(Layout(p).bytes), sizes.push_back(Layout(p).sums);
    d.must(d.cuMemcpyHtoDAsync(s.sizes, sizes.data(), 4 * sizes.size(), s.stream), "sizes");
    std::uint32_t stride = Layout::kWhole, sums = kSums;
    std::uint64_t start = kSumStart;
    const auto n = static_cast<unsigned>(programs.size());
    void* prepare[] = {&s.arenas, &s.sizes, &stride, &start, &sums};
    d.must(d.cuLaunchKernel(d.prepare, n, 1, 1, 128, 1, 1, 0, s.stream, prepare, nullptr),
           "prepare");
    d.must(d.cuMemsetD8Async(s.results, 0, 8 * programs.size(), s.stream), "results");
    for (std::size_t i = 0; i < programs.size(); ++i) {
      if (skipped[i]) continue;
      auto number = static_cast<std::uint32_t>(i);
      void* mark[] = {&s.marked, &number};
      d.must(d.cuLaunchKernel(d.mark, 1, 1, 1, 1, 1, 1, 0, s.stream, mark, nullptr), "mark");
      const Program& p = programs[i];
      const Layout layout(p);
      void* kernel = nullptr;
      d.must(d.cuModuleGetFunction(&kernel, module, ("k" + std::to_string(i)).c_str()),
             "cuModuleGetFunction");
      const Pointer arena = s.arenas + i * Layout::kWhole;
      Pointer words[] = {d.input + p.input_offset, arena, arena + layout.scratch,
                         arena + layout.sums, d.input};
      std::array<std::uint32_t, kArgumentBytes / 4> arguments = p.arguments;
      void* parameters[] = {&words[0], &words[1], &words[2],
                            &words[3], &words[4], arguments.data()};
      d.must(d.cuLaunchKernel(kernel, p.blocks, 1, 1, p.threads, 1, 1, 0, s.stream, parameters,
                              nullptr),
             "cuLaunchKernel");
    }
    void* digest[] = {&s.arenas, &s.sizes, &stride, &s.results};
    d.must(d.cuLaunchKernel(d.digest, n, 1, 1, 128, 1, 1, 0, s.stream, digest, nullptr), "digest");
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    for (int e; (e = d.cuStreamQuery(s.stream)) != 0;) {
      if (e != kNotReady) d.must(e, "a kernel");
      if (std::chrono::steady_clock::now() > end) {
        o.hangs = true;
        o.failed = *s.mark;
        return o;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    o.digests.resize(programs.size());
    d.must(d.cuMemcpyDtoH(o.digests.data(), s.results, 8 * programs.size()), "cuMemcpyDtoH");
  } catch (const std::exception& e) {
    o.error = e.what();
    o.failed = *s.mark;
    return o;
  }
  d.cuModuleUnload(module);
  return o;
}

std::vector<std::uint8_t> Device::Lane::memory(const Program& program, std::size_t n) {
  State& s = *state_;
  std::vector<std::uint8_t> m(Layout(program).bytes);
  s.d.must(s.d.cuMemcpyDtoH(m.data(), s.arenas + n * Layout::kWhole, m.size()), "cuMemcpyDtoH");
  return m;
}

}  // namespace lockstep::fuzz::differential
