// The scope of a strong access or fence: the threads among which it orders (PTX ISA 8.5), within
// one launch.
#pragma once

#include <cstdint>

namespace lockstep::check {

enum class Scope : std::uint8_t {
  kBlock,
  kCluster,
  kGrid,  // .gpu and .sys
};

}  // namespace lockstep::check
