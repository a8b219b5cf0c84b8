#include "harness/property/digest.h"

#include <cstring>

#include "harness/property/splitmix64.h"

namespace lockstep {
namespace {

// A bijection: different words stay different.
inline std::uint64_t absorb(std::uint64_t word) { return mix(word + kSplitMixStep); }

}  // namespace

std::uint64_t digest_of(const void* bytes, std::size_t count, std::uint64_t before) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t digest = absorb(before ^ count);
  std::size_t left = count;
  for (; left >= sizeof(std::uint64_t);
       left -= sizeof(std::uint64_t), at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    digest = absorb(digest ^ word);
  }
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    digest = absorb(digest ^ word);
  }
  return digest == 0 ? 1 : digest;
}

}  // namespace lockstep
