// Among which threads a strong access or a fence orders (PTX ISA 8.5), as far as one launch goes.
#pragma once

#include <cstdint>

namespace lockstep::check {

enum class Scope : std::uint8_t {
  kBlock,
  kCluster,
  kGrid,  // .gpu and .sys
};

}  // namespace lockstep::check
