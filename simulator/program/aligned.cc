#include "simulator/program/aligned.h"

#include <algorithm>
#include <new>

namespace lockstep::program {

AlignedBytes allocate_aligned(std::size_t bytes) {
  void* p = std::aligned_alloc(64, (std::max<std::size_t>(bytes, 64) + 63) & ~std::size_t{63});
  if (p == nullptr) throw std::bad_alloc();
  return AlignedBytes(static_cast<std::byte*>(p));
}

}  // namespace lockstep::program
