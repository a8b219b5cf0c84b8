// Digests of outputs. Equal bytes have equal digests on every machine; other bytes almost never do.
// Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

// The digest of `before`, 0 at the start, and these bytes with their count. Never 0, even for no
// bytes.
std::uint64_t digest_of(const void* bytes, std::size_t count, std::uint64_t before = 0);

}  // namespace lockstep
