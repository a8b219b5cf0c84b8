// Runs the laws of all families on launchers that make the same mistakes in each family
// (launchers.h).
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
#include "tests/known_bad/launcher_mutants.h"

namespace lockstep::known_bad {
namespace {

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
  // The largest number of rows that is promised for this number of columns.
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
  // The largest number of rows that is promised for this number of columns.
  static constexpr std::int64_t kLastOfFew = std::int64_t{1} << 16;
  static std::int64_t few(const auto& a) { return std::get<2>(a).rows; }
  static constexpr bool kHasStride = true;
  static std::int64_t stride(const auto& a) { return std::get<2>(a).stride * 2; }
};

const bool added = [] {
  add_mutation_tests("stencil_launcher", mutants_of<StencilFamily>(),
                     batteries(properties::stencil_laws()));
  add_mutation_tests("histogram_launcher", mutants_of<HistogramFamily>(),
                     batteries(properties::histogram_laws()));
  add_mutation_tests("ray_tracer_launcher", mutants_of<RayTracerFamily>(),
                     batteries(properties::ray_tracer_laws()));
  add_mutation_tests("matmul_launcher", mutants_of<MatmulFamily>(),
                     batteries(properties::matmul_laws()));
  add_mutation_tests("shuffle_launcher", mutants_of<ShuffleFamily>(),
                     batteries(properties::shuffle_laws()));
  add_mutation_tests("staging_launcher", mutants_of<StagingFamily>(),
                     batteries(properties::staging_laws()));
  add_mutation_tests("memory_spaces_launcher", mutants_of<MemorySpacesFamily>(),
                     batteries(properties::memory_space_laws()));
  add_mutation_tests("memory_access_launcher", mutants_of<MemoryAccessFamily>(),
                     batteries(properties::memory_access_laws()));
  add_mutation_tests("matrix_unit_launcher", mutants_of<MatrixUnitFamily>(),
                     batteries(properties::matrix_unit_launch_laws()));
  add_mutation_tests("tensor_copy_launcher", mutants_of<TensorCopyFamily>(),
                     batteries(properties::tensor_copy_laws()));
  add_mutation_tests("tensor_matmul_launcher", mutants_of<TensorMatmulFamily>(),
                     batteries(properties::tensor_matmul_wmma_laws()));
  return true;
}();

}  // namespace
}  // namespace lockstep::known_bad
