#include "simulator/runtime/work/concurrency.h"

#include <bit>
#include <string>
#include <utility>

#include "simulator/engine/launch/running.h"
#include "simulator/runtime/state/arrays.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {
namespace {

enum class Place { kPageable, kPinned, kManaged, kDevice };

Place place_of_memory(const Runtime& runtime, const void* pointer) {
  const memory::Allocation* const a =
      runtime.memory->find(reinterpret_cast<memory::Address>(pointer));
  if (a == nullptr) return Place::kPageable;
  switch (a->kind) {
    case memory::Kind::kManaged: return Place::kManaged;
    case memory::Kind::kPinned:
    case memory::Kind::kRegistered: return Place::kPinned;
    default: return Place::kDevice;
  }
}

bool is_empty(const cudaMemcpy3DParms& p) {
  return p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0;
}

struct Sides {
  Place from = Place::kDevice, to = Place::kDevice;
};

Sides sides_of(const Runtime& runtime, const cudaMemcpy3DParms& p) {
  Sides sides;
  if (p.srcArray == nullptr) sides.from = place_of_memory(runtime, p.srcPtr.ptr);
  if (p.dstArray == nullptr) sides.to = place_of_memory(runtime, p.dstPtr.ptr);
  return sides;
}

memory::Box box_of(const Block& side, const Shape& shape) {
  memory::Box box;
  box.begin = reinterpret_cast<memory::Address>(side.at);
  box.width = shape.width;
  box.height = shape.height;
  box.depth = shape.depth;
  box.pitch = side.pitch;
  box.slice = side.slice;
  return box.merged();
}

}  // namespace

Accesses accesses_of(const Runtime& runtime, const Work& work) {
  Accesses result;
  if (const auto* copy = std::get_if<CopyWork>(&work)) {
    const cudaMemcpy3DParms& p = copy->box;
    const Sides sides = sides_of(runtime, p);
    const Shape shape = shape_of(p);
    if (sides.from != Place::kPageable)
      result.read = box_of(side_of(p.srcArray, p.srcPtr, p.srcPos), shape);
    if (sides.to != Place::kPageable)
      result.written = box_of(side_of(p.dstArray, p.dstPtr, p.dstPos), shape);
  } else if (const auto* fill = std::get_if<FillWork>(&work)) {
    const cudaMemsetParams& p = fill->rows;
    memory::Box box;
    box.begin = reinterpret_cast<memory::Address>(p.dst);
    box.width = p.width * p.elementSize;
    box.height = p.height;
    box.depth = fill->depth;
    box.pitch = p.pitch;
    box.slice = fill->slice;
    result.written = box.merged();
  } else if (const auto* allocate = std::get_if<AllocateWork>(&work)) {
    result.written = memory::Box::line(reinterpret_cast<memory::Address>(allocate->parameters.dptr),
                                       allocate->parameters.bytesize);
    result.touch = Touch::kAllocates;
  } else if (const auto* free = std::get_if<FreeWork>(&work)) {
    const auto address = reinterpret_cast<memory::Address>(free->pointer);
    const memory::Allocation* const a = runtime.memory->find(address);
    if (a != nullptr) result.written = memory::Box::line(a->base, a->size);
    result.touch = Touch::kFrees;
  }
  return result;
}

namespace {

constexpr const char* kStaged =
    "cudaMemcpy from pageable memory returns when the bytes are in a staging buffer: they may "
    "arrive later (CUDA Runtime API, \"API synchronization behavior\"). ";

// The operation does this to `mine`, and `other` did `by` before.
void report(Runtime& runtime, const char* api_name, const Operation& operation,
            const memory::Box& mine, Touch touch, const std::string& by, check::Access other,
            memory::Address met, const char* note = "", bool host = false) {
  check::Finding f;
  f.kind = check::Kind::kRace;
  f.space = "global";
  f.call = api_name;
  f.access.address = met;
  f.access.is_write = touch != Touch::kReads;
  f.where = std::string(api_name) + operation.stream.in() + " " + verb(touch) + " " +
            bytes(mine.width * mine.height * mine.depth) + " " +
            describe_place(*runtime.memory, mine.begin) + ", which " + by +
            ": nothing orders the two";
  f.other = std::move(other);
  f.detail = std::string(note) + (host ? engine::kOrderBeforeHost : engine::kOrderBetweenStreams);
  const void* const from = caller();
  f.access.operation = describe_caller(from);
  f.caller = from;
  runtime.report({std::move(f)});
}

// Whether it has reported a race.
bool check_access(Runtime& runtime, const char* api_name, const Operation& operation,
                  const memory::Box& box, Touch touch) {
  if (box.empty()) return false;
  const bool writes = touch != Touch::kReads;
  if (const Touched* const t = runtime.touched.find(operation.before, box, writes)) {
    // Polled: the program looks until it is there. Where it waits in a call after one look, it has
    // taken that for the result.
    if (t->host && t->flag && is_small(box) && (t->polls || runtime.waiting == 0)) return false;
    check::Access other;
    other.operation = with_place(t->to_string(), t->caller);
    other.address = t->box.begin;
    other.is_write = t->writes();
    report(runtime, api_name, operation, box, touch, t->to_string() + " " + verb(t->touch),
           std::move(other), t->box.begin, t->staged ? kStaged : "", t->host);
    return true;
  }
  if (auto past = engine::find_unordered_access(*runtime.memory, place_of(runtime, operation), box,
                                                writes)) {
    const memory::Address at = past->access.address;
    const std::string by = past->access.operation + (past->access.is_write ? " writes" : " reads");
    report(runtime, api_name, operation, box, touch, by, std::move(past->access), at);
    return true;
  }
  return false;
}

void remember(Runtime& runtime, const char* api_name, const Operation& operation,
              const memory::Box& box, Touch touch, bool reported) {
  if (box.empty() || runtime.order.settled().covers(operation.lane, operation.sequence)) return;
  Touched t{box,
            touch,
            api_name,
            caller(),
            operation.stream,
            operation.lane,
            operation.sequence,
            operation.staged};
  // Kernels that are under way go on beside it. What has been reported once is enough.
  for (engine::Running* running : runtime.running) {
    if (reported) break;
    running->also_concurrent(beside(t));
  }
  runtime.touched.add(std::move(t));
}

bool looks_for_races(const Runtime& runtime) {
  return (runtime.settings.checks & check::kRaces) != 0;
}

}  // namespace

