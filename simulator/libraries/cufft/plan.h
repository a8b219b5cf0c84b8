// A plan of cuFFT: what is transformed and how it lies, and the operation that does it.
#pragma once

#include <driver_types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "simulator/libraries/cufft/layout.h"
#include "simulator/libraries/cufft/transform.h"

namespace lockstep::cufft {

enum class Kind { kComplex, kRealToComplex, kComplexToReal };

// What cufftMakePlanMany describes.
struct Shape {
  Kind kind = Kind::kComplex;
  bool is_double = false;
  int rank = 1;
  std::array<std::int64_t, 3> n{1, 1, 1};  // filled up from the left
  std::int64_t batch = 1;
  // Of the advanced layout; else elements lie without gaps, the reals of an in-place transform in
  // rows padded to those of the complex numbers.
  struct Side {
    std::array<std::int64_t, 3> embed{1, 1, 1};
    std::int64_t stride = 1, distance = 1;
  };
  std::optional<std::array<Side, 2>> advanced;  // input, output

  std::int64_t half() const { return n[2] / 2 + 1; }
  std::size_t real_bytes() const { return is_double ? 8 : 4; }
  Layout input(bool in_place) const { return layout(0, in_place); }
  Layout output(bool in_place) const { return layout(1, in_place); }
  // Bytes that the simulated library asks for: the complex numbers of a batch.
  std::size_t workspace() const;

 private:
  Layout layout(int side, bool in_place) const;
};

// One execution.
struct Work {
  Shape shape;
  std::array<std::shared_ptr<const Transform>, 3> transforms;
  const void* from = nullptr;
  void* to = nullptr;
  bool inverse = false;
  void* workspace = nullptr;  // nullptr: of the library's own, which nobody sees
  std::size_t workspace_bytes = 0;

  // 0; 1 where memory is not there.
  int run(lockstepRunningWork* running) const;
};

}  // namespace lockstep::cufft
