// Measures whether a call waits for an earlier kernel, and whether later work is ordered after it.
//
//   order --list           the names of the calls
//   order --lend           shares memory (lent.h)
//   order NAME [TIMES]     for a kernel in a blocking, a non-blocking and the legacy stream:
//                          NAME <tab> STREAM <tab> waits or returns <tab> ordered or unordered
//   order --all [TIMES]    for all calls
//   order --from NAME [TIMES]    for this call and all that follow it
//
// "waits": the call returned after the kernel had ended. "ordered": a kernel launched after the
// call, in a non-blocking stream, read the value that the first kernel wrote. On the simulated GPU
// kernels take no time: look for races of `earlier` and `later` instead. Errors of the call are on
// stderr.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "calls.h"
#include "lent.h"

namespace lockstep::streams {

Situation::Situation(cudaStream_t busy, size_t bytes)
    : busy(busy), pageable(bytes), pageable_too(bytes) {
  static int count = 0;
  number = count++;
  cudaStreamCreateWithFlags(&idle, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&later, cudaStreamNonBlocking);
  cudaStreamCreate(&idle_blocking);
  cudaEventCreateWithFlags(&behind, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&past, cudaEventDisableTiming);
  cudaEventRecord(past, idle);
  cudaMalloc(&device, bytes);
  cudaMalloc(&second, bytes);
  cudaHostAlloc(&pinned, bytes, cudaHostAllocMapped);
  cudaMallocManaged(&managed, bytes);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaMallocArray(&array, &format, 16, 4);
  for (char* all : {device, second, pinned, managed}) cudaMemset(all, 0, bytes);
  cudaMemcpy2DToArray(array, 0, 0, pinned, 64, 64, 4, cudaMemcpyHostToDevice);
  cudaDeviceSynchronize();
}

Situation::~Situation() {
  cudaDeviceSynchronize();
  cudaStreamDestroy(idle);
  cudaStreamDestroy(later);
  cudaStreamDestroy(idle_blocking);
  cudaEventDestroy(behind);
  cudaEventDestroy(past);
  cudaFree(device);
  cudaFree(second);
  cudaFreeHost(pinned);
  cudaFree(managed);
  cudaFreeArray(array);
}

namespace {

enum Kind { kBlocking, kNonBlocking, kLegacy, kKinds };
const char* const kNames[kKinds] = {"blocking", "non-blocking", "legacy"};

// Templates over the kind of stream, so that findings name the kind.
template <int kind>
__global__ void earlier(int* x, long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
  *x = 1;
}
template <int kind>
__global__ void later(const int* x, int* y) {
  *y = *x;
}

using Clock = std::chrono::steady_clock;

template <int kind>
void try_call(const Call& call, long long clocks) {
  cudaStream_t busy = nullptr;
  if (kind != kLegacy)
    cudaStreamCreateWithFlags(&busy, kind == kBlocking ? cudaStreamDefault : cudaStreamNonBlocking);
  int* x = nullptr;
  cudaMalloc(&x, 512);
  cudaMemset(x, 0, 512);
  cudaDeviceSynchronize();
  int* const y = x + 64;
  if (!call.cold) {
    Situation before(busy, call.bytes);
    call.prepare(before)();
  }
  {
    Situation s(busy, call.bytes);
    Prepared work = call.prepare(s);
    // Loads both kernels beforehand.
    earlier<kind><<<1, 1>>>(y, 0);
    later<kind><<<1, 1>>>(x, y);
    cudaDeviceSynchronize();
    earlier<kind><<<1, 1, 0, busy>>>(x, clocks);
    cudaEventRecord(s.behind, busy);
    const auto begin = Clock::now();
    work();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
      std::fprintf(stderr, "%s\t%s\t%s\n", call.name, kNames[kind], cudaGetErrorName(error));
    later<kind><<<1, 1, 0, s.later>>>(x, y);
    cudaDeviceSynchronize();
    int seen = 0;
    cudaMemcpy(&seen, y, sizeof(int), cudaMemcpyDeviceToHost);
    // 20 million clocks take 10 ms at 2 GHz, and no GPU is twice as fast.
    std::printf("%s\t%s\t%s\t%s\n", call.name, kNames[kind], seconds > 5e-3 ? "waits" : "returns",
                seen == 1 ? "ordered" : "unordered");
    std::fflush(stdout);
  }
  if (busy != nullptr) cudaStreamDestroy(busy);
  cudaFree(x);
}

int run(int argc, char** argv) {
  std::vector<Call> calls = copies_and_fills();
  for (const auto& more : {other_calls(), graph_calls(), process_calls(), settings_and_queries()})
    calls.insert(calls.end(), more.begin(), more.end());
  if (argc == 2 && std::strcmp(argv[1], "--lend") == 0) return lend();
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Call& c : calls) std::printf("%s\n", c.name);
    return 0;
  }
  cudaDeviceProp device;
  if (argc < 2 || cudaGetDeviceProperties(&device, 0) != cudaSuccess) return 2;
  const bool simulated = std::strstr(device.name, "imulated") != nullptr;
  const long long clocks = simulated ? 0 : 20'000'000;
  const bool all = std::strcmp(argv[1], "--all") == 0, from = std::strcmp(argv[1], "--from") == 0;
  const int name = from && argc > 2 ? 2 : 1;
  bool found = false;
  for (const Call& c : calls) {
    if (!all && !(from && found) && std::strcmp(c.name, argv[name]) != 0) continue;
    found = true;
    for (int i = argc > name + 1 ? std::atoi(argv[name + 1]) : 1; i > 0; --i) {
      try_call<kBlocking>(c, clocks);
      try_call<kNonBlocking>(c, clocks);
      try_call<kLegacy>(c, clocks);
      // A sticky error would be returned by the calls that follow.
      if (cudaDeviceSynchronize() != cudaSuccess) return 4;
    }
  }
  if (found) return 0;
  std::fprintf(stderr, "no such call: %s\n", argv[1]);
  return 2;
}

}  // namespace
}  // namespace lockstep::streams

int main(int argc, char** argv) { return lockstep::streams::run(argc, argv); }
