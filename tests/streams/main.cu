// Runs cases of tests/streams.
//
//   cases --lend                             shares memory (lent.h)
//   cases --list                             KIND <tab> NAME <tab> FIRST SIDE <tab> SECOND SIDE
//   cases mistake|twin NAME|KIND [TIMES]     NAME <tab> right or wrong, for each run of each case
//
// The exit status is 0 whether or not results are right, and 2 if no case has the name.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "case.h"
#include "lent.h"

using lockstep::streams::Case;

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--lend") == 0) return lockstep::streams::lend();
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Case& c : lockstep::streams::cases())
      std::printf("%s\t%s\t%s\t%s\n", c.kind, c.name, c.first, c.second);
    return 0;
  }
  if (argc < 3 || (std::strcmp(argv[1], "mistake") != 0 && std::strcmp(argv[1], "twin") != 0)) {
    std::fprintf(stderr, "usage: %s --list | mistake|twin NAME|KIND [TIMES]\n", argv[0]);
    return 2;
  }
  // On a GPU, loading a kernel lazily would wait for the running kernel.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) return 3;
  const bool simulated = std::strstr(device.name, "imulated") != nullptr;
  lockstep::streams::spin = simulated ? 0 : 40'000'000;
  int devices = 0;
  cudaGetDeviceCount(&devices);
  bool found = false;
  for (const Case& c : lockstep::streams::cases()) {
    if (std::strcmp(argv[2], c.name) != 0 && std::strcmp(argv[2], c.kind) != 0) continue;
    found = true;
    if (std::strcmp(c.kind, "devices") == 0 && devices < 2) {
      std::printf("%s\tneeds two devices\n", c.name);
      continue;
    }
    for (int i = argc > 3 ? std::atoi(argv[3]) : 1; i > 0; --i) {
      lockstep::streams::right = true;
      c.run(std::strcmp(argv[1], "mistake") == 0);
      // An error pending after a case is an error of that case.
      const bool ended = cudaDeviceSynchronize() == cudaSuccess;
      std::printf("%s\t%s\n", c.name, lockstep::streams::right && ended ? "right" : "wrong");
      std::fflush(stdout);
    }
  }
  return found ? 0 : 2;
}
