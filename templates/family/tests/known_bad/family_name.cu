// Mutants and negative controls of family_name.
// FILL IN: the mistakes that people make in it, the reason that each must be rejected for, and
// negative controls.
#include "tests/known_bad/family_name.h"

namespace lockstep::known_bad {
namespace {

using kernels::FamilyNameShape;
using kernels::LaunchStatus;
using Index = std::int64_t;

LaunchStatus leaves_out_the_last(const float* x, Index n, float* y, const FamilyNameShape& shape,
                                 cudaStream_t stream) {
  if (LaunchStatus status = kernels::check_family_name(x, n, y, shape); !status.ok()) return status;
  return n < 2 ? LaunchStatus{} : kernels::family_name(x, n - 1, y, shape, stream);
}

// A negative control: what one thread computes after another is what many compute at once.
LaunchStatus one_thread(const float* x, Index n, float* y, const FamilyNameShape& shape,
                        cudaStream_t stream) {
  if (LaunchStatus status = kernels::check_family_name(x, n, y, shape); !status.ok()) return status;
  return kernels::family_name(x, n, y, {.block = 1, .max_blocks = 1}, stream);
}

}  // namespace

Mutants<decltype(kernels::family_name)> family_name_mutants() {
  return {
      {.name = "leaves_out_the_last",
       .change = "one element too few",
       .launch = leaves_out_the_last,
       .rejected_for = {"unwritten"},
       .on_silicon = {"unwritten"}},
      {.name = "one_thread", .change = "one thread does all the work", .launch = one_thread},
  };
}

}  // namespace lockstep::known_bad
