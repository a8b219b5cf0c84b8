// A plan of cuFFT: the sizes and layout of its transforms, and the operation that executes it.
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

// The arguments of cufftMakePlanMany.
struct Shape {
  Kind kind = Kind::kComplex;
  bool is_double = false;
  int rank = 1;
  std::array<std::int64_t, 3> n{1, 1, 1};  // missing dimensions are added on the left
  std::int64_t batch = 1;
  // The advanced layout. Without it, elements have no gaps, except that rows of reals in an in-
  // place transform are padded to the size of the complex rows.
  struct Side {
    std::array<std::int64_t, 3> embed{1, 1, 1};
    std::int64_t stride = 1, distance = 1;
  };
  std::optional<std::array<Side, 2>> advanced;  // input, output

  std::int64_t half() const { return n[2] / 2 + 1; }
  std::size_t real_bytes() const { return is_double ? 8 : 4; }
  Layout input(bool in_place) const { return layout(0, in_place); }
  Layout output(bool in_place) const { return layout(1, in_place); }
  // The workspace in bytes that the simulated library reports: the complex numbers of a batch.
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
  void* workspace = nullptr;  // nullptr: the library's own workspace, which is not simulated
  std::size_t workspace_bytes = 0;

  // Returns 0, or 1 if memory is not accessible.
  int run(lockstepRunningWork* running) const;
};

}  // namespace lockstep::cufft
