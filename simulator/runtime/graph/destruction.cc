#include "simulator/runtime/graph/destruction.h"

#include <utility>

#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/state/arrays.h"
#include "simulator/runtime/work/executor.h"

namespace lockstep::runtime {

void destroy_context(Runtime& runtime, Context& context) {
  wait_for_all(runtime);
  for (const cudaStream_t stream : context.streams) {
    if (Stream* s = runtime.streams.find_stream(stream, context.device)) abandon(runtime, *s);
  }
  contexts().destroy(runtime, context);
}

void reset_device(Runtime& runtime, Device& device) {
  wait_for_all(runtime);
  runtime.report_leaks(device);
  runtime.modules.unload(runtime, device.ordinal);
  runtime.graph_memory.reset(device.ordinal);
  for (const memory::Allocation* a : runtime.memory->live()) {
    if (a->device == device.ordinal && !runtime.modules.is_managed_variable(*a))
      runtime.memory->release(a->base);
  }
  for (Stream* stream : runtime.streams.of_device(device.ordinal)) abandon(runtime, *stream);
  runtime.streams.destroy_all(device.ordinal);
  arrays().destroy_all(device.ordinal);
  contexts().reset(device.ordinal);
  Device fresh;
  fresh.ordinal = device.ordinal;
  fresh.count_memory = runtime.settings.count;
  fresh.error = device.error == cudaSuccess ? cudaSuccess : cudaErrorDevicesUnavailable;
  device = std::move(fresh);
}

}  // namespace lockstep::runtime
