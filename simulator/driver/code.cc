#include "simulator/driver/code.h"

#include <fstream>
#include <iterator>

namespace lockstep::driver {

bool read_file(const char* path, std::string* bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

runtime::KernelEntry* find_kernel(const void* handle) {
  return handle == nullptr ? nullptr : Runtime::get().modules.find_kernel(handle);
}

}  // namespace lockstep::driver
