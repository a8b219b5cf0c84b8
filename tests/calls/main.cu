// Random calls of the CUDA runtime, right and wrong ones (seeds.h). The calls are compiled with
// this file, since nvcc takes seconds for each.
#include "tests/calls/array_calls.cu"
#include "tests/calls/copy_calls.cu"
#include "tests/calls/device_calls.cu"
#include "tests/calls/graph_calls.cu"
#include "tests/calls/graph_exec_calls.cu"
#include "tests/calls/launch_calls.cu"
#include "tests/calls/memory_calls.cu"
#include "tests/calls/rig.cu"
#include "tests/calls/seeds.h"
#include "tests/calls/stream_calls.cu"

namespace lockstep::calls {
namespace {

void run(std::uint64_t seed, std::FILE* out) {
  Rig rig(seed, out);
  std::vector<Call<Rig>> all;
  for (const auto& more : {memory_calls(), copy_calls(), stream_calls(), launch_calls(),
                           graph_calls(), graph_exec_calls(), array_calls(), device_calls()})
    all.insert(all.end(), more.begin(), more.end());
  make_calls(rig, all, 60);
  rig.end();
}

}  // namespace
}  // namespace lockstep::calls

int main(int argc, char** argv) {
  return lockstep::calls::run_seeds(argc, argv, lockstep::calls::run);
}
