// Runs the laws of the matrix units on matrix units with one mistake each, and on a correct one
// that is launched in another way.
#include "properties/matrix_unit.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

using kernels::LaunchStatus;
using kernels::MatrixForm;
using properties::MatrixForms;

// The correct launcher, which a mutant changes.
MatrixForm::Launch honest(const MatrixForm& form) {
  const auto& all = kernels::mma_forms();
  return std::find_if(all.begin(), all.end(),
                      [&](const MatrixForm& f) { return std::string_view(f.name) == form.name; })
      ->launch;
}

LaunchStatus copied(cudaError_t error) {
  return kernels::status_of(error, "known-bad matrix unit", "copying an element");
}

// Replaces word `at` of every tile of D by C's word.
LaunchStatus replace_word(const MatrixForm& form, const void* c, void* d, int tiles, int at,
                          cudaStream_t stream) {
  const auto pitch = static_cast<std::size_t>(form.d_bytes()),
             offset = static_cast<std::size_t>(4 * at);
  return copied(cudaMemcpy2DAsync(
      static_cast<char*>(d) + offset, pitch, static_cast<const char*>(c) + offset, pitch, 4,
      static_cast<std::size_t>(tiles), cudaMemcpyDeviceToDevice, stream));
}

LaunchStatus one_lane_leaves_c(const MatrixForm& form, const void* a, const void* b, const void* c,
                               void* d, int tiles, cudaStream_t stream) {
  const LaunchStatus status = honest(form)(form, a, b, c, d, tiles, stream);
  return status.ok() ? replace_word(form, c, d, tiles, 5, stream) : status;
}

LaunchStatus every_third_time_otherwise(const MatrixForm& form, const void* a, const void* b,
                                        const void* c, void* d, int tiles, cudaStream_t stream) {
  static int calls = 0;
  return ++calls % 3 == 0 ? one_lane_leaves_c(form, a, b, c, d, tiles, stream)
                          : honest(form)(form, a, b, c, d, tiles, stream);
}

LaunchStatus without_c(const MatrixForm& form, const void* a, const void* b, const void*, void* d,
                       int tiles, cudaStream_t stream) {
  const LaunchStatus status = copied(cudaMemsetAsync(
      d, 0, static_cast<std::size_t>(form.d_bytes()) * static_cast<std::size_t>(tiles), stream));
  return status.ok() ? honest(form)(form, a, b, d, d, tiles, stream) : status;
}

// The first column of B is the tile's second.
LaunchStatus a_column_shifted(const MatrixForm& form, const void* a, const void* b, const void* c,
                              void* d, int tiles, cudaStream_t stream) {
  const int column = form.b_bytes() / form.n;
  const auto* shifted = static_cast<const char*>(b) + column;
  for (int t = 0; t < tiles; ++t) {
    const bool last = t + 1 == tiles;  // nothing behind the last matrices may be read
    const auto at = static_cast<std::size_t>(t);
    const LaunchStatus status = honest(form)(
        form, static_cast<const char*>(a) + at * static_cast<std::size_t>(form.a_bytes()),
        (last ? static_cast<const char*>(b) : shifted) +
            at * static_cast<std::size_t>(form.b_bytes()),
        static_cast<const char*>(c) + at * static_cast<std::size_t>(form.d_bytes()),
        static_cast<char*>(d) + at * static_cast<std::size_t>(form.d_bytes()), 1, stream);
    if (!status.ok()) return status;
  }
  return {};
}

LaunchStatus tile_by_tile(const MatrixForm& form, const void* a, const void* b, const void* c,
                          void* d, int tiles, cudaStream_t stream) {
  for (int t = 0; t < tiles; ++t) {
    const auto at = static_cast<std::size_t>(t);
    const LaunchStatus status = honest(form)(
        form, static_cast<const char*>(a) + at * static_cast<std::size_t>(form.a_bytes()),
        static_cast<const char*>(b) + at * static_cast<std::size_t>(form.b_bytes()),
        static_cast<const char*>(c) + at * static_cast<std::size_t>(form.d_bytes()),
        static_cast<char*>(d) + at * static_cast<std::size_t>(form.d_bytes()), 1, stream);
    if (!status.ok()) return status;
  }
  return {};
}

// Executes the wrapping instruction for a form that saturates.
LaunchStatus wraps_for_all_its_name(const MatrixForm& form, const void* a, const void* b,
                                    const void* c, void* d, int tiles, cudaStream_t stream) {
  constexpr std::string_view kSaturating = " saturating";
  const std::string_view name = form.name;
  if (!name.ends_with(kSaturating)) return honest(form)(form, a, b, c, d, tiles, stream);
  const std::string wrapping(name.substr(0, name.size() - kSaturating.size()));
  MatrixForm other = form;
  other.name = wrapping.c_str();
  return honest(other)(form, a, b, c, d, tiles, stream);
}

template <MatrixForm::Launch kLaunch>
MatrixForms* changed() {
  static MatrixForms unit = [] {
    std::vector<MatrixForm> forms = properties::forms_since(75, kernels::mma_forms());
    for (MatrixForm& f : forms) f.launch = kLaunch;
    return properties::matrix_forms({Capability::kComputeCapability, 75}, forms);
  }();
  return &unit;
}

Mutant<MatrixForms> mutant(const char* name, const char* change, MatrixForms* unit,
                           Labels rejected_for) {
  Mutant<MatrixForms> m;
  m.name = name;
  m.change = change;
  m.launch = unit;
  m.rejected_for = rejected_for;
  m.on_silicon = std::move(rejected_for);
  return m;
}

const Mutants<MatrixForms> kUnits = {
    mutant("one_lane_leaves_c", "one word of D is C's", changed<one_lane_leaves_c>(), {"law"}),
    mutant("every_third_time_otherwise", "so it is, every third time",
           changed<every_third_time_otherwise>(), {"law", "nondeterminism"}),
    mutant("without_c", "D = A B", changed<without_c>(), {"law"}),
    mutant("a_column_shifted", "B begins a column later, but in the last tile",
           changed<a_column_shifted>(), {"law"}),
    mutant("wraps_for_all_its_name", "a saturating form by the instruction that wraps",
           changed<wraps_for_all_its_name>(), {"law"}),
    mutant("tile_by_tile", "a launch for each tile", changed<tile_by_tile>(), {}),
};

const bool added = add_mutation_tests("matrix_unit", kUnits, properties::matrix_unit_laws());

}  // namespace
}  // namespace lockstep::known_bad
