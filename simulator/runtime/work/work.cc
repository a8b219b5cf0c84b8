#include "simulator/runtime/work/work.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "simulator/runtime/state/arrays.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/work/closed.h"
#include "simulator/runtime/work/concurrency.h"
#include "simulator/runtime/work/executor.h"
#include "simulator/runtime/work/library_work.h"
#include "simulator/runtime/work/transfers.h"

namespace lockstep::runtime {
namespace {

// The block of a pitched pointer at a position.
Block block_of(const cudaPitchedPtr& p, const cudaPos& at) {
  const std::size_t slice = p.pitch * p.ysize;
  return {static_cast<char*>(p.ptr) + at.z * slice + at.y * p.pitch + at.x, p.pitch, slice};
}

}  // namespace

Block side_of(cudaArray_const_t array, const cudaPitchedPtr& memory, const cudaPos& position) {
  const Array* a = arrays().find(array);
  return a == nullptr ? block_of(memory, position) : block_of(*a, position);
}

Shape shape_of(const cudaMemcpy3DParms& p) {
  Shape shape{p.extent.width, p.extent.height, p.extent.depth};
  const Array* a = arrays().find(p.dstArray != nullptr ? p.dstArray : p.srcArray);
  if (a != nullptr) shape.width *= a->element_bytes();
  return shape;
}

namespace {

cudaError_t perform_copy(Runtime& runtime, const char* api_name, const cudaMemcpy3DParms& p) {
  if (const cudaError_t error = check_copy(runtime, api_name, p); error != cudaSuccess)
    return error;
  const Shape shape = shape_of(p);
  if (shape.empty()) return cudaSuccess;
  // An array is device memory, whatever a copy between two of them calls it.
  return copy(runtime, api_name, side_of(p.dstArray, p.dstPtr, p.dstPos),
              side_of(p.srcArray, p.srcPtr, p.srcPos), shape, p.kind);
}

// Whether the box lies within an array, or within the rows and slices that a pitched pointer says
// there are.
cudaError_t check_side(Runtime& runtime, const char* api_name, cudaArray_const_t array,
                       const cudaPitchedPtr& memory, const cudaPos& position, const Shape& shape) {
  if (array == nullptr) {
    if (memory.ptr == nullptr) return cudaErrorInvalidValue;
    if (position.x + shape.width > memory.pitch) {
      runtime.explain(api_name, "the width exceeds a pitch");
      return cudaErrorInvalidPitchValue;
    }
    // "May be 0 if Depth==1" (CUDA_MEMCPY3D, srcHeight).
    const bool is_of_one_slice = memory.ysize == 0 && shape.depth == 1 && position.z == 0;
    if (position.y + shape.height > memory.ysize && !is_of_one_slice) {
      runtime.explain(api_name, "the box is higher than a slice (ysize)");
      return shape.depth > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;
    }
    return cudaSuccess;
  }
  const Array* a = arrays().find(array);
  if (a == nullptr) return cudaErrorInvalidResourceHandle;
  const auto& image = a->image;
  const std::size_t elements = shape.width / a->element_bytes();
  if (position.x + elements > image.width || position.y + shape.height > image.height ||
      position.z + shape.depth > image.depth) {
    runtime.explain(api_name, "the copy leaves the array");
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t perform_fill(Runtime& runtime, const char* api_name, const FillWork& work) {
  const cudaMemsetParams& p = work.rows;
  const Shape shape{p.width * p.elementSize, p.height, work.depth};
  const Block to{p.dst, p.pitch, work.slice};
  // Checks the range and marks it written; wider elements are put over the bytes then.
  if (const cudaError_t error = fill(runtime, api_name, to, static_cast<int>(p.value), shape);
      error != cudaSuccess)
    return error;
  if (p.elementSize == 1 || shape.empty()) return cudaSuccess;
  const auto address = reinterpret_cast<memory::Address>(p.dst);
  const memory::Allocation* a = runtime.memory->find(address);
  for (std::size_t y = 0; y < p.height; ++y) {
    std::byte* row = runtime.memory->host(*a, address + y * p.pitch);
    for (std::size_t x = 0; x < p.width; ++x)
      std::memcpy(row + x * p.elementSize, &p.value, p.elementSize);
  }
  return cudaSuccess;
}

cudaError_t check_allocation(Runtime& runtime, const char* api_name, const AllocateWork& work) {
  const memory::Allocation* const a = runtime.memory->find(work.memory->base);
  if (a != nullptr && !a->freed) return cudaSuccess;
  runtime.explain(api_name, "the graph's memory was lost when its device was reset");
  return cudaErrorInvalidValue;
}

cudaError_t perform_allocation(Runtime& runtime, const char* api_name, const AllocateWork& work) {
  if (const cudaError_t error = check_allocation(runtime, api_name, work); error != cudaSuccess)
    return error;
  runtime.graph_memory.allocated(runtime, *work.memory);
  return cudaSuccess;
}

// Of a graph the address lives on: the next launch allocates it again. Only its contents are gone.
cudaError_t perform_free(Runtime& runtime, const FreeWork& work) {
  const memory::Allocation* a =
      runtime.memory->find(reinterpret_cast<memory::Address>(work.pointer));
  if (a == nullptr || a->freed) return cudaErrorInvalidValue;
  if (work.memory) {
    runtime.graph_memory.freed(runtime, *work.memory);
  } else {
    release_memory(runtime, work.pointer);
  }
  return cudaSuccess;
}

// What a copy reads is put aside, and the copy reads it there.
std::vector<std::byte> stage(CopyWork& copy) {
  cudaMemcpy3DParms& p = copy.box;
  const Shape shape = shape_of(p);
  const Block from = side_of(p.srcArray, p.srcPtr, p.srcPos);
  std::vector<std::byte> bytes;
  bytes.reserve(shape.width * shape.height * shape.depth);
  for (std::size_t z = 0; z < shape.depth; ++z) {
    for (std::size_t y = 0; y < shape.height; ++y) {
      const auto* const row =
          static_cast<const std::byte*>(from.at) + z * from.slice + y * from.pitch;
      bytes.insert(bytes.end(), row, row + shape.width);
    }
  }
  p.srcPtr = {bytes.data(), shape.width, shape.width, shape.height};
  p.srcPos = {};
  return bytes;
}

// Whether so much more may be put aside.
bool has_room_to_stage(const Runtime& runtime, const CopyWork& copy) {
  constexpr std::size_t kMost = std::size_t{256} << 20;
  const Shape shape = shape_of(copy.box);
  std::size_t all = shape.width * shape.height * shape.depth;
  for (const auto& entry : runtime.queue.entries())
    all += static_cast<const Pending&>(*entry).staged.size();
  return all <= kMost;
}

}  // namespace

void stage_source(const Runtime& runtime, Pending& p) {
  auto* const copy = std::get_if<CopyWork>(&p.work);
  if (copy != nullptr && reads_pageable(runtime, *copy) && has_room_to_stage(runtime, *copy))
    p.staged = stage(*copy);
}

namespace {

std::shared_ptr<Pending> make_pending(const Runtime& runtime, const Device& device,
                                      const char* api_name) {
  auto p = std::make_shared<Pending>();
  p->api_name = api_name;
  p->device = device.ordinal;
  p->chain = runtime.dependent_launches.chain();
  return p;
}

// The call returns, and it has not been executed.
void leave(Pending& p) {
  p.awaited = false;
  if (p.done) return;
  // Where a kernel was launched nobody asks.
  if (!std::holds_alternative<KernelWork>(p.work) && !p.moment) p.caller = caller();
  p.late = true;
}

}  // namespace

cudaGraphNodeType type_of(const Work& work) {
  constexpr cudaGraphNodeType kTypes[] = {
      cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset,
      cudaGraphNodeTypeHost, cudaGraphNodeTypeGraph, cudaGraphNodeTypeEmpty,
      cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeMemAlloc,
      cudaGraphNodeTypeMemFree,
      // The runtime has no name for it.
      static_cast<cudaGraphNodeType>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP), cudaGraphNodeTypeConditional,
      cudaGraphNodeTypeKernel};  // what NVIDIA's libraries leave in a captured stream
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

CopyWork make_copy_work(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  CopyWork work;
  work.box.dstPtr = {to, to_pitch, width, height};
  work.box.srcPtr = {const_cast<void*>(from), from_pitch, width, height};
  work.box.extent = {width, height, 1};
  work.box.kind = kind;
  return work;
}

cudaError_t check_copy(Runtime& runtime, const char* api_name, const cudaMemcpy3DParms& p) {
  const Array *to = arrays().find(p.dstArray), *from = arrays().find(p.srcArray);
  if ((p.dstArray != nullptr && to == nullptr) || (p.srcArray != nullptr && from == nullptr))
    return cudaErrorInvalidResourceHandle;
  if (to != nullptr && from != nullptr && to->element_bytes() != from->element_bytes())
    return cudaErrorInvalidValue;
  const Shape shape = shape_of(p);
  if (shape.empty()) return cudaSuccess;
  if (p.kind < cudaMemcpyHostToHost || p.kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (const cudaError_t error =
          check_side(runtime, api_name, p.srcArray, p.srcPtr, p.srcPos, shape);
      error != cudaSuccess)
    return error;
  return check_side(runtime, api_name, p.dstArray, p.dstPtr, p.dstPos, shape);
}

cudaError_t check_fill(Runtime&, const char*, const FillWork& fill) {
  const cudaMemsetParams& p = fill.rows;
  if (p.dst == nullptr || (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4))
    return cudaErrorInvalidValue;
  if (reinterpret_cast<std::uintptr_t>(p.dst) % p.elementSize != 0 || p.width == 0 || p.height == 0)
    return cudaErrorInvalidValue;
  if (p.height > 1 && (p.pitch < p.width * p.elementSize || p.pitch % p.elementSize != 0))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t check_work(Runtime& runtime, const char* api_name, const Work& work) {
  if (const auto* copy = std::get_if<CopyWork>(&work)) {
    const cudaMemcpy3DParms& p = copy->box;
    for (const void* side : {p.srcPtr.ptr, p.dstPtr.ptr}) finish_free(runtime, side);
    const cudaError_t error = check_copy(runtime, api_name, p);
    if (error != cudaSuccess || shape_of(p).empty()) return error;
    return check_ranges(runtime, api_name, side_of(p.dstArray, p.dstPtr, p.dstPos),
                        side_of(p.srcArray, p.srcPtr, p.srcPos), shape_of(p), p.kind);
  }
  if (const auto* fill = std::get_if<FillWork>(&work)) {
    const cudaMemsetParams& p = fill->rows;
    finish_free(runtime, p.dst);
    return check_range(runtime, api_name, {p.dst, p.pitch, fill->slice},
                       {p.width * p.elementSize, p.height, fill->depth});
  }
  if (const auto* memory = std::get_if<AllocateWork>(&work))
    return check_allocation(runtime, api_name, *memory);
  if (const auto* memory = std::get_if<FreeWork>(&work)) {
    const memory::Allocation* a =
        runtime.memory->find(reinterpret_cast<memory::Address>(memory->pointer));
    return a == nullptr || a->freed ? cudaErrorInvalidValue : cudaSuccess;
  }
  if (const auto* record = std::get_if<RecordWork>(&work)) {
    if (runtime.streams.find_event(record->event) == nullptr) return cudaErrorInvalidResourceHandle;
  }
  return cudaSuccess;
}

namespace {

// The operation is going to change memory.
void note_change(Runtime& runtime, const Work& work) {
  if (std::holds_alternative<RecordWork>(work) || std::holds_alternative<WaitWork>(work) ||
      std::holds_alternative<EmptyWork>(work))
    return;
  if (std::holds_alternative<CopyWork>(work) || std::holds_alternative<FillWork>(work)) {
    runtime.repeats.wrote(accesses_of(runtime, work).written);
  } else {
    runtime.repeats.wrote();
  }
}

}  // namespace

cudaError_t perform(Runtime& runtime, const char* api_name, const Work& work, const Operation& at) {
  runtime.dependent_launches.forget();
  note_change(runtime, work);
  check_order(runtime, api_name, at, work);
  if (const cudaError_t error = check_presence(runtime, api_name, at, work); error != cudaSuccess)
    return error;
  if (const auto* box = std::get_if<CopyWork>(&work))
    return perform_copy(runtime, api_name, box->box);
  if (const auto* rows = std::get_if<FillWork>(&work))
    return perform_fill(runtime, api_name, *rows);
  if (const auto* memory = std::get_if<AllocateWork>(&work))
    return perform_allocation(runtime, api_name, *memory);
  if (const auto* memory = std::get_if<FreeWork>(&work)) return perform_free(runtime, *memory);
  if (const auto* library = std::get_if<LibraryWork>(&work))
    return run_library(runtime, *library->call, at);
  return cudaSuccess;
}

cudaError_t put_in_queue(Runtime& runtime, Device& device, const Call& call, cudaStream_t stream,
                         Work work) {
  const bool at_once = executes_at_once(runtime);
  const Waits waits = waits_of(runtime, call, work);
  auto* copy = std::get_if<CopyWork>(&work);
  const bool stages = copy != nullptr && reads_pageable(runtime, *copy);
  // Pageable memory is never written after the call: it may be gone.
  const bool in_the_call = at_once || waits.until_done ||
                           (copy != nullptr && writes_pageable(runtime, *copy)) ||
                           // A copy that has waited for its stream is not put off by default.
                           (waits.before && runtime.settings.schedule == 0) ||
                           (stages && !has_room_to_stage(runtime, *copy));
  if (!in_the_call) {
    if (const cudaError_t error = check_work(runtime, call.name, work); error != cudaSuccess)
      return error;
  }
  ++runtime.under_way;  // until the call waits
  if (waits.before) {
    Stream* const s = runtime.streams.find_stream(stream, device.ordinal);
    const Clock before = runtime.order.waited_for(s->order);
    Wait wait(before);
    run_until(runtime, before);
    runtime.order.host_waits_for(before);
    if (device.error != cudaSuccess) return device.error;
  }
  // While the host waited, others may have destroyed it.
  Stream* const s = runtime.streams.find_stream(stream, device.ordinal);
  if (s == nullptr) return cudaErrorInvalidResourceHandle;
  const auto p = make_pending(runtime, device, call.name);
  p->at = place_in_stream(runtime, call, *s, work);
  p->at.staged = waits.before;
  p->for_host = std::holds_alternative<HostWork>(work);
  p->awaited = in_the_call;
  if (stages && !in_the_call) p->staged = stage(*copy);
  if (const auto* record = std::get_if<RecordWork>(&work)) {
    Event* const event = runtime.streams.find_event(record->event);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    p->moment = event->recorded = std::make_shared<Moment>();
    event->stands_for = p->at.before;
    if (record->earlier) event->stands_for->lower(p->at.lane, std::max(p->at.sequence, 2u) - 2);
    event->capture = nullptr;
  }
  if (const auto* memory = std::get_if<FreeWork>(&work); memory != nullptr && !memory->memory)
    runtime.freeing[reinterpret_cast<memory::Address>(memory->pointer)] = p->at;
  p->work = std::move(work);
  runtime.queue.add(p);
  if (!waits.until_done) runtime.host_watch.added(runtime, p);
  std::optional<Wait> wait;
  if (waits.until_done) wait.emplace(p->at.before);
  after_put(runtime);
  if (in_the_call && (!at_once || waits.until_done)) run_until(runtime, p->at.before);
  if (waits.until_done) {
    runtime.has_waited();
    runtime.order.host_waits_for(p->at.before);
  }
  leave(*p);
  return p->result;
}

cudaError_t put_callback(Runtime& runtime, Device& device, const char* api_name,
                         cudaStream_t stream, std::function<void(cudaError_t)> callback) {
  const auto p = make_pending(runtime, device, api_name);
  p->at = runtime.order.put(runtime.streams.find_stream(stream, device.ordinal)->order);
  p->for_host = true;
  p->callback = std::move(callback);
  runtime.queue.add(p);
  after_put(runtime);
  leave(*p);
  return cudaSuccess;
}

void release_memory(Runtime& runtime, const void* pointer) {
  const auto address = reinterpret_cast<memory::Address>(pointer);
  runtime.freeing.erase(address);
  runtime.pool_memory.erase(address);
  runtime.memory->release(address);
}

void finish_free(Runtime& runtime, const void* pointer) {
  if (runtime.freeing.empty()) return;
  const memory::Allocation* const a =
      runtime.memory->find(reinterpret_cast<memory::Address>(pointer));
  if (a == nullptr) return;
  const auto it = runtime.freeing.find(a->base);
  if (it == runtime.freeing.end()) return;
  const Clock before = it->second.before;
  run_until(runtime, before);
}

void note_operation(Runtime& runtime, const Device& device, int kind, const char* api_name,
                    cudaStream_t stream, bool captured) {
  if (kind != LOCKSTEP_KERNEL) runtime.dependent_launches.end_chain();
  runtime.operations.note({kind, device.ordinal, captured, cudaSuccess, stream, api_name});
}

}  // namespace lockstep::runtime
