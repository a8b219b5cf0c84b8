// Digests of outputs: equal for equal bytes on every machine, and almost never for other bytes. Not
// cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

// Goes on from `before`, 0 at the start; the count is part of it. Never 0, not even of no bytes.
std::uint64_t digest_of(const void* bytes, std::size_t count, std::uint64_t before = 0);

}  // namespace lockstep
