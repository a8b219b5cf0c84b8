#include "harness/property/element.h"

#include <cstdio>

namespace lockstep {
namespace {

std::string with_bits(double v, int digits, std::uint64_t bits, int nibbles) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g (0x%0*llx)", digits, v, nibbles,
                static_cast<unsigned long long>(bits));
  return text;
}

}  // namespace

std::string element_text(float v) {
  return with_bits(static_cast<double>(v), 9, std::bit_cast<std::uint32_t>(v), 8);
}
std::string element_text(double v) { return with_bits(v, 17, std::bit_cast<std::uint64_t>(v), 16); }
std::string element_text(Half v) { return with_bits(to_double(v), 5, v.bits, 4); }
std::string element_text(std::int64_t v) { return std::to_string(v); }
std::string element_text(std::uint64_t v) { return std::to_string(v); }

std::string element_text(const void* bytes, std::size_t count) {
  std::string text = "0x";
  for (std::size_t i = count; i-- > 0;) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<const unsigned char*>(bytes)[i]);
    text += hex;
  }
  return text;
}

}  // namespace lockstep
