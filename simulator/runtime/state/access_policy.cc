#include "simulator/runtime/state/access_policy.h"

#include <string>

#include "simulator/runtime/state/call_errors.h"

namespace lockstep::runtime {

// Of an A100, an RTX 4090 and an H100, as their deviceQuery prints them; of later devices as of the
// H100.
int largest_persisting_l2(const Profile& profile) {
  const int sixteenths = profile.compute_capability() < 80    ? 0
                         : profile.compute_capability() == 80 ? 12
                         : profile.compute_capability() == 89 ? 11
                                                              : 10;
  return profile.l2_bytes / 16 * sixteenths;
}

int largest_access_window(const Profile& profile) {
  constexpr int kLargest = 1 << 27;  // of an H100
  return profile.compute_capability() < 80 ? 0 : kLargest;
}

cudaError_t check_access_policy(Runtime& runtime, const char* function,
                                const cudaAccessPolicyWindow& window) {
  const auto refuse = [&](const std::string& why) {
    runtime.explain(function, why);
    return cudaErrorInvalidValue;
  };
  const auto most = static_cast<std::size_t>(largest_access_window(*runtime.settings.profile));
  if (window.num_bytes > most)
    return refuse("an access policy window of " + std::to_string(window.num_bytes) +
                  " bytes; the device's limit (accessPolicyMaxWindowSize) is " +
                  std::to_string(most));
  if (!(window.hitRatio >= 0 && window.hitRatio <= 1))
    return refuse("the hit ratio of an access policy window is from 0 to 1");
  const bool known =
      window.hitProp >= cudaAccessPropertyNormal && window.hitProp <= cudaAccessPropertyPersisting;
  if (!known) return refuse("an access policy window has no such property");
  if (window.missProp != cudaAccessPropertyNormal && window.missProp != cudaAccessPropertyStreaming)
    return refuse("the misses of an access policy window are normal or streaming");
  return cudaSuccess;
}

}  // namespace lockstep::runtime
