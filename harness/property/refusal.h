// The assertions of a family's refusal law: for arguments outside of its contract, a launcher
// returns cudaErrorInvalidValue with a message and writes no byte.
//
//   REQUIRE_REFUSED(launcher(bad arguments))   takes the launcher's result: any type with members
//                                              `error` and `message`
//   REQUIRE_UNTOUCHED(array)                   waits for the device; every element of the output
//                                              must then hold its poison
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "harness/device/device_array.h"
#include "harness/property/compare.h"

namespace lockstep {

// `p` moved by bytes, which may misalign it for its type.
template <class T>
T* shifted_by_bytes(T* p, int bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(p) + bytes);
}

template <class Status>
void require_refused(const Site& site, const Status& status) {
  if (status.error != cudaErrorInvalidValue) {
    detail::fail_at(site, Reason::kLaw,
                    fmt::format("must be refused with cudaErrorInvalidValue, but answers {} ({})",
                                cudaGetErrorName(status.error), status.message));
  }
  if (status.message.empty()) detail::fail_at(site, Reason::kLaw, "is refused without a message");
}

template <class T>
void require_untouched(const Site& site, const DeviceArray<T>& array) {
  detail::require_success(site, cudaDeviceSynchronize());
  const std::vector<T> after = array.fetch();
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!array.holds_poison(i, after[i]))
      detail::fail_at(site, Reason::kLaw,
                      fmt::format("nothing may be written, but {}[{}] was", array.name(), i));
  }
}

}  // namespace lockstep

#define REQUIRE_REFUSED(...) ::lockstep::require_refused(LOCKSTEP_SITE_(#__VA_ARGS__), __VA_ARGS__)
#define REQUIRE_UNTOUCHED(array) ::lockstep::require_untouched(LOCKSTEP_SITE_(#array), array)
