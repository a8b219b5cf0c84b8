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
// cuStreamGetCaptureInfo in the version that returns no data of edges.
CUresult capture_info_2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                        CUgraph* graph, const CUgraphNode** dependencies, std::size_t* count) {
  return call("cuStreamGetCaptureInfo", Needs::kContext, [&] {
    return cudaStreamGetCaptureInfo(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status),
                                    reinterpret_cast<unsigned long long*>(id), graph, dependencies,
                                    nullptr, count);
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

CUresult cuStreamDestroy(CUstream stream) {
  return call("cuStreamDestroy", Needs::kContext, [&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return call("cuStreamSynchronize", Needs::kContext,
              [&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return call("cuStreamQuery", Needs::kContext, [&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return call("cuStreamGetFlags", Needs::kContext,
              [&] { return cudaStreamGetFlags(stream, flags); });
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return call("cuStreamGetPriority", Needs::kContext,
              [&] { return cudaStreamGetPriority(stream, priority); });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return call("cuStreamGetId", Needs::kContext, [&] { return cudaStreamGetId(stream, id); });
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return call("cuStreamGetDevice", Needs::kContext,
              [&] { return cudaStreamGetDevice(stream, device); });
}

// Of a default stream the current context.
CUresult cuStreamGetCtx(CUstream stream, CUcontext* result) {
  return locked("cuStreamGetCtx", Needs::kContext, [&](Runtime& r, Device& d) {
    const auto* const s = r.streams.find_stream(stream, d.ordinal);
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (s == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const Context* const current = Contexts::current();
    const bool is_default = s->id <= lockstep::runtime::Stream::kPerThreadId;
    *result = handle_of(is_default || current->streams.count(stream) != 0
                            ? current
                            : contexts().owner_of(stream, s->device));
    return CUDA_SUCCESS;
  });
}

// No stream is of a green context: there are none.
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return call("cuStreamWaitEvent", Needs::kContext,
              [&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t bytes,
                                unsigned flags) {
  return call("cuStreamAttachMemAsync", Needs::kContext,
              [&] { return cudaStreamAttachMemAsync(stream, pointer(address), bytes, flags); });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return call("cuLaunchHostFunc", Needs::kContext,
              [&] { return cudaLaunchHostFunc(stream, function, data); });
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                             unsigned flags) {
  // The same but for what the second argument is called: it is always 0.
  return call("cuStreamAddCallback", Needs::kContext, [&] {
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data,
                                 flags);
  });
}

CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID which,
                              const CUstreamAttrValue* value) {
  static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaStreamAttrValue));
  return call("cuStreamSetAttribute", Needs::kContext, [&] {
    return cudaStreamSetAttribute(stream, static_cast<cudaStreamAttrID>(which),
                                  reinterpret_cast<const cudaStreamAttrValue*>(value));
  });
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID which, CUstreamAttrValue* value) {
  return call("cuStreamGetAttribute", Needs::kContext, [&] {
    return cudaStreamGetAttribute(stream, static_cast<cudaStreamAttrID>(which),
                                  reinterpret_cast<cudaStreamAttrValue*>(value));
  });
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return call("cuStreamCopyAttributes", Needs::kContext,
              [&] { return cudaStreamCopyAttributes(to, from); });
}

// ---- capture

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return call("cuStreamBeginCapture", Needs::kContext, [&] {
    return cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode));
  });
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                     const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                                     std::size_t count, CUstreamCaptureMode mode) {
  return call("cuStreamBeginCaptureToGraph", Needs::kContext, [&] {
    return cudaStreamBeginCaptureToGraph(stream, graph, dependencies,
                                         reinterpret_cast<const cudaGraphEdgeData*>(data), count,
                                         static_cast<cudaStreamCaptureMode>(mode));
  });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return call("cuStreamEndCapture", Needs::kContext,
              [&] { return cudaStreamEndCapture(stream, graph); });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return call("cuStreamIsCapturing", Needs::kContext, [&] {
    return cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status));
  });
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                CUgraph* graph, const CUgraphNode** dependencies,
                                const CUgraphEdgeData** data, std::size_t* count) {
  return call("cuStreamGetCaptureInfo", Needs::kContext, [&] {
    return cudaStreamGetCaptureInfo(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status),
                                    reinterpret_cast<unsigned long long*>(id), graph, dependencies,
                                    reinterpret_cast<const cudaGraphEdgeData**>(data), count);
  });
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies,
                                           const CUgraphEdgeData* data, std::size_t count,
                                           unsigned flags) {
  return call("cuStreamUpdateCaptureDependencies", Needs::kContext, [&] {
    return cudaStreamUpdateCaptureDependencies(
        stream, dependencies, reinterpret_cast<const cudaGraphEdgeData*>(data), count, flags);
  });
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return call("cuThreadExchangeStreamCaptureMode", Needs::kDriver, [&] {
    return cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode));
  });
}

}  // extern "C"
