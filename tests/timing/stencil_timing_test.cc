// Times the stencil's coefficients in constant memory, through the read-only path, and in
// global memory, for 16,777,216 floats. Published measurements on a Kepler K40c compare the
// first two.
#include <gtest/gtest.h>

#include "kernels/stencil.h"
#include "tests/timing/timing.h"

namespace lockstep::timing {
namespace {

using kernels::StencilVariant;

constexpr std::int64_t kElements = 16'777'216;
constexpr kernels::StencilCoefficients kCoefficients = {0, 4.0f / 5, -1.0f / 5, 4.0f / 105,
                                                        -1.0f / 280};

class StencilTiming : public Timing {
 protected:
  // y is equal for all variants; each contestant's y is checked.
  Contestant contestant(const std::string& name, StencilVariant variant, const DeviceMemory& x,
                        const DeviceMemory& y) {
    return {name, [variant, &x, &y](cudaStream_t stream) {
              return text(kernels::stencil_1d(variant, x.as<float>(), kElements, y.as<float>(),
                                              kCoefficients, kernels::StencilBoundary::kZero, {},
                                              stream));
            }};
  }

  void against_constant(const std::string& name, StencilVariant variant) {
    DeviceMemory x(kElements * sizeof(float)), y(x.bytes()), z(x.bytes());
    x.write(ordinary_floats(kElements).data(), x.bytes());
    compare("stencil, 16777216 floats", contestant("constant", StencilVariant::kConstant, x, y),
            contestant(name, variant, x, z));
    EXPECT_EQ(y.read<std::uint32_t>(), z.read<std::uint32_t>());
  }
};

TEST_F(StencilTiming, ReadOnlyAgainstConstantCoefficients) {
  against_constant("read-only", StencilVariant::kReadOnly);
}
TEST_F(StencilTiming, GlobalAgainstConstantCoefficients) {
  against_constant("global", StencilVariant::kGlobal);
}

}  // namespace
}  // namespace lockstep::timing
