// One operation of a stream: a kernel, a copy, a fill, a host function ... What is put into a
// stream goes into the queue (work/executor.h); what is put into a graph, or into a stream that is
// being captured, is kept as Work and put into the queue at every launch of the graph.
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

// A call of the API that puts an operation into a stream.
struct Call {
  // When a call that copies or fills returns (CUDA Runtime API, "API synchronization behavior").
  enum class Returns : std::uint8_t {
    kAtOnce,          // the functions whose names end in Async, and launches
    kWhenDone,        // the others, as far as the kinds of memory ask for it
    kBetweenDevices,  // cudaMemcpyPeer: at once, but ordered after all work of both devices
  };
  const char* name = "";
  Returns returns = Returns::kAtOnce;

  static Call async(const char* name) { return {name, Returns::kAtOnce}; }
  static Call blocking(const char* name) { return {name, Returns::kWhenDone}; }
  static Call between_devices(const char* name) { return {name, Returns::kBetweenDevices}; }
};

// Makes work of a launch: checks it against the device and packs the arguments (one pointer a
// parameter).
cudaError_t make_kernel_work(Runtime& runtime, Device& device, const char* api_name,
                             const void* kernel, LaunchRequest request, void** arguments,
                             KernelWork* work);
// A copy of `width` bytes in each of `height` rows, as cudaMemcpy3D's parameters have it.
CopyWork make_copy_work(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, cudaMemcpyKind kind);

// One side of a copy: what lies at a position of an array, or of memory.
Block side_of(cudaArray_const_t array, const cudaPitchedPtr& memory, const cudaPos& position);
// The bytes that a copy moves: with an array on a side, widths count its elements.
Shape shape_of(const cudaMemcpy3DParms& p);

// Whether a copy or fill can be done as things are now; a node's parameters are checked when they
// are set.
cudaError_t check_copy(Runtime& runtime, const char* api_name, const cudaMemcpy3DParms& box);
cudaError_t check_fill(Runtime& runtime, const char* api_name, const FillWork& fill);

// Whether work can be put, as things are now: its arguments, the memory that it names. What is to
// be freed there before is freed.
cudaError_t check_work(Runtime& runtime, const char* api_name, const Work& work);

// Executes a copy, a fill, an allocation or a free as the operation at `at`, under the device lock.
cudaError_t perform(Runtime& runtime, const char* api_name, const Work& work, const Operation& at);

// Puts work into the queue, of a stream that is not captured (graph/put.h).
cudaError_t put_in_queue(Runtime& runtime, Device& device, const Call& call, cudaStream_t stream,
                         Work work);
// A function of the program that is called with the device's error.
cudaError_t put_callback(Runtime& runtime, Device& device, const char* api_name,
                         cudaStream_t stream, std::function<void(cudaError_t)> callback);

// Memory that was freed in a stream goes back.
void release_memory(Runtime& runtime, const void* pointer);
// If it is to be freed in a stream that has not come to it: does so now.
void finish_free(Runtime& runtime, const void* pointer);

// Something was put into a stream (operations.h); put() says so itself.
void note_operation(Runtime& runtime, const Device& device, int kind, const char* api_name,
                    cudaStream_t stream, bool captured);

// Runs a host function of the program outside the device lock. CUDA runs it in a thread of its own:
// it has the calling thread here, but a state of its own, so that its errors are not the caller's.
template <class Call>
void run_callback(Call&& call) {
  const auto caller = thread_state();
  thread_state() = {};
  thread_state().in_callback = true;
  call();
  thread_state() = caller;
}

}  // namespace lockstep::runtime
