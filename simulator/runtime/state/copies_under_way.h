// Copies and fills that may still be writing device memory although the call that asked for them
// has returned, and which kernels nothing orders after them (CUDA Runtime API, "API synchronization
// behavior" and "Stream synchronization behavior").
//
// Here everything has happened when a call returns. On a GPU cudaMemcpy from pageable memory
// returns once the bytes are in a staging buffer, and cudaMemset and copies within the device at
// once: a kernel in a stream with no order to theirs may overtake them.
//
// What is simplified makes fewer of them, never more: any call that waits for anything, a graph, a
// host function or an event that a stream waits for ends all; a kernel that is ordered after one
// ends it for all streams; copies of boxes, with arrays, and between devices are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/launch/launch.h"

namespace lockstep::runtime {

// What the order of two streams depends on.
struct StreamOrder {
  unsigned long long id = 0;
  bool legacy = false, blocking = true;  // blocking: not cudaStreamNonBlocking
};

class CopiesUnderWay {
 public:
  // A kernel is put into `stream` of `device`: what may still be written then. The list stays until
  // the next call.
  const std::vector<engine::ArrivingData>& before_kernel(const StreamOrder& stream, int device);
  const std::vector<engine::ArrivingData>& beside_kernel() const { return beside_; }
  // A call `name` has put into `stream` something that writes `bytes` at `to`, and has not waited
  // for it. `stages`: it waited for what the stream had before, as a copy from pageable memory
  // does.
  void put(const StreamOrder& stream, int device, memory::Address to, std::uint64_t bytes,
           std::string_view name, bool stages);
  // The host or a stream has waited for something.
  void forget();

 private:
  struct Copy {
    StreamOrder stream;
    int device;
    // Something was put into the legacy default stream since: blocking streams come after that.
    bool then_legacy;
    engine::ArrivingData data;
  };
  static bool is_ordered(const Copy& copy, const StreamOrder& after);

  static constexpr std::size_t kMost = 64;  // of more, the oldest are let go
  std::vector<Copy> copies_;
  std::vector<engine::ArrivingData> beside_;
};

}  // namespace lockstep::runtime
