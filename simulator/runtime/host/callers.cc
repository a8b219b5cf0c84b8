#include "simulator/runtime/host/callers.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep::runtime {

bool is_of_library(const void* at) {
  Dl_info info;
  if (dladdr(at, &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string_view path = info.dli_fname;
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("libstdc++.so") ||
         name.starts_with("libm.so") || name.starts_with("ld-linux");
}

namespace {

bool is_ours(const void* at) {
  static const char here = 0;
  Dl_info info, own;
  return dladdr(at, &info) != 0 && dladdr(&here, &own) != 0 && info.dli_fbase == own.dli_fbase;
}

}  // namespace

std::vector<const void*> program_frames(const void* at) {
  const void* const behind = static_cast<const char*>(at) + 1;
  std::array<void*, 32> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto end = frames.begin() + count;
  auto frame = std::find(frames.begin(), end, at);
  if (frame == end) return {behind};
  std::vector<const void*> result;
  if (!is_of_library(at)) result.push_back(behind);
  for (++frame; frame != end && result.size() < 2; ++frame) {
    if (is_ours(*frame)) break;  // a host function: the simulated GPU has called it
    if (!is_of_library(*frame)) result.push_back(*frame);
  }
  if (result.empty()) result.push_back(behind);
  return result;
}

}  // namespace lockstep::runtime
