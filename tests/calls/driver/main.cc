// Random calls of the driver API, right and wrong ones (seeds.h).
#include "tests/calls/driver/rig.h"
#include "tests/calls/seeds.h"

namespace lockstep::calls::driver {
namespace {

void run(std::uint64_t seed, std::FILE* out) {
  Rig rig(seed, out);
  std::vector<Call<Rig>> all;
  for (const auto& more :
       {context_calls(), device_calls(), code_calls(), function_calls(), memory_calls(),
        virtual_memory_calls(), copy_calls(), stream_calls(), launch_calls(), graph_calls()})
    all.insert(all.end(), more.begin(), more.end());
  make_calls(rig, all, 60);
  rig.end();
}

}  // namespace
}  // namespace lockstep::calls::driver

int main(int argc, char** argv) {
  return lockstep::calls::run_seeds(argc, argv, lockstep::calls::driver::run);
}
