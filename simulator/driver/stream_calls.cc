// Streams, their capture, and host functions.
#include "simulator/driver/call.h"
#include "simulator/runtime/graph/capture.h"

using namespace lockstep::driver;
using lockstep::runtime::contexts;
using lockstep::runtime::Contexts;

namespace {

CUresult create(const char* function, CUstream* stream, unsigned flags, int priority) {
  return locked(function, Needs::kContext, [&](Runtime&, Device&) {
    const cudaError_t error = cudaStreamCreateWithPriority(stream, flags, priority);
    if (Context* context = Contexts::created_current(); context != nullptr && error == cudaSuccess)
      context->streams.insert(*stream);
    return result_of(error);
  });
}

}  // namespace

namespace lockstep::driver {
// A created stream belongs to its own context, not to the thread's current one.
CUresult capture_info_3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                        CUgraph* graph, const CUgraphNode** dependencies,
                        const CUgraphEdgeData** data, std::size_t* count) {
  return call("cuStreamGetCaptureInfo", needs_of(stream), [&] {
    return cudaStreamGetCaptureInfo(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status),
                                    reinterpret_cast<unsigned long long*>(id), graph, dependencies,
                                    reinterpret_cast<const cudaGraphEdgeData**>(data), count);
  });
}
// The form that returns no data of edges.
CUresult capture_info_2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                        CUgraph* graph, const CUgraphNode** dependencies, std::size_t* count) {
  return capture_info_3(stream, status, id, graph, dependencies, nullptr, count);
}
// The form that accepts no data of edges.
CUresult update_dependencies_1(CUstream stream, CUgraphNode* dependencies, std::size_t count,
                               unsigned flags) {
  return call("cuStreamUpdateCaptureDependencies", needs_of(stream), [&] {
    return cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr, count, flags);
  });
}
}  // namespace lockstep::driver

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return create("cuStreamCreate", stream, flags, 0);
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return create("cuStreamCreateWithPriority", stream, flags, priority);
}

// The context of a stream; the current context for a default stream.
CUresult cuStreamGetCtx(CUstream stream, CUcontext* result) {
  return locked("cuStreamGetCtx", needs_of(stream), [&](Runtime& r, Device& d) {
    const auto* const s = r.streams.find_stream(stream, d.ordinal);
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (s == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *result = handle_of(lockstep::driver::context_of(r, stream));
    return CUDA_SUCCESS;
  });
}

// Returns no green context: the simulated GPU has none.
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}

}  // extern "C"
