// Programs in which the host accesses memory next to operations that may access it
// too.
//
//   watch --list            NAME <tab> KIND
//   watch NAME              NAME <tab> right or wrong
//
// watch_test.cc expects of the kind `right`: the right result under every seed, and if each
// operation is executed in its call. Of the kind `late`: the right result by default. A mistake
// that the default schedule shows is of the kind `race`, with the host on one side, `kernels`, a
// race without the host, `deadlock`, or `time-limit`: it never ends.
//
// The parts are joined here: each would be compiled with the toolkit's headers again.
#include <cstdio>
#include <cstring>

#include "flags.cu"
#include "gates.cu"
#include "handlers.cu"
#include "heartbeats.cu"
#include "pages.cu"
#include "watch.cuh"

int main(int argc, char** argv) {
  using lockstep::streams::programs;
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "--list") == 0) {
    for (const auto& p : programs()) std::printf("%s\t%s\n", p.name, p.kind);
    return 0;
  }
  bool found = false;
  for (const auto& p : programs()) {
    if (std::strcmp(argv[1], p.name) != 0 && std::strcmp(argv[1], p.kind) != 0) continue;
    found = true;
    lockstep::streams::right = true;
    p.run();
    cudaDeviceSynchronize();
    std::printf("%s\t%s\n", p.name, lockstep::streams::right ? "right" : "wrong");
  }
  return found ? 0 : 2;
}
