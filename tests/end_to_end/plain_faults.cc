// A CUDA program without the harness. Its argument names a fault. It prints the API's error and
// returns 0 in any case: the simulated GPU must change the exit status.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/end_to_end/faults.h"

namespace lockstep::end_to_end {
namespace {

constexpr int kElements = 100, kThreads = 128;

struct Named {
  const char* name;
  Launcher launch;
};

constexpr Named kFaults[] = {
    {"none", doubles},
    {"out-of-bounds", writes_past_the_end},
    {"misaligned", reads_misaligned},
    {"uninitialised", reads_uninitialised},
    {"race", races},
    {"race-mended", races_not},
    {"use-after-free", doubles},
    {"no-copy", doubles},
};

int run(const Named& fault) {
  const bool use_after_free = std::strcmp(fault.name, "use-after-free") == 0,
             no_copy = std::strcmp(fault.name, "no-copy") == 0;
  float *x = nullptr, *y = nullptr;
  if (cudaMalloc(&x, kElements * sizeof *x) != cudaSuccess ||
      cudaMalloc(&y, kElements * sizeof *y) != cudaSuccess)
    return 3;
  const std::vector<float> host(kElements, 1.5f);
  if (!no_copy &&
      cudaMemcpy(x, host.data(), kElements * sizeof *x, cudaMemcpyHostToDevice) != cudaSuccess)
    return 3;
  if (use_after_free && cudaFree(x) != cudaSuccess) return 3;
  std::printf("answered: %s\n", cudaGetErrorName(fault.launch(x, y, kElements, kThreads)));
  return 0;
}

}  // namespace
}  // namespace lockstep::end_to_end

int main(int argc, char** argv) {
  for (const auto& fault : lockstep::end_to_end::kFaults) {
    if (argc == 2 && std::strcmp(argv[1], fault.name) == 0) return lockstep::end_to_end::run(fault);
  }
  std::fprintf(stderr, "no such fault\n");
  return 2;
}
