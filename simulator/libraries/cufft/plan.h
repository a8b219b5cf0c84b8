// A plan of cuFFT: the shape and layout of a transform, and the operation that executes it.
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

// The parameters of cufftMakePlanMany.
struct Shape {
  Kind kind = Kind::kComplex;
  bool is_double = false;
  int rank = 1;
  std::array<std::int64_t, 3> n{1, 1, 1};  // filled up from the left
  std::int64_t batch = 1;
  // A side of the advanced layout. Without it, elements are stored without gaps, and the reals of
  // an in-place transform in rows padded to the length of the complex rows.
  struct Side {
    std::array<std::int64_t, 3> embed{1, 1, 1};
    std::int64_t stride = 1, distance = 1;
  };
  std::optional<std::array<Side, 2>> advanced;  // input, output

  std::int64_t half() const { return n[2] / 2 + 1; }
  std::size_t real_bytes() const { return is_double ? 8 : 4; }
  Layout input(bool in_place) const { return layout(0, in_place); }
  Layout output(bool in_place) const { return layout(1, in_place); }
  // The size in bytes that the simulated library reports: the complex numbers of a batch.
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
  void* workspace = nullptr;  // nullptr: the library's own, which is invisible
  std::size_t workspace_bytes = 0;

  // Returns 0, or 1 if memory does not exist.
  int run(lockstepRunningWork* running) const;
};

}  // namespace lockstep::cufft
