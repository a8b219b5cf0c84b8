// Digests of outputs. Equal bytes have equal digests on every machine; other bytes almost never do.
// Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

// Continues the digest `before` (0 at the start) with these bytes and their count. The result is
// never 0, even without bytes.
std::uint64_t digest_of(const void* bytes, std::size_t count, std::uint64_t before = 0);

}  // namespace lockstep
