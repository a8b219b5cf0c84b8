#include "simulator/runtime/state/linked_code.h"

#include <cstdint>
#include <cstring>

namespace lockstep::runtime {
namespace {

constexpr char kMagic[16] = "LOCKSTEP LINKED";

struct Header {
  char magic[16];
  std::uint64_t bytes;  // of all, the header included
  std::uint64_t count;  // of texts; the size of each follows, and then the texts
  CodeLimits limits;
};

}  // namespace

std::string pack_linked(const std::vector<std::string>& texts, const CodeLimits& limits) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.count = texts.size();
  header.limits = limits;
  std::string sizes, all;
  for (const std::string& text : texts) {
    const std::uint64_t size = text.size();
    sizes.append(reinterpret_cast<const char*>(&size), sizeof size);
    all += text;
  }
  header.bytes = sizeof header + sizes.size() + all.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + sizes + all;
}

bool is_linked(const void* code) {
  return std::strncmp(static_cast<const char*>(code), kMagic, sizeof kMagic) == 0;
}

bool unpack_linked(const void* code, std::vector<std::string>* texts, CodeLimits* limits) {
  Header header;
  std::memcpy(&header, code, sizeof header);
  const auto* const begin = static_cast<const char*>(code);
  if (header.bytes < sizeof header ||
      header.count > (header.bytes - sizeof header) / sizeof(std::uint64_t))
    return false;
  std::uint64_t at = sizeof header + header.count * sizeof(std::uint64_t);
  texts->clear();
  *limits = header.limits;
  for (std::uint64_t i = 0; i < header.count; ++i) {
    std::uint64_t size = 0;
    std::memcpy(&size, begin + sizeof header + i * sizeof size, sizeof size);
    if (size > header.bytes - at) return false;
    texts->emplace_back(begin + at, size);
    at += size;
  }
  return true;
}

}  // namespace lockstep::runtime
