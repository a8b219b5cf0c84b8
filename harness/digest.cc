#include "harness/digest.h"

#include <cstring>

namespace lockstep {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection, so that no word's difference is lost.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t digest_of(const void* bytes, std::size_t count, std::uint64_t before) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t digest = mix(before ^ count);
  std::size_t left = count;
  for (; left >= sizeof(std::uint64_t); left -= sizeof(std::uint64_t), at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    digest = mix(digest ^ word);
  }
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    digest = mix(digest ^ word);
  }
  return digest == 0 ? 1 : digest;
}

}  // namespace lockstep
