// Times matrix products with operands from global memory and through tiles in shared memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/matmul.h"
#include "tests/timing/timing.h"

namespace lockstep::timing {
namespace {

using kernels::MatmulVariant;

class MatmulTiming : public Timing {
 protected:
  void tiled_against_global(const std::string& name, MatmulVariant variant, std::int64_t side) {
    const std::size_t bytes = side * side * sizeof(float);
    DeviceMemory a(bytes), b(bytes), global(bytes), tiled(bytes);
    a.write(ordinary_floats(side * side).data(), bytes);
    b.write(ordinary_floats(side * side).data(), bytes);
    const auto contestant = [&](const std::string& who, MatmulVariant which,
                                const DeviceMemory& c) -> Contestant {
      return {who, [=, &a, &b, &c](cudaStream_t stream) {
                return text(kernels::matmul(which, {a.as<const float>(), side, side, side},
                                            {b.as<const float>(), side, side, side},
                                            {c.as<float>(), side, side, side}, stream));
              }};
    };
    compare(fmt::format("matmul, {0} x {0} x {0}", side),
            contestant("global", MatmulVariant::kGlobal, global), contestant(name, variant, tiled));
    EXPECT_EQ(global.read<std::uint32_t>(), tiled.read<std::uint32_t>());
  }
};

TEST_F(MatmulTiming, Tiles16AgainstGlobal) {
  for (const std::int64_t side : {512, 1024, 2048})
    tiled_against_global("tiles of 16", MatmulVariant::kTiled16, side);
}

TEST_F(MatmulTiming, Tiles32AgainstGlobal) {
  for (const std::int64_t side : {512, 1024, 2048})
    tiled_against_global("tiles of 32", MatmulVariant::kTiled32, side);
}

}  // namespace
}  // namespace lockstep::timing
