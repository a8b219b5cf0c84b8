// The laws of all families, run on launchers that make the same mistakes in each of them
// (launchers.h).
#include "tests/known_bad/launchers.h"

#include <algorithm>

#include "properties/histogram.h"
#include "properties/matmul.h"
#include "properties/matrix_unit_calls.h"
#include "properties/memory_access.h"
#include "properties/memory_spaces.h"
#include "properties/ray_tracer.h"
#include "properties/shuffle.h"
#include "properties/staging.h"
#include "properties/stencil.h"
#include "properties/tensor_copy.h"
#include "properties/tensor_matmul.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {
namespace {

// A row of the table for a family: a broken launcher, and the labels that its laws reject it for.
template <class Launcher>
void add(Mutants<Launcher>& mutants, std::string name, std::string change, Launcher* launch,
         Labels rejected_for, Labels on_silicon, std::string simulator_only = "") {
  mutants.push_back({std::move(name), std::move(change), launch, std::move(rejected_for),
                     std::move(on_silicon), std::move(simulator_only)});
}

// The mistakes for one launcher. `Family` has the launcher, make<broken>(), an argument and the
// last value that it may have whatever the case; and perhaps another for the refusal of that.
template <class Family>
auto mutants_of() {
  using B = Broken<Family::kLauncher>;
  constexpr auto kEdge = [](const auto& arguments) { return Family::edge(arguments); };
  constexpr auto kLast = Family::kLast;
  constexpr auto kFew = [](const auto& arguments) {
    if constexpr (requires { Family::few(arguments); })
      return Family::few(arguments);
    else
      return Family::edge(arguments);
  };
  constexpr auto kLastOfFew = [] {
    if constexpr (requires { Family::kLastOfFew; })
      return Family::kLastOfFew;
    else
      return Family::kLast;
  }();
  using Judged = std::remove_pointer_t<decltype(Family::template make<Family::kLauncher>())>;
  Mutants<Judged> m;
  const Labels law = {"law"}, order = {"law", "mismatch", "unwritten"};
  // Where the launcher copies too, its kernel may overtake the copy.
  const Labels elsewhere = {"law", "finding:race"};
  // Arrays of one case after another may lie where those before lay.
  // Of another shape, or outside of what there is.
  const Labels kept = {"mismatch",
                       "unwritten",
                       "finding:uninitialised",
                       "finding:out-of-bounds",
                       "law",
                       "cuda-error",
                       "finding:race",
                       "finding:illegal-instruction",
                       "input-changed",
                       "guard",
                       "finding:invalid-instruction"};
  const Labels stale = {"mismatch", "unwritten", "finding:uninitialised", "law"};
  add<Judged>(m, "on_the_default_stream", "ignores the stream that it is given",
              Family::template make<&B::on_the_default_stream>(), elsewhere, order);
  add<Judged>(m, "once_for_the_same_arrays", "does nothing for arrays on which it has just worked",
              Family::template make<&B::once_for_the_same_arrays>(), stale, stale);
  add<Judged>(m, "without_a_look", "does not look whether CUDA takes its launch",
              Family::template make<&B::without_a_look>(), law, law);
  add<Judged>(m, "for_one_device", "what it prepares on one device it takes for prepared on all",
              Family::template make<&B::for_one_device>(), {"cuda-error", "law"}, {},
              "it takes two devices");
  add<Judged>(m, "with_the_first_arguments",
              "keeps what it has made of the arguments for calls on the same arrays",
              Family::template make<&B::with_the_first_arguments>(), kept, kept);
  if constexpr (requires { Family::kHasMaxBlocks; }) {
    constexpr auto kMaxBlocks = [](auto& arguments) -> int& {
      return Family::max_blocks(arguments);
    };
    add<Judged>(m, "as_many_blocks_as_it_likes", "does not look at how large the grid may be",
                Family::template make<&B::template as_many_blocks_as_it_likes<kMaxBlocks>>(), law,
                law);
  }
  if constexpr (requires { Family::kHasStride; }) {
    constexpr auto kStride = [](const auto& arguments) { return Family::stride(arguments); };
    add<Judged>(
        m, "by_a_map_whatever_the_stride", "makes a map of a tensor whose stride no map holds",
        Family::template make<&B::template by_a_map_whatever_the_stride<kStride>>(), law, law);
  }
  if constexpr (requires { Family::kMostProduct; }) {
    constexpr auto kProduct = [](const auto& arguments) { return Family::product(arguments); };
    constexpr auto kMostProduct = Family::kMostProduct;
    add<Judged>(m, "product_in_32_bits", "takes arguments whose product 32 bits do not hold",
                Family::template make<&B::template product_in_32_bits<kProduct, kMostProduct>>(),
                law, law);
  }
  add<Judged>(m, "one_too_many", "takes one value more than the header promises",
              Family::template make<&B::template one_too_many<kEdge, kLast>>(), law, law);
  add<Judged>(m, "one_too_few", "refuses the last value that the header promises",
              Family::template make<&B::template one_too_few<kFew, kLastOfFew>>(), law, law);
  return m;
}

// Families of one launcher, and of several.
template <auto* kFunction>
struct One {
  static constexpr auto* kLauncher = kFunction;
  template <auto* kBroken>
  static auto* make() {
    return kBroken;
  }
};
template <class Family, auto kMember, auto* kFunction>
struct Member {
  static constexpr auto* kLauncher = kFunction;
  template <auto* kBroken>
  static const Family* make() {
    static const Family family = [] {
      Family f;
      f.*kMember = kBroken;
      return f;
    }();
    return &family;
  }
};

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct StencilFamily : One<&kernels::stencil_1d> {
  static constexpr bool kHasMaxBlocks = true;
  static int& max_blocks(auto& a) { return std::get<6>(a).max_blocks; }
  static constexpr std::int64_t kLast = kMost / 4 - 8;
  static std::int64_t edge(const auto& a) { return std::get<2>(a); }  // n
};
struct HistogramFamily : One<&kernels::histogram> {
  static constexpr bool kHasMaxBlocks = true;
  static int& max_blocks(auto& a) { return std::get<5>(a).max_blocks; }
  static constexpr std::int64_t kLast = kMost / 8;
  static std::int64_t edge(const auto& a) { return std::get<2>(a); }  // n
};
struct RayTracerFamily : One<&kernels::ray_trace> {
  static constexpr int kLast = kernels::kMaxImageSide;
  static int edge(const auto& a) { return std::get<5>(a); }  // height
  static constexpr bool kHasStride = true;
  static std::size_t stride(const auto& a) { return std::get<6>(a); }
};
struct MatmulFamily : One<&kernels::matmul> {
  static constexpr std::uint8_t kLast = 3;  // the last variant
  static std::uint8_t edge(const auto& a) { return static_cast<std::uint8_t>(std::get<0>(a)); }
  // As many rows as are promised with as many columns.
  static constexpr std::int64_t kLastOfFew = std::int64_t{1} << 16;
  static std::int64_t few(const auto& a) { return std::get<1>(a).rows; }
  static constexpr bool kHasStride = true;
  static std::int64_t stride(const auto& a) { return std::get<1>(a).stride * 4; }
};
struct ShuffleFamily
    : Member<kernels::ShuffleLaunchers, &kernels::ShuffleLaunchersOf<float>::warp_collective,
             &kernels::warp_collective<float>> {
  static constexpr unsigned kLast = std::numeric_limits<int>::max();
  static unsigned edge(const auto& a) { return std::get<5>(a).blocks; }
  static constexpr std::uint64_t kMostProduct = 1024;  // threads
  static unsigned __int128 product(const auto& a) {
    const dim3& block = std::get<5>(a).block;
    return static_cast<unsigned __int128>(block.x) * block.y * block.z;
  }
};
struct StagingFamily
    : Member<kernels::StagingLaunchers, &kernels::StagingLaunchers::tile_map, &kernels::tile_map> {
  static constexpr std::int64_t kLast = kMost / 4;
  static std::int64_t edge(const auto& a) { return std::get<2>(a); }  // n
  static constexpr bool kHasMaxBlocks = true;
  static int& max_blocks(auto& a) { return std::get<4>(a).max_blocks; }
};
struct MemorySpacesFamily
    : Member<kernels::MemorySpaceLaunchers, &kernels::MemorySpaceLaunchers::shared_sum,
             &kernels::shared_sum> {
  static constexpr unsigned kLast = std::numeric_limits<int>::max();
  static unsigned edge(const auto& a) { return std::get<3>(a).blocks; }
};
struct MemoryAccessFamily : Member<kernels::MemoryAccessLaunchers,
                                   &kernels::MemoryAccessLaunchers::gather, &kernels::gather> {
  static constexpr std::int64_t kLast = kMost / 16;
  static std::int64_t edge(const auto& a) { return std::get<4>(a); }  // x_count
};
struct MatrixUnitFamily
    : Member<properties::MatrixUnitLaunchers, &properties::MatrixUnitLaunchers::multiply,
             &kernels::multiply_tiles> {
  static constexpr int kLast = 1 << 20;
  static int edge(const auto& a) { return std::get<5>(a); }  // tiles
};
struct TensorCopyFamily : Member<kernels::TensorCopyLaunchers, &kernels::TensorCopyLaunchers::load,
                                 &kernels::tensor_load> {
  static constexpr int kLast = 1024;
  static int edge(const auto& a) { return std::get<0>(a).block; }
  static constexpr bool kHasMaxBlocks = true;
  static int& max_blocks(auto& a) { return std::get<0>(a).max_blocks; }
};
struct TensorMatmulFamily : One<&kernels::tensor_matmul> {
  static constexpr std::uint8_t kLast = 7;  // the last path
  static std::uint8_t edge(const auto& a) { return static_cast<std::uint8_t>(std::get<0>(a)); }
  // As many rows as are promised with as many columns.
  static constexpr std::int64_t kLastOfFew = std::int64_t{1} << 16;
  static std::int64_t few(const auto& a) { return std::get<2>(a).rows; }
  static constexpr bool kHasStride = true;
  static std::int64_t stride(const auto& a) { return std::get<2>(a).stride * 2; }
};

// What every launcher owes is judged before, and by more cases than, what the family alone
// promises: it is what these mistakes break.
template <class Implementation>
properties::Laws<Implementation> batteries_first(properties::Laws<Implementation> laws) {
  const auto first =
      std::ranges::find(laws, "WorksOnItsStream", &properties::Law<Implementation>::name);
  std::for_each(first, laws.end(),
                [](auto& law) { law.options.cost = std::max(law.options.cost / 5, 1); });
  std::rotate(laws.begin(), first, laws.end());
  return laws;
}

const bool added = [] {
  add_mutation_tests("stencil_launcher", mutants_of<StencilFamily>(),
                     batteries_first(properties::stencil_laws()));
  add_mutation_tests("histogram_launcher", mutants_of<HistogramFamily>(),
                     batteries_first(properties::histogram_laws()));
  add_mutation_tests("ray_tracer_launcher", mutants_of<RayTracerFamily>(),
                     batteries_first(properties::ray_tracer_laws()));
  add_mutation_tests("matmul_launcher", mutants_of<MatmulFamily>(),
                     batteries_first(properties::matmul_laws()));
  add_mutation_tests("shuffle_launcher", mutants_of<ShuffleFamily>(),
                     batteries_first(properties::shuffle_laws()));
  add_mutation_tests("staging_launcher", mutants_of<StagingFamily>(),
                     batteries_first(properties::staging_laws()));
  add_mutation_tests("memory_spaces_launcher", mutants_of<MemorySpacesFamily>(),
                     batteries_first(properties::memory_space_laws()));
  add_mutation_tests("memory_access_launcher", mutants_of<MemoryAccessFamily>(),
                     batteries_first(properties::memory_access_laws()));
  add_mutation_tests("matrix_unit_launcher", mutants_of<MatrixUnitFamily>(),
                     batteries_first(properties::matrix_unit_launch_laws()));
  add_mutation_tests("tensor_copy_launcher", mutants_of<TensorCopyFamily>(),
                     batteries_first(properties::tensor_copy_laws()));
  add_mutation_tests("tensor_matmul_launcher", mutants_of<TensorMatmulFamily>(),
                     batteries_first(properties::tensor_matmul_wmma_laws()));
  return true;
}();

}  // namespace
}  // namespace lockstep::known_bad