engine::ConcurrentAccess beside(const Touched& t) {
  engine::ConcurrentAccess access;
  access.box = t.box;
  access.writes = t.writes();
  access.by = t.to_string();
  access.verb = verb(t.touch);
  access.caller = t.caller;
  if (t.staged) access.note = kStaged;
  access.lane = t.lane;
  access.sequence = t.sequence;
  access.host = t.host;
  access.flag = t.flag;
  return access;
}

bool is_small(const memory::Box& box) {
  return box.height == 1 && box.depth == 1 && box.width <= 8 && std::has_single_bit(box.width) &&
         box.begin % box.width == 0;
}

bool check_host_access(Runtime& runtime, const Clock& known, const HostAccessed& mine,
                       const std::vector<PendingAccess>& pending) {
  const auto conflicts = [&](const memory::Box& box, bool writes) {
    return (writes || mine.writes) && box.overlaps(mine.box) && !(mine.flag && is_small(box));
  };
  const auto found = [&](const std::string& by, check::Access other) {
    check::Finding f;
    f.kind = check::Kind::kRace;
    f.space = "global";
    f.access.address = mine.box.begin;
    f.access.is_write = mine.writes;
    f.access.operation = describe_host_code(mine.at);
    if (mine.from != nullptr) f.access.operation += ", called " + describe_host_code(mine.from);
    f.where = std::string("the host ") + (mine.writes ? "writes" : "reads") + " " +
              bytes(mine.box.width) + " " + describe_place(*runtime.memory, mine.box.begin) +
              ", which " + by + ": nothing orders the two";
    f.other = std::move(other);
    f.detail = engine::kOrderBeforeHost;
    f.caller = mine.at;
    runtime.report({std::move(f)});
    return true;
  };
  for (const PendingAccess& p : pending) {
    if (!conflicts(p.box, p.writes)) continue;
    check::Access other;
    other.operation = with_place(p.call, p.caller);
    other.address = p.box.begin;
    other.is_write = p.writes;
    return found(p.call + (p.writes ? " writes" : " reads"), std::move(other));
  }
  for (const Touched* t : runtime.touched.unordered(known)) {
    if (t->host || !conflicts(t->box, t->writes())) continue;
    check::Access other;
    other.operation = with_place(t->to_string(), t->caller);
    other.address = t->box.begin;
    other.is_write = t->writes();
    return found(t->to_string() + " " + verb(t->touch), std::move(other));
  }
  engine::OperationPlace place;
  place.before = known.values();
  place.settled = runtime.order.settled().values();
  auto past = engine::find_unordered_access(*runtime.memory, place, mine.box, mine.writes);
  if (!past || (mine.flag && past->strong)) return false;
  const std::string by = past->access.operation + (past->access.is_write ? " writes" : " reads");
  return found(by, std::move(past->access));
}

std::string with_place(std::string call, const void* caller) {
  const std::string place = call == kTheHost ? describe_host_code(caller) : describe_caller(caller);
  return place.empty() ? call : call + ", " + place;
}

void check_order(Runtime& runtime, const char* api_name, const Operation& operation,
                 const Work& work) {
  if (!looks_for_races(runtime)) return;
  const Accesses accesses = accesses_of(runtime, work);
  runtime.touched.settle(runtime.order.settled());
  const bool read = check_access(runtime, api_name, operation, accesses.read, Touch::kReads),
             written = check_access(runtime, api_name, operation, accesses.written, accesses.touch);
  remember(runtime, api_name, operation, accesses.read, Touch::kReads, read);
  remember(runtime, api_name, operation, accesses.written, accesses.touch, written);
}

