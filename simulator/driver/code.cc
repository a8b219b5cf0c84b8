#include "simulator/driver/code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

namespace lockstep::driver {

JitLog::JitLog(unsigned count, const CUjit_option* options, void** values)
    : count_(options == nullptr || values == nullptr ? 0 : count), options_(options), values_(values) {
  thread_state().last_sentence.clear();
}

void** JitLog::value(CUjit_option which) const {
  for (unsigned i = 0; i < count_; ++i) {
    if (options_[i] == which) return &values_[i];
  }
  return nullptr;
}

void JitLog::finish(CUresult result) const {
  // Sizes are numbers in the place of pointers; what was written goes back in the same place.
  const auto put = [&](CUjit_option buffer, CUjit_option size, const std::string& text) {
    void** const at = value(buffer);
    void** const room = value(size);
    if (room == nullptr) return;
    const auto bytes = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*room));
    std::size_t written = 0;
    if (at != nullptr && *at != nullptr && bytes != 0) {
      written = std::min<std::size_t>(text.size(), bytes - 1);
      std::memcpy(*at, text.data(), written);
      static_cast<char*>(*at)[written] = '\0';
    }
    *room = reinterpret_cast<void*>(written);
  };
  put(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
  put(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, result == CUDA_SUCCESS ? "" : thread_state().last_sentence);
}

bool read_file(const char* path, std::string* bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

runtime::KernelEntry* find_kernel(const void* handle) { return handle == nullptr ? nullptr : Runtime::get().modules.find_kernel(handle); }

}  // namespace lockstep::driver
