#include "simulator/runtime/work/memory_operations.h"

#include <string>
#include <type_traits>

#include "simulator/engine/launch/running.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/work/transfers.h"

namespace lockstep::runtime {
namespace {

constexpr std::size_t kMostOperations = 255;

bool writes(const CUstreamBatchMemOpParams& o) {
  return o.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
         o.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}
bool waits(const CUstreamBatchMemOpParams& o) {
  return o.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
         o.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

// Bytes of the value. The fields of both kinds lie in the same places.
std::size_t width(const CUstreamBatchMemOpParams& o) {
  return o.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64 ||
                 o.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64
             ? 8
             : 4;
}

cudaError_t check_place(Runtime& runtime, const char* api_name, memory::Address address,
                        std::size_t bytes) {
  const auto refuse = [&](const std::string& why) {
    runtime.explain(api_name, hexadecimal(address) + " " + why);
    return cudaErrorInvalidValue;
  };
  if (address % bytes != 0)
    return refuse("is not aligned to the " + std::to_string(bytes) + " bytes of the value");
  const memory::Allocation* const a = runtime.memory->find(address);
  if (a == nullptr || a->freed || a->base + a->size - address < bytes)
    return refuse("is no device or pinned memory of that size");
  if (a->kind == memory::Kind::kManaged)
    return refuse("is managed memory, which streams neither write to nor wait for");
  return cudaSuccess;
}

cudaError_t check(Runtime& runtime, const char* api_name, const CUstreamBatchMemOpParams& o) {
  if (writes(o)) {
    if (o.writeValue.flags != CU_STREAM_WRITE_VALUE_DEFAULT) return cudaErrorInvalidValue;
    return check_place(runtime, api_name, o.writeValue.address, width(o));
  }
  if (waits(o)) {
    constexpr unsigned kComparison = 3;
    if ((o.waitValue.flags & ~(kComparison | CU_STREAM_WAIT_VALUE_FLUSH)) != 0)
      return cudaErrorInvalidValue;
    if ((o.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) return cudaErrorNotSupported;
    return check_place(runtime, api_name, o.waitValue.address, width(o));
  }
  if (o.operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) return cudaErrorNotSupported;
  const bool is_barrier = o.operation == CU_STREAM_MEM_OP_BARRIER &&
                          o.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
  return is_barrier ? cudaSuccess : cudaErrorInvalidValue;
}

// `Unsigned` has the value's width. The difference wraps, as the manual has it.
template <class Unsigned>
bool holds(unsigned comparison, Unsigned there, Unsigned value) {
  switch (comparison) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::make_signed_t<Unsigned>>(there - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return there == value;
    case CU_STREAM_WAIT_VALUE_AND: return (there & value) != 0;
    default: return static_cast<Unsigned>(~(there | value)) != 0;
  }
}

// One of them. *done: false where the value that is waited for is not there yet.
cudaError_t run_one(Runtime& runtime, const char* api_name, const CUstreamBatchMemOpParams& o,
                    const Operation& at, bool* done) {
  *done = true;
  if (const cudaError_t error = check(runtime, api_name, o); error != cudaSuccess) return error;
  if (writes(o)) {
    everything_is_known(runtime, at);
    // Kernels may look at it meanwhile.
    std::uint64_t value = o.writeValue.value64;
    const CopyWork copy = make_copy_work(reinterpret_cast<void*>(o.writeValue.address), 8, &value,
                                         8, width(o), 1, cudaMemcpyDefault);
    return perform(runtime, api_name, copy, {0, 0, runtime.order.all(), {}});
  }
  if (!waits(o)) return cudaSuccess;  // a barrier: all that came before has happened
  const memory::Allocation* const a = runtime.memory->find(o.waitValue.address);
  const std::byte* const there = runtime.memory->host(*a, o.waitValue.address);
  const unsigned comparison = o.waitValue.flags;
  // The program's threads may write there as this one looks.
  if (width(o) == 8) {
    *done = holds(comparison,
                  __atomic_load_n(reinterpret_cast<const std::uint64_t*>(there), __ATOMIC_ACQUIRE),
                  o.waitValue.value64);
  } else {
    *done = holds(comparison,
                  __atomic_load_n(reinterpret_cast<const std::uint32_t*>(there), __ATOMIC_ACQUIRE),
                  o.waitValue.value);
  }
  if (*done) everything_is_known(runtime, at);
  return cudaSuccess;
}

}  // namespace

Clock everything_is_known(Runtime& runtime, const Operation& at) {
  Clock executed = runtime.order.all();
  executed.join(runtime.order.host());  // and what the host itself has accessed
  for (const auto& entry : runtime.queue.entries()) {
    const Operation& e = entry->at;
    if (e.lane != at.lane || e.sequence != at.sequence) executed.lower(e.lane, e.sequence - 1);
  }
  runtime.has_waited();
  runtime.order.host_waits_for(executed);
  runtime.queue.learn(executed);
  for (engine::Running* running : runtime.running) running->also_known(executed.values());
  return executed;
}

cudaError_t check_operations(Runtime& runtime, const char* api_name,
                             const MemoryOperationsWork& work) {
  if (work.operations.size() > kMostOperations) return cudaErrorInvalidValue;
  for (const CUstreamBatchMemOpParams& o : work.operations) {
    if (const cudaError_t error = check(runtime, api_name, o); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t run_operations(Runtime& runtime, const char* api_name, const MemoryOperationsWork& work,
                           const Operation& at, std::size_t* next, bool* done) {
  *done = true;
  for (; *next < work.operations.size(); ++*next) {
    const cudaError_t error = run_one(runtime, api_name, work.operations[*next], at, done);
    if (error != cudaSuccess || !*done) return error;
  }
  return cudaSuccess;
}

std::string words_of(const memory::DeviceMemory& memory,
                     const CUstreamBatchMemOpParams& operation) {
  return "the value " +
         std::to_string(width(operation) == 8 ? operation.waitValue.value64
                                              : operation.waitValue.value) +
         " at " + hexadecimal(operation.waitValue.address) + ", " +
         describe_place(memory, operation.waitValue.address);
}

}  // namespace lockstep::runtime
