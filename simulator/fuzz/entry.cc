// libFuzzer's entry point. LOCKSTEP_FUZZ_TARGET is a function of targets.h.
#include <cstddef>

#include "simulator/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lockstep::fuzz::LOCKSTEP_FUZZ_TARGET({data, size});
  return 0;
}
