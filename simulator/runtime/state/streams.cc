#include "simulator/runtime/state/streams.h"

namespace lockstep::runtime {

cudaStream_t Streams::create_stream(unsigned flags, int priority, int device) {
  auto stream = std::make_unique<Stream>(Stream{flags, priority, device, ++ids_, nullptr, {}, {}});
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams_.emplace(handle, std::move(stream));
  return handle;
}

bool Streams::destroy_stream(cudaStream_t stream) { return streams_.erase(stream) != 0; }

std::vector<Stream*> Streams::of_device(int device) {
  std::vector<Stream*> result;
  for (const auto& [handle, stream] : streams_) {
    if (stream->device == device) result.push_back(stream.get());
  }
  for (auto& [key, stream] : defaults_) {
    if (stream.device == device) result.push_back(&stream);
  }
  return result;
}

Stream* Streams::find_stream(cudaStream_t stream, int device) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
    const bool of_thread = stream == cudaStreamPerThread;
    Stream& s = defaults_[{device, of_thread ? std::this_thread::get_id() : std::thread::id{}}];
    s.device = device;
    s.id = of_thread ? Stream::kPerThreadId : Stream::kLegacyId;
    return &s;
  }
  const auto it = streams_.find(stream);
  return it == streams_.end() ? nullptr : it->second.get();
}

cudaEvent_t Streams::create_event(unsigned flags, int device) {
  auto event = std::make_unique<Event>(Event{flags, device, {}, nullptr, {}});
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
