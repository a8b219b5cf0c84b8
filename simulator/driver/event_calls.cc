// Events.
#include "simulator/driver/call.h"

using namespace lockstep::driver;
using lockstep::runtime::Contexts;

extern "C" {

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return locked("cuEventCreate", Needs::kContext, [&](Runtime&, Device&) {
    const cudaError_t error = cudaEventCreateWithFlags(event, flags);
    if (Context* context = Contexts::created_current(); context != nullptr && error == cudaSuccess)
      context->events.insert(*event);
    return result_of(error);
  });
}
CUresult cuEventDestroy(CUevent event) {
  return call("cuEventDestroy", Needs::kContext, [&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call("cuEventRecord", Needs::kContext, [&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return call("cuEventRecordWithFlags", Needs::kContext,
              [&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
CUresult cuEventQuery(CUevent event) {
  return call("cuEventQuery", Needs::kContext, [&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return call("cuEventSynchronize", Needs::kContext, [&] { return cudaEventSynchronize(event); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return call("cuEventElapsedTime", Needs::kContext, [&] {
    return start == nullptr || end == nullptr ? cudaErrorInvalidResourceHandle
                                              : cudaEventElapsedTime(milliseconds, start, end);
  });
}

}  // extern "C"
