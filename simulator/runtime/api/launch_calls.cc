// cudaLaunchKernel and its kin.
#include <algorithm>
#include <string>
#include <utility>

#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/graph/put.h"
#include "simulator/runtime/state/access_policy.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/launcher.h"
#include "simulator/runtime/work/work.h"

using lockstep::runtime::api;
using lockstep::runtime::check_access_policy;
using lockstep::runtime::check_legacy;
using lockstep::runtime::demangled;
using lockstep::runtime::Device;
using lockstep::runtime::KernelEntry;
using lockstep::runtime::KernelWork;
using lockstep::runtime::LaunchRequest;
using lockstep::runtime::make_kernel_work;
using lockstep::runtime::note_refused_launch;
using lockstep::runtime::put;
using lockstep::runtime::Reach;
using lockstep::runtime::Runtime;
using lockstep::runtime::Stream;

namespace {

// Reads the attributes of an extended launch. Those that only guide scheduling or caching change
// nothing here and are accepted.
cudaError_t read_attributes(Runtime& runtime, const cudaLaunchConfig_t& config,
                            LaunchRequest* request) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    switch (attribute.id) {
      case cudaLaunchAttributeClusterDimension: {
        const auto& c = attribute.val.clusterDim;
        if ((c.x | c.y | c.z) == 0) break;  // names no cluster, as an H200 shows
        request->cluster = dim3(c.x, c.y, c.z);
        request->has_cluster = true;
        break;
      }
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        request->programmatic = attribute.val.programmaticStreamSerializationAllowed != 0;
        break;
      case cudaLaunchAttributeCooperative:
        request->cooperative = attribute.val.cooperative != 0;
        break;
      case cudaLaunchAttributeAccessPolicyWindow:
        if (const cudaError_t error = check_access_policy(runtime, "cudaLaunchKernelExC",
                                                          attribute.val.accessPolicyWindow);
            error != cudaSuccess)
          return error;
        break;
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        if (attribute.val.clusterSchedulingPolicyPreference >
            cudaClusterSchedulingPolicyLoadBalancing)
          return cudaErrorInvalidValue;
        break;
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeSynchronizationPolicy:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributePreferredClusterDimension:  // a preference: the regular cluster is
                                                          // always allowed
      case cudaLaunchAttributePreferredSharedMemoryCarveout: break;
      case cudaLaunchAttributeProgrammaticEvent:
      case cudaLaunchAttributeLaunchCompletionEvent:
      case cudaLaunchAttributeDeviceUpdatableKernelNode:
      case cudaLaunchAttributeNvlinkUtilCentricScheduling:
        runtime.explain("cudaLaunchKernelExC", "launch attribute " +
                                                   std::to_string(static_cast<int>(attribute.id)) +
                                                   " is not supported by the simulated GPU");
        return cudaErrorNotSupported;
      default: return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

LaunchRequest request_of(dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                         bool cooperative) {
  LaunchRequest request;
  request.grid = grid;
  request.block = block;
  request.dynamic_shared = shared;
  request.stream = stream;
  request.cooperative = cooperative;
  return request;
}

// Notes that a launch is not taken (call_errors.h).
cudaError_t refused(Runtime& r, const void* function, cudaError_t error) {
  const KernelEntry* entry = r.modules.find_kernel(function);
  note_refused_launch(r, entry == nullptr ? "" : demangled(entry->name));
  return error;
}

cudaError_t launch(Runtime& r, Device& d, const char* api_name, const void* function,
                   const LaunchRequest& request, void** arguments,
                   const cudaLaunchAttribute* window = nullptr) {
  const Stream* const s = r.streams.find_stream(request.stream, d.ordinal);
  if (s != nullptr && s->capture && s->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (s != nullptr) {
    if (const cudaError_t error = check_legacy(r, api_name, *s); error != cudaSuccess)
      return refused(r, function, error);
  }
  KernelWork work;
  cudaError_t error = make_kernel_work(r, d, api_name, function, request, arguments, &work);
  if (window != nullptr) work.attributes.push_back(*window);  // for a node, if it is captured
  if (error == cudaSuccess) error = put(r, d, {api_name}, request.stream, std::move(work));
  if (error != cudaSuccess && r.interceptor != nullptr)
    error = r.interceptor->launch_answered(r, api_name, error);
  // A launch that is not taken invalidates the capture, as an H200 shows.
  if (error != cudaSuccess && s != nullptr && s->capture && r.modules.find_kernel(function))
    s->capture->invalid = true;
  // Blocking launches return what has become of a kernel that ran.
  return error == cudaSuccess || error == d.error ? error : refused(r, function, error);
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) {
    return launch(r, d, "cudaLaunchKernel", function,
                  request_of(grid, block, shared, stream, false), arguments);
  });
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared, cudaStream_t stream) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) {
    return launch(r, d, "cudaLaunchCooperativeKernel", function,
                  request_of(grid, block, shared, stream, true), arguments);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
      return cudaErrorInvalidValue;
    LaunchRequest request = request_of(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                       config->stream, false);
    if (const cudaError_t error = read_attributes(r, *config, &request); error != cudaSuccess)
      return refused(r, function, error);
    const cudaLaunchAttribute* const begin = config->attrs;
    const cudaLaunchAttribute* const end = begin + config->numAttrs;
    const cudaLaunchAttribute* const window = std::find_if(
        begin, end, [](const auto& a) { return a.id == cudaLaunchAttributeAccessPolicyWindow; });
    return launch(r, d, "cudaLaunchKernelExC", function, request, arguments,
                  window == end ? nullptr : window);
  });
}

}  // extern "C"

LOCKSTEP_PER_THREAD(__cudaLaunchKernel, _ptsz)
LOCKSTEP_PER_THREAD(cudaLaunchKernel, _ptsz)
LOCKSTEP_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz)
LOCKSTEP_PER_THREAD(cudaLaunchKernelExC, _ptsz)
