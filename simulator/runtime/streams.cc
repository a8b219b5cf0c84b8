#include "simulator/runtime/streams.h"

namespace lockstep::runtime {

cudaStream_t Streams::create_stream(unsigned flags, int priority, int device) {
  auto stream = std::make_unique<Stream>(Stream{flags, priority, device, ++ids_});
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams_.emplace(handle, std::move(stream));
  return handle;
}

bool Streams::destroy_stream(cudaStream_t stream) { return streams_.erase(stream) != 0; }

const Stream* Streams::find_stream(cudaStream_t stream, int device) const {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
    Stream& s = defaults_[device * 2 + (stream == cudaStreamPerThread)];
    s.device = device;
    s.id = stream == cudaStreamPerThread ? 2 : 1;
    return &s;
  }
  const auto it = streams_.find(stream);
  return it == streams_.end() ? nullptr : it->second.get();
}

cudaEvent_t Streams::create_event(unsigned flags, int device) {
  auto event = std::make_unique<Event>(Event{flags, device, {}});
  const auto handle = reinterpret_cast<cudaEvent_t>(event.get());
  events_.emplace(handle, std::move(event));
  return handle;
}

bool Streams::destroy_event(cudaEvent_t event) { return events_.erase(event) != 0; }

Event* Streams::find_event(cudaEvent_t event) {
  const auto it = events_.find(event);
  return it == events_.end() ? nullptr : it->second.get();
}

void Streams::destroy_all(int device) {
  std::erase_if(streams_, [&](const auto& entry) { return entry.second->device == device; });
  std::erase_if(events_, [&](const auto& entry) { return entry.second->device == device; });
}

}  // namespace lockstep::runtime
