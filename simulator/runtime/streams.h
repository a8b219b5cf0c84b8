// Streams and events. Everything in a stream has happened when the call that put it there returns, so a stream is its attributes, and an event
// the time at which it was recorded.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace lockstep::runtime {

struct Stream {
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  int device = 0;
  unsigned long long id = 0;
};

struct Event {
  unsigned flags = cudaEventDefault;
  int device = 0;
  std::optional<std::chrono::steady_clock::time_point> recorded;
};

class Streams {
 public:
  cudaStream_t create_stream(unsigned flags, int priority, int device);
  bool destroy_stream(cudaStream_t stream);
  // The stream, a default one (of `device`) for the handles 0, 1 and 2; nullptr when the handle is unknown or destroyed.
  const Stream* find_stream(cudaStream_t stream, int device) const;

  cudaEvent_t create_event(unsigned flags, int device);
  bool destroy_event(cudaEvent_t event);
  Event* find_event(cudaEvent_t event);

  void destroy_all(int device);

 private:
  std::map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::map<cudaEvent_t, std::unique_ptr<Event>> events_;
  mutable std::map<int, Stream> defaults_;
  unsigned long long ids_ = 2;  // 1 and 2 are the default streams'
};

}  // namespace lockstep::runtime
