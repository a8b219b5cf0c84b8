#include "simulator/runtime/state/describe.h"

#include <cstdio>

#include "simulator/compile/readable_name.h"

namespace lockstep::runtime {

std::string demangled(const std::string& name) { return compile::demangled(name); }

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string describe_place(const memory::DeviceMemory& memory, memory::Address address) {
  if (const memory::Allocation* a = memory.find(address)) {
    const std::string where =
        address == a->base ? "at the start of " : bytes(address - a->base) + " into ";
    return where + describe(*a) + (a->freed ? ", which has been freed" : "");
  }
  if (!memory.in_window(address)) return "outside all device memory";
  const auto [below, above] = memory.neighbours(address);
  const auto freed = [](const memory::Allocation& a) {
    return std::string(a.freed ? ", which has been freed" : "");
  };
  const bool below_is_nearer =
      below != nullptr &&
      (above == nullptr || address - (below->base + below->size) <= above->base - address);
  if (below_is_nearer && memory.in_window(below->base)) {
    const std::uint64_t past = address - (below->base + below->size);
    return (past == 0 ? "at the end of " : bytes(past) + " past the end of ") + describe(*below) +
           freed(*below);
  }
  if (above != nullptr && memory.in_window(above->base)) {
    return bytes(above->base - address) + " before " + describe(*above) + freed(*above);
  }
  return "in device memory that nothing was ever allocated near";
}

std::string hash_of(const std::vector<std::string>& texts) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, of 64 bits
  for (const std::string& text : texts) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    hash *= 0x100000001b3u;
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace lockstep::runtime
