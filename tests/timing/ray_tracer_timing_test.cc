// Times the ray tracer with spheres in constant memory, a broadcast to each warp, and in global
// memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/ray_tracer.h"
#include "tests/timing/timing.h"

namespace lockstep::timing {
namespace {

using kernels::RayTracerVariant;
using kernels::Sphere;

constexpr int kSide = 1024;  // pixels

std::vector<Sphere> field(int count) {
  const std::vector<float> u = ordinary_floats(7 * count);  // 1 ... 2
  std::vector<Sphere> spheres;
  for (int i = 0; i < count; ++i) {
    const float* v = u.data() + 7 * i;
    spheres.push_back({v[0] - 1, v[1] - 1, v[2] - 1, 40 * (v[3] - 1) + 10, kSide * (v[4] - 1.5f),
                       kSide * (v[5] - 1.5f), kSide * (v[6] - 1.5f)});
  }
  return spheres;
}

class RayTracerTiming : public Timing {};

TEST_F(RayTracerTiming, GlobalAgainstConstantSpheres) {
  for (const int count : {20, 200, kernels::kMaxConstantSpheres}) {
    DeviceMemory spheres(count * sizeof(Sphere)), constant(4 * kSide * kSide),
        global(constant.bytes());
    spheres.write(field(count).data(), spheres.bytes());
    const auto contestant = [&](const std::string& name, RayTracerVariant variant,
                                const DeviceMemory& image) -> Contestant {
      return {name, [=, &spheres, &image](cudaStream_t stream) {
                return text(kernels::ray_trace(variant, spheres.as<const Sphere>(), count,
                                               image.as<std::uint8_t>(), kSide, kSide, 4 * kSide,
                                               stream));
              }};
    };
    compare(fmt::format("ray tracer, {0} x {0} pixels, {1} spheres", kSide, count),
            contestant("constant", RayTracerVariant::kConstant, constant),
            contestant("global", RayTracerVariant::kGlobal, global));
    EXPECT_EQ(constant.read<std::uint32_t>(), global.read<std::uint32_t>());
  }
}

}  // namespace
}  // namespace lockstep::timing
