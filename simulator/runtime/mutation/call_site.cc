#include "simulator/runtime/mutation/call_site.h"

#include <dlfcn.h>

#include <string_view>

#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {

std::string CallSite::key(const char* api_name) const {
  return std::string(api_name) + "@" + object.substr(object.rfind('/') + 1) + "+" +
         hexadecimal(offset);
}

CallSite call_site(const char* api_name) {
  const void* const configured =
      std::string_view(api_name) == "cudaLaunchKernel" && RunningCall::current() != nullptr
          ? RunningCall::current()->launched_from()
          : nullptr;
  const void* const from = configured != nullptr ? configured : caller();
  CallSite site;
  Dl_info info;
  if (from == nullptr || dladdr(from, &info) == 0) return site;
  site.object = info.dli_fname;
  site.offset =
      reinterpret_cast<std::uintptr_t>(from) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  return site;
}

}  // namespace lockstep::runtime