void check_order(Runtime& runtime, const char* api_name, const Operation& operation,
                 const memory::Box& box, Touch touch) {
  if (!looks_for_races(runtime)) return;
  runtime.touched.settle(runtime.order.settled());
  const bool reported = check_access(runtime, api_name, operation, box, touch);
  remember(runtime, api_name, operation, box, touch, reported);
}

cudaError_t check_presence(Runtime& runtime, const char* api_name, const Operation& operation,
                           const Work& work) {
  const Accesses accesses = accesses_of(runtime, work);
  if (accesses.touch == Touch::kAllocates) return cudaSuccess;
  const auto check = [&](const memory::Box& box, Touch touch) {
    const memory::Allocation* const a = box.empty() ? nullptr : runtime.memory->find(box.begin);
    if (a == nullptr || !a->absent) return true;
    check::Finding f;
    f.kind = check::Kind::kUseAfterFree;
    f.space = "global";
    f.call = api_name;
    f.access.address = box.begin;
    f.access.is_write = touch != Touch::kReads;
    f.where = std::string(api_name) + operation.stream.in() + " " + verb(touch) + " " +
              bytes(box.width * box.height * box.depth) + " " +
              describe_place(*runtime.memory, box.begin) +
              ", memory of a graph that is not allocated now";
    f.detail =
        "What uses the memory of an allocation node comes behind that node and before what frees "
        "it (CUDA C++ Programming Guide, \"Graph Memory Nodes\").";
    const void* const from = caller();
    f.access.operation = describe_caller(from);
    f.caller = from;
    runtime.report({std::move(f)});
    return false;
  };
  const bool fine = check(accesses.read, Touch::kReads) && check(accesses.written, accesses.touch);
  return fine ? cudaSuccess : cudaErrorIllegalAddress;
}

engine::OperationPlace place_of(const Runtime& runtime, const Operation& operation) {
  engine::OperationPlace place;
  place.lane = operation.lane;
  place.sequence = operation.sequence;
  place.before = operation.before.values();
  place.settled = runtime.order.settled().values();
  place.stream = operation.stream;
  place.several_streams = runtime.order.several_streams();
  return place;
}

std::vector<engine::ConcurrentAccess> concurrent_accesses(Runtime& runtime,
                                                          const Operation& operation) {
  std::vector<engine::ConcurrentAccess> result;
  if (!looks_for_races(runtime)) return result;
  runtime.touched.settle(runtime.order.settled());
  for (const Touched* t : runtime.touched.unordered(operation.before)) result.push_back(beside(*t));
  return result;
}

bool reads_pageable(const Runtime& runtime, const CopyWork& copy) {
  return !is_empty(copy.box) && sides_of(runtime, copy.box).from == Place::kPageable;
}

bool writes_pageable(const Runtime& runtime, const CopyWork& copy) {
  return !is_empty(copy.box) && sides_of(runtime, copy.box).to == Place::kPageable;
}

Waits waits_of(const Runtime& runtime, const Call& call, const Work& work) {
  Waits waits;
  waits.until_done = runtime.settings.launch_blocking;
  if (call.returns == Call::Returns::kBetweenDevices) return waits;
  const bool when_done = call.returns == Call::Returns::kWhenDone;
  if (const auto* copy = std::get_if<CopyWork>(&work); copy != nullptr && !is_empty(copy->box)) {
    const Sides sides = sides_of(runtime, copy->box);
    const bool on_the_device = sides.from == Place::kDevice && sides.to == Place::kDevice;
    const bool staged = sides.from == Place::kPageable && sides.to == Place::kDevice;
    // "Might be synchronous" is all that the API promises of an asynchronous copy to or from
    // pageable memory; between two places of the host it is.
    const bool on_the_host = sides.from == Place::kPageable && sides.to == Place::kPageable;
    waits.until_done |= when_done ? !on_the_device && !staged : on_the_host;
    // The stream is waited for before the bytes are staged; the copy to the device is not.
    waits.before = when_done && staged;
  } else if (const auto* fill = std::get_if<FillWork>(&work)) {
    waits.until_done |= when_done && place_of_memory(runtime, fill->rows.dst) != Place::kDevice;
  } else if (std::holds_alternative<LibraryWork>(work)) {
    waits.until_done |= when_done;
  }
  return waits;
}

Operation place_in_stream(Runtime& runtime, const Call& call, Stream& stream, const Work& work) {
  Order& order = runtime.order;
  if (call.returns != Call::Returns::kBetweenDevices) return order.put(stream.order);
  int other = stream.device;
  if (const auto* copy = std::get_if<CopyWork>(&work)) {
    for (const void* side : {copy->box.srcPtr.ptr, copy->box.dstPtr.ptr}) {
      const memory::Allocation* const a =
          runtime.memory->find(reinterpret_cast<memory::Address>(side));
      if (a != nullptr && a->device != stream.device) other = a->device;
    }
  }
  return order.put_between_devices(stream.order, other);
}

}  // namespace lockstep::runtime
