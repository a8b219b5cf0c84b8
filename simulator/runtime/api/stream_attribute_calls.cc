// Attributes of streams: kept and given back. They guide caches and scheduling, which change
// nothing that a program can observe here.
#include <cstring>

#include "simulator/runtime/state/access_policy.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"

using namespace lockstep::runtime;

namespace {

bool is_of_streams(cudaStreamAttrID id) {
  return id == cudaLaunchAttributeAccessPolicyWindow ||
         id == cudaLaunchAttributeSynchronizationPolicy || id == cudaLaunchAttributePriority ||
         id == cudaLaunchAttributeMemSyncDomainMap || id == cudaLaunchAttributeMemSyncDomain;
}

template <class Body>
cudaError_t about_attributes(const char* function, cudaStream_t stream, Body&& body) {
  return api(function, Reach::kDevice, [&](Runtime& r, Device& d) -> cudaError_t {
    Stream* s = r.streams.find_stream(stream, d.ordinal);
    return s == nullptr ? cudaErrorInvalidResourceHandle : body(r, d, *s);
  });
}

// Whether an H200's driver (580) accepts the value of an attribute.
bool is_value(cudaStreamAttrID id, const cudaStreamAttrValue& value) {
  constexpr unsigned kDomains = 4;  // cudaDevAttrMemSyncDomainCount
  switch (id) {
    case cudaLaunchAttributeSynchronizationPolicy:
      return value.syncPolicy >= cudaSyncPolicyAuto &&
             value.syncPolicy <= cudaSyncPolicyBlockingSync;
    case cudaLaunchAttributeMemSyncDomain:
      return value.memSyncDomain == cudaLaunchMemSyncDomainDefault ||
             value.memSyncDomain == cudaLaunchMemSyncDomainRemote;
    case cudaLaunchAttributeMemSyncDomainMap:
      return value.memSyncDomainMap.default_ < kDomains && value.memSyncDomainMap.remote < kDomains;
    default: return true;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   const cudaStreamAttrValue* value) {
  return about_attributes(__func__, stream, [&](Runtime& r, Device&, Stream& s) -> cudaError_t {
    if (value == nullptr || !is_of_streams(id)) return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributeAccessPolicyWindow) {
      if (const cudaError_t error =
              check_access_policy(r, "cudaStreamSetAttribute", value->accessPolicyWindow);
          error != cudaSuccess)
        return error;
    }
    if (!is_value(id, *value)) return cudaErrorInvalidValue;
    s.attributes[id] = *value;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   cudaStreamAttrValue* value) {
  return about_attributes(__func__, stream, [&](Runtime&, Device&, const Stream& s) -> cudaError_t {
    if (value == nullptr || !is_of_streams(id)) return cudaErrorInvalidValue;
    std::memset(value, 0, sizeof *value);
    // A stream without a policy of its own. The driver of an H200 (580) returns this number.
    if (id == cudaLaunchAttributeSynchronizationPolicy)
      value->syncPolicy = static_cast<cudaSynchronizationPolicy>(-1);
    if (id == cudaLaunchAttributePriority) value->priority = s.priority;
    if (const auto it = s.attributes.find(id); it != s.attributes.end()) *value = it->second;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return about_attributes(__func__, from,
                          [&](Runtime& r, Device& d, const Stream& source) -> cudaError_t {
                            Stream* target = r.streams.find_stream(to, d.ordinal);
                            if (target == nullptr) return cudaErrorInvalidResourceHandle;
                            target->attributes = source.attributes;
                            return cudaSuccess;
                          });
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaStreamSetAttribute, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamGetAttribute, _ptsz)
LOCKSTEP_PER_THREAD(cudaStreamCopyAttributes, _ptsz)
