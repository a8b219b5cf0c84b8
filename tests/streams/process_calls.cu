// Calls about memory and events of other processes, and about the L2 cache.
#include "calls.h"
#include "lent.h"

namespace lockstep::streams {
namespace {

// The handles of one lending process, which lives until this process ends.
const Lent& lent() {
  static const Lent other;
  return other;
}
cudaEvent_t lent_event() {
  static const cudaEvent_t event = lent().open_event();
  return event;
}
// Memory and an event that can be shared with other processes.
void* own_memory() {
  return made([](void** p) { cudaMalloc(p, kSmall); });
}
cudaEvent_t own_event() {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming);
  return event;
}

cudaStreamAttrValue window(void* of) {
  cudaStreamAttrValue value = {};
  value.accessPolicyWindow.base_ptr = of;
  value.accessPolicyWindow.num_bytes = kSmall;
  value.accessPolicyWindow.hitRatio = 1;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  return value;
}

}  // namespace

std::vector<Call> process_calls() {
  return {
    CALL_WITH("cudaIpcGetMemHandle", own_memory(), cudaIpcMemHandle_t h;
              cudaIpcGetMemHandle(&h, x)),
        CALL_WITH("cudaIpcGetEventHandle", own_event(), cudaIpcEventHandle_t h;
                  cudaIpcGetEventHandle(&h, x)),
        CALL_WITH("cudaIpcOpenMemHandle", &lent(), x->open()),
        CALL_WITH("cudaIpcOpenEventHandle", &lent(), cudaEventDestroy(x->open_event())),
        CALL_WITH("cudaIpcCloseMemHandle", lent().open(), cudaIpcCloseMemHandle(x)),
        CALL_WITH("cudaEventRecord of an event of another process, idle stream", lent_event(),
                  cudaEventRecord(x, s.idle)),
        CALL_WITH("cudaEventRecord of an event of another process, busy stream", lent_event(),
                  cudaEventRecord(x, s.busy)),
        CALL_WITH(
            "cudaEventRecord of an event of another process, idle stream, and "
            "cudaStreamWaitEvent, later stream",
            lent_event(), cudaEventRecord(x, s.idle);
            cudaStreamWaitEvent(s.later, x)),
        CALL_WITH(
            "cudaEventRecord of an event of another process, busy stream, and "
            "cudaStreamWaitEvent, later stream",
            lent_event(), cudaEventRecord(x, s.busy);
            cudaStreamWaitEvent(s.later, x)),
        CALL_WITH("cudaEventQuery of an event of another process", lent_event(), cudaEventQuery(x)),
        CALL_WITH("cudaEventSynchronize of an event of another process", lent_event(),
                  cudaEventSynchronize(x)),
        CALL(
            "cudaStreamSetAttribute, cudaStreamGetAttribute, cudaStreamCopyAttributes, "
            "access policy window",
            cudaStreamAttrValue value = window(s.device);
            cudaStreamSetAttribute(s.idle, cudaStreamAttributeAccessPolicyWindow, &value);
            cudaStreamGetAttribute(s.idle, cudaStreamAttributeAccessPolicyWindow, &value);
            cudaStreamCopyAttributes(s.later, s.idle)),
        CALL("cudaDeviceSetLimit, persisting L2",
             cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20)),
  };
}

}  // namespace lockstep::streams
