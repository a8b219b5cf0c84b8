#include "properties/no_launch.h"

#include "properties/law.h"
#include "properties/streams.h"

namespace lockstep::properties {

void require_no_launch(const std::function<void(cudaStream_t)>& run) {
  const Stream stream;
  std::uint64_t elsewhere = 0;
  // Relaxed: `run` may also make calls without a stream, such as a copy to a symbol.
  Captured captured(stream, cudaStreamCaptureModeRelaxed, [&](cudaStream_t s) {
    elsewhere = counters_of([&] { run(s); }).launches;
    return Answer{};
  });
  REQUIRE_LAW(captured.is_graph(), "the capture came to nothing");
  const std::size_t kernels = captured.kernels();
  REQUIRE_LAW(kernels == 0, "no work launched {} kernels", kernels);
  REQUIRE_LAW(elsewhere == 0,
              "no work launched {} kernels, and on another stream than the one given", elsewhere);
  captured.replay(stream);
}

}  // namespace lockstep::properties
