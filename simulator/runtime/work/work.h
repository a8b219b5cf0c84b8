// One operation of a stream: a kernel, a copy, a fill, a host function ... Operations put into a
// stream are queued (work/executor.h). Operations put into a graph, or into a stream that is being
// captured, are kept as Work and queued at every launch of the graph.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "simulator/runtime/state/blocks.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/state/work_types.h"
#include "simulator/runtime/work/launcher.h"

namespace lockstep::runtime {

cudaGraphNodeType type_of(const Work& work);

// An API call that puts an operation into a stream.
struct Call {
  // When a call that copies or fills returns (CUDA Runtime API, "API synchronization behavior").
  enum class Returns : std::uint8_t {
    kAtOnce,          // the functions whose names end in Async, and launches
    kWhenDone,        // other functions, as far as the kinds of memory require it
    kBetweenDevices,  // cudaMemcpyPeer: at once, but ordered after all work of both devices
  };
  const char* name = "";
  Returns returns = Returns::kAtOnce;

  static Call async(const char* name) { return {name, Returns::kAtOnce}; }
  static Call blocking(const char* name) { return {name, Returns::kWhenDone}; }
  static Call between_devices(const char* name) { return {name, Returns::kBetweenDevices}; }
};

// Creates the work of a launch: checks it for the device and packs the arguments (one pointer for
// each parameter).
cudaError_t make_kernel_work(Runtime& runtime, Device& device, const char* api_name,
                             const void* kernel, LaunchRequest request, void** arguments,
                             KernelWork* work);
// A copy of `width` bytes in each of `height` rows, as cudaMemcpy3D's parameters have it.
CopyWork make_copy_work(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, cudaMemcpyKind kind);

// One side of a copy: the bytes at a position of an array, or of memory.
Block side_of(cudaArray_const_t array, const cudaPitchedPtr& memory, const cudaPos& position);
// The bytes that a copy moves. If a side is an array, widths count its elements.
Shape shape_of(const cudaMemcpy3DParms& p);

// Whether a copy or fill is possible in the present state. A node's parameters are checked when
// they are set.
cudaError_t check_copy(Runtime& runtime, const char* api_name, const cudaMemcpy3DParms& box);
cudaError_t check_fill(Runtime& runtime, const char* api_name, const FillWork& fill);

// Whether work can be put in the present state: checks its arguments and memory. First executes
// pending frees of that memory.
cudaError_t check_work(Runtime& runtime, const char* api_name, const Work& work);

// Executes a copy, a fill, an allocation or a free as the operation `at`, under the device lock.
cudaError_t perform(Runtime& runtime, const char* api_name, const Work& work, const Operation& at);

// Queues work of a stream that is not captured (graph/put.h).
cudaError_t put_in_queue(Runtime& runtime, Device& device, const Call& call, cudaStream_t stream,
                         Work work);
// Queues a function of the program that is called with the device's error.
cudaError_t put_callback(Runtime& runtime, Device& device, const char* api_name,
                         cudaStream_t stream, std::function<void(cudaError_t)> callback);

// Releases memory that was freed in a stream.
void release_memory(Runtime& runtime, const void* pointer);
// If the memory is freed in a stream that has not executed the free yet: executes it now.
void finish_free(Runtime& runtime, const void* pointer);

// Logs an operation put into a stream (operations.h). put() calls this itself.
void note_operation(Runtime& runtime, const Device& device, int kind, const char* api_name,
                    cudaStream_t stream, bool captured);

// Runs a host function of the program outside the device lock. CUDA runs it in a thread of its own.
// Here the calling thread runs it with a separate state, so that its errors do not affect the
// caller.
template <class Call>
void run_callback(Call&& call) {
  const auto caller = thread_state();
  thread_state() = {};
  thread_state().in_callback = true;
  call();
  thread_state() = caller;
}

}  // namespace lockstep::runtime
