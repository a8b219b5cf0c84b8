#include "simulator/engine/state/block.h"

#include <cstring>

namespace lockstep::engine {

void Arena::reserve(std::size_t n) {
  if (n <= size) return;
  // Whole vectors are read, so a row of lanes may be read past the last variable.
  bytes = allocate_aligned(n + 64);
  written = allocate_aligned(n / 8 + 64);
  std::memset(written.get(), 0, n / 8 + 64);
  size = n;
}

}  // namespace lockstep::engine
