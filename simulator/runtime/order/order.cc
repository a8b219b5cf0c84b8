#include "simulator/runtime/order/order.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace lockstep::runtime {
namespace {

[[noreturn]] void stop() {
  std::fprintf(
      stderr,
      "lockstep: LOCKSTEP_PROOF=compare: a kernel counted as ordered with every operation, "
      "and one that was put later is unordered with it\n"
      "  Please report this: LOCKSTEP_PROOF=off runs the program with every check.\n");
  std::abort();
}

}  // namespace

// A lane whose operations the host has waited for can be given out again: what comes after the new
// ones comes after the old ones as well.
Lane Order::new_lane() {
  const auto free = std::find_if(dropped_.begin(), dropped_.end(),
                                 [&](Lane lane) { return settled().covers(lane, last_[lane]); });
  if (free != dropped_.end()) {
    const Lane lane = *free;
    dropped_.erase(free);
    return lane;
  }
  several_streams_ |= !last_.empty();
  last_.push_back(0);
  return static_cast<Lane>(last_.size() - 1);
}

// Joins into the stream's clock all that whatever is put into it now is ordered after.
Order::Device& Order::reach(StreamOrder& stream) {
  Device& device = devices_[stream.device];
  stream.known.join(host_);
  stream.known.join(device.barrier);
  if (stream.kind == StreamKind::kLegacy) stream.known.join(device.blocking);
  if (stream.kind == StreamKind::kBlocking) stream.known.join(device.legacy);
  return device;
}

// The stream's clock has been raised.
void Order::advance(Device& device, const StreamOrder& stream) {
  device.all.join(stream.known);
  if (stream.kind != StreamKind::kNonBlocking) device.blocking.join(stream.known);
  if (stream.kind == StreamKind::kLegacy) device.legacy.join(stream.known);
}

Operation Order::next(std::optional<Lane>& lane, Clock before, engine::StreamName name) {
  if (!before.covers(expected_)) stop();
  if (!lane) lane = new_lane();
  ++puts_;
  Operation operation{*lane, ++last_[*lane], std::move(before), name, false};
  operation.before.raise(operation.lane, operation.sequence);
  return operation;
}

Operation Order::put(StreamOrder& stream) {
  Device& device = reach(stream);
  Operation operation = next(stream.lane, stream.known, stream.name);
  stream.known.raise(operation.lane, operation.sequence);
  advance(device, stream);
  return operation;
}

Clock Order::recorded(StreamOrder& stream) {
  advance(reach(stream), stream);
  return stream.known;
}

void Order::wait(StreamOrder& stream, const Clock& event) {
  Device& device = reach(stream);
  stream.known.join(event);
  advance(device, stream);
}

void Order::drop(StreamOrder& stream) {
  if (stream.lane) dropped_.push_back(*std::exchange(stream.lane, std::nullopt));
}

void Order::drop_lane(Lane lane) { dropped_.push_back(lane); }

// A wait for the legacy default stream is one for what it would wait for. A wait for another stream
// is one for what was put into that.
Clock Order::waited_for(StreamOrder& stream) {
  if (stream.kind == StreamKind::kLegacy) advance(reach(stream), stream);
  return stream.known;
}

Clock Order::all() const {
  Clock all;
  for (const auto& [ordinal, device] : devices_) all.join(device.all);
  return all;
}

void Order::host_waits_for(const Clock& what) {
  if (host_.covers(what)) return;
  host_.join(what);
  ++host_waits_;
  host_now_ = nullptr;
}

// Between two operations that are put the host's accesses are one operation.
Operation Order::host_access() {
  if (!host_lane_ || access_at_ != puts_) {
    if (!host_lane_) host_lane_ = new_lane();
    host_.raise(*host_lane_, ++last_[*host_lane_]);
    host_now_ = nullptr;
    access_at_ = puts_;
  }
  Operation operation;
  operation.lane = *host_lane_;
  operation.sequence = last_[*host_lane_];
  operation.before = host_;
  operation.stream.kind = engine::StreamName::Kind::kNone;
  return operation;
}

std::shared_ptr<const Clock> Order::host_now() {
  if (!host_now_) host_now_ = std::make_shared<const Clock>(host_);
  return host_now_;
}

Operation Order::put_between_devices(StreamOrder& stream, int other) {
  stream.known.join(devices_[other].all);
  stream.known.join(devices_[stream.device].all);
  Operation operation = put(stream);
  devices_[other].barrier.join(operation.before);
  devices_[stream.device].barrier.join(operation.before);
  return operation;
}

Clock Order::begin_graph(StreamOrder& stream) {
  reach(stream);
  return stream.known;
}

Operation Order::step(std::optional<Lane>& lane, const Clock& after, engine::StreamName stream) {
  return next(lane, after, stream);
}

Reserved Order::reserve(std::optional<Lane>& lane, std::uint32_t count) {
  has_reserved_ = true;
  if (!lane) lane = new_lane();
  ++puts_;
  const std::uint32_t first = last_[*lane] + 1;
  last_[*lane] += count;
  return {*lane, first, last_[*lane]};
}

Operation Reserved::next(const Clock& after, engine::StreamName stream) {
  Operation operation{lane, std::min(following, last), after, stream, false};
  if (following < last) ++following;
  operation.before.raise(operation.lane, operation.sequence);
  return operation;
}

void Order::end_graph(StreamOrder& stream, const Clock& all_steps) {
  stream.known.join(all_steps);
  advance(devices_[stream.device], stream);
}

}  // namespace lockstep::runtime
