#include "simulator/runtime/state/streams.h"

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

cudaStream_t Streams::create_stream(unsigned flags, int priority, int device) {
  auto stream = std::make_unique<Stream>();
  stream->flags = flags;
  stream->priority = priority;
  stream->device = device;
  stream->id = ++ids_;
  stream->order.kind =
      (flags & cudaStreamNonBlocking) != 0 ? StreamKind::kNonBlocking : StreamKind::kBlocking;
  stream->order.device = device;
  stream->order.name = {engine::StreamName::Kind::kCreated, stream->id};
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams_.emplace(handle, std::move(stream));
  return handle;
}

bool Streams::destroy_stream(cudaStream_t stream, Order& order) {
  const auto it = streams_.find(stream);
  if (it == streams_.end()) return false;
  order.drop(it->second->order);
  streams_.erase(it);
  return true;
}

cudaStream_t Streams::other_than(cudaStream_t stream) const {
  const auto mine = streams_.find(stream);
  if (mine == streams_.end()) return nullptr;
  const Stream& s = *mine->second;
  cudaStream_t next = nullptr, first = nullptr;
  unsigned long long next_id = ~0ull, first_id = ~0ull;
  for (const auto& [handle, other] : streams_) {
    if (handle == stream || other->device != s.device || other->capture != s.capture) continue;
    if (other->id < first_id) first = handle, first_id = other->id;
    if (other->id > s.id && other->id < next_id) next = handle, next_id = other->id;
  }
  return next != nullptr ? next : first;
}

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
    const bool of_thread = stream == cudaStreamPerThread ||
                           (stream == nullptr && thread_state().per_thread_default_stream);
    Stream& s = defaults_[{device, of_thread ? std::this_thread::get_id() : std::thread::id{}}];
    s.device = s.order.device = device;
    s.id = of_thread ? Stream::kPerThreadId : Stream::kLegacyId;
    s.order.kind = of_thread ? StreamKind::kBlocking : StreamKind::kLegacy;
    s.order.name = {
        of_thread ? engine::StreamName::Kind::kPerThread : engine::StreamName::Kind::kLegacy, s.id};
    return &s;
  }
  const auto it = streams_.find(stream);
  return it == streams_.end() ? nullptr : it->second.get();
}

cudaEvent_t Streams::create_event(unsigned flags, int device) {
  auto event = std::make_unique<Event>(Event{flags, device, nullptr, {}, nullptr, {}, nullptr});
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
