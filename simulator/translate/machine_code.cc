#include "simulator/translate/machine_code.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace lockstep::translate {

MachineCode::MachineCode(std::span<const std::uint8_t> code) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (code.size() + page - 1) / page * page;
  if (bytes == 0) return;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::uint8_t*>(at);
  bytes_ = bytes;
  std::memcpy(begin_, code.data(), code.size());
  std::memset(begin_ + code.size(), 0xcc, bytes - code.size());  // int3: nobody comes here
  if (mprotect(at, bytes, PROT_READ | PROT_EXEC) == 0) return;
  munmap(at, bytes);
  begin_ = nullptr;
  throw std::bad_alloc();
}

MachineCode::~MachineCode() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
}

void name_for_perf(const MachineCode& code, const char* name) {
  static const bool wanted = [] {
    const char* const variable = std::getenv("LOCKSTEP_PERF_MAP");
    return variable != nullptr && std::strcmp(variable, "1") == 0;
  }();
  if (!wanted) return;
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::FILE* const file = std::fopen(path.c_str(), "a");
  if (file == nullptr) return;  // perf shows addresses instead of names
  std::fprintf(file, "%zx %zx %s\n", reinterpret_cast<std::size_t>(code.begin()), code.bytes(),
               name);
  std::fclose(file);
}

}  // namespace lockstep::translate
