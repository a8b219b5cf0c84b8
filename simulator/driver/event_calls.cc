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
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return call("cuEventElapsedTime", Needs::kHandle, [&] {
    return start == nullptr || end == nullptr ? cudaErrorInvalidResourceHandle
                                              : cudaEventElapsedTime(milliseconds, start, end);
  });
}

}  // extern "C"
