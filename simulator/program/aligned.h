// Memory for register files and constants, aligned to a cache line, which vector instructions
// require.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace lockstep::program {

struct AlignedDelete {
  void operator()(std::byte* p) const { std::free(p); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

// Allocates `bytes` uninitialised bytes. Throws std::bad_alloc.
AlignedBytes allocate_aligned(std::size_t bytes);

}  // namespace lockstep::program
