// A CUDA program that executes the actions of its arguments in order and returns 0 in any case:
// tests observe what the runtime makes of it.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "simulator/runtime/tests/kernels.h"

namespace {

using namespace lockstep::runtime;

// Uses the GPU once more in its destructor.
struct Late {
  const char* who;
  int* p = nullptr;  // memory of its own

  ~Late() {
    if (who == nullptr) return;
    const cudaError_t allocated = cudaMalloc(reinterpret_cast<void**>(&p), 40);
    const cudaError_t filled = cudaMemset(p, 1, 40);
    int value = 0;
    const cudaError_t copied = cudaMemcpy(&value, p + 3, sizeof value, cudaMemcpyDeviceToHost);
    kernels::store(p, 3, 17);
    const cudaError_t launched = cudaGetLastError();
    const cudaError_t freed = cudaFree(p);
    std::printf("%s: malloc %d memset %d copy %d value %d launch %d free %d again %d", who,
                allocated, filled, copied, value, launched, freed, cudaFree(p));
    std::printf(" last %d\n", cudaGetLastError());
  }
};

Late before{nullptr};

// Thread variables constructed before and after the thread's first CUDA call: they are destroyed
// after and before the library's own thread state.
void in_a_thread() {
  thread_local Late before{nullptr};
  before.who = "thread";
  cudaSetDevice(0);
  thread_local Late after{nullptr};
  after.who = "thread";
}

}  // namespace

int main(int argc, char** argv) {
  int* p = nullptr;
  const cudaError_t allocated = cudaMalloc(reinterpret_cast<void**>(&p), 40);
  for (int i = 1; i < argc; ++i) {
    const char* what = argv[i];
    if (std::strcmp(what, "malloc") == 0) std::printf("malloc %d\n", allocated);
    if (std::strcmp(what, "fine") == 0) kernels::store(p, 0, 1);
    if (std::strcmp(what, "oob") == 0) kernels::store(p, 10, 1);
    if (std::strcmp(what, "sync") == 0) std::printf("sync %d\n", cudaDeviceSynchronize());
    if (std::strcmp(what, "last") == 0) std::printf("last %d\n", cudaGetLastError());
    if (std::strcmp(what, "print") == 0) kernels::print(2);
    if (std::strcmp(what, "host") == 0) *p = 1;
    if (std::strcmp(what, "free") == 0) cudaFree(p);
    if (std::strcmp(what, "reset") == 0) cudaDeviceReset();
    if (std::strcmp(what, "more") == 0) {
      for (int k = 0; k < 3; ++k) {
        void* managed = nullptr;
        cudaMallocManaged(&managed, 1000, cudaMemAttachGlobal);
      }
    }
    if (std::strcmp(what, "take") == 0)
      std::free(reinterpret_cast<char* (*)()>(dlsym(RTLD_DEFAULT, "lockstepTakeFindings"))());
    if (std::strcmp(what, "late") == 0) {
      before.who = "before";
      static Late after{"after"};
    }
    if (std::strcmp(what, "thread") == 0) std::thread(in_a_thread).join();
    if (std::strcmp(what, "exit3") == 0) std::exit(3);
    if (std::strcmp(what, "properties") == 0) {
      cudaDeviceProp prop;
      int count = -1;
      const cudaError_t error = cudaGetDeviceCount(&count);
      std::printf("count %d %d\n", error, count);
      if (cudaGetDeviceProperties(&prop, 0) == cudaSuccess) {
        std::printf("name %s\ncc %d.%d\nSMs %d\noptin %zu\nmemory %zu\n", prop.name, prop.major,
                    prop.minor, prop.multiProcessorCount, prop.sharedMemPerBlockOptin,
                    prop.totalGlobalMem);
      }
    }
  }
  return 0;
}
