// The set of legal colours, compared with values derived by hand, with a legal chain in float, and
// with chains that are not legal.
#include "reference/ray_tracer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lockstep::reference {
namespace ray_tracer_test {

constexpr Sphere kRed = {1, 0, 0, 10, 0, 0, 0};

std::array<std::uint8_t, 4> rgba(int r, int g, int b, int a = 255) {
  return {static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(g), static_cast<std::uint8_t>(b),
          static_cast<std::uint8_t>(a)};
}

// The declared chain in float.
std::array<std::uint8_t, 4> trace(std::span<const Sphere> spheres, int width, int height, int px,
                                  int py, bool last_wins = false) {
  const float ox = static_cast<float>(px) + 0.5f - static_cast<float>(width) * 0.5f;
  const float oy = static_cast<float>(py) + 0.5f - static_cast<float>(height) * 0.5f;
  float highest = -INFINITY;
  auto pixel = rgba(0, 0, 0);
  for (const Sphere& s : spheres) {
    const float dx = ox - s.x, dy = oy - s.y, d = std::fma(dx, dx, dy * dy),
                q = s.radius * s.radius;
    if (!(s.radius > 0 && d < q)) continue;
    const float dz = std::sqrt(q - d), here = s.z + dz;
    if (!last_wins && !(here > highest)) continue;
    highest = here;
    const auto level = [&](float c) {
      return static_cast<int>(
          std::nearbyint(std::fmin(std::fmax(c * (dz / s.radius) * 255, 0.f), 255.f)));
    };
    pixel = rgba(level(s.r), level(s.g), level(s.b));
  }
  return pixel;
}

std::vector<Sphere> random_field(int count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(0, 1);
  std::vector<Sphere> spheres(count);
  for (Sphere& s : spheres)
    s = {unit(random),           unit(random),           unit(random),     1 + 20 * unit(random),
         60 * unit(random) - 30, 60 * unit(random) - 30, 40 * unit(random)};
  return spheres;
}

TEST(RayTracerReference, IsBlackWithoutASphere) {
  const auto legal = legal_colours({}, 4, 4, 1, 1);
  EXPECT_EQ(distance(rgba(0, 0, 0), legal), 0);
  EXPECT_GT(distance(rgba(2, 0, 0), legal), 1);
  EXPECT_GT(distance(rgba(0, 0, 0, 0), legal), 1);
}

TEST(RayTracerReference, ShadesByDepth) {
  // In the middle of an odd image the ray passes through the centre: full colour.
  EXPECT_EQ(distance(rgba(255, 0, 0), legal_colours(std::span(&kRed, 1), 21, 21, 10, 10)), 0);
  // Six off the centre of a radius of ten: eight tenths.
  EXPECT_EQ(distance(rgba(204, 0, 0), legal_colours(std::span(&kRed, 1), 21, 21, 16, 10)), 0);
  EXPECT_GT(distance(rgba(200, 0, 0), legal_colours(std::span(&kRed, 1), 21, 21, 16, 10)), 1);
}

TEST(RayTracerReference, LeavesTangencyOpen) {
  // Exactly ten off the centre: neither a certain hit nor a certain miss.
  const auto legal = legal_colours(std::span(&kRed, 1), 21, 21, 20, 10);
  EXPECT_EQ(distance(rgba(0, 0, 0), legal), 0);
  EXPECT_GE(legal.size(), 2u);
}

TEST(RayTracerReference, LeavesEqualHeightsOpen) {
  const Sphere both[] = {{1, 0, 0, 10, 0, 0, 0}, {0, 0, 1, 10, 0, 0, 0}};
  const auto legal = legal_colours(both, 21, 21, 10, 10);
  EXPECT_EQ(distance(rgba(255, 0, 0), legal), 0);
  EXPECT_EQ(distance(rgba(0, 0, 255), legal), 0);
  EXPECT_GT(distance(rgba(255, 0, 255), legal), 1);
}

TEST(RayTracerReference, HighestWins) {
  const Sphere both[] = {{0, 1, 0, 10, 0, 0, 5}, {1, 0, 0, 10, 0, 0, 0}};
  const auto legal = legal_colours(both, 21, 21, 10, 10);
  EXPECT_EQ(distance(rgba(0, 255, 0), legal), 0);
  EXPECT_GT(distance(rgba(255, 0, 0), legal), 1);
}

TEST(RayTracerReference, IgnoresARadiusThatIsNotAboveZero) {
  const Sphere none[] = {{1, 1, 1, 0, 0, 0, 0}, {1, 1, 1, -5, 0, 0, 0}};
  EXPECT_EQ(legal_colours(none, 3, 3, 1, 1), std::vector<LegalColour>{LegalColour{}});
}

TEST(RayTracerReference, AcceptsTheChainAndIsNarrowNearlyEverywhere) {
  const auto spheres = random_field(40, 1);
  int wide = 0;
  for (int py = 0; py < 61; ++py) {
    for (int px = 0; px < 67; ++px) {
      const auto legal = legal_colours(spheres, 67, 61, px, py);
      ASSERT_EQ(distance(trace(spheres, 67, 61, px, py), legal), 0) << px << " " << py;
      wide += legal.size() > 1;
    }
  }
  EXPECT_LT(wide, 41);  // one pixel in a hundred
}

TEST(RayTracerReference, TheDeclaredPixelIsLegal) {
  const auto spheres = random_field(40, 3);
  for (int py = 0; py < 23; ++py) {
    for (int px = 0; px < 29; ++px) {
      const auto pixel = declared_pixel(spheres, 29, 23, px, py);
      ASSERT_EQ(pixel, trace(spheres, 29, 23, px, py)) << px << " " << py;
      ASSERT_EQ(distance(pixel, legal_colours(spheres, 29, 23, px, py)), 0) << px << " " << py;
    }
  }
}

TEST(RayTracerReference, TheDeclaredPixelOfSpecialValues) {
  const auto middle = [](std::vector<Sphere> spheres) {
    return declared_pixel(spheres, 21, 21, 10, 10);
  };
  const auto white_at = [](float radius, float x, float z) {
    return Sphere{1, 1, 1, radius, x, 0, z};
  };
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const auto black = rgba(0, 0, 0), white = rgba(255, 255, 255), red = rgba(255, 0, 0);
  EXPECT_EQ(middle({}), black);
  EXPECT_EQ(middle({kRed}), red);
  EXPECT_EQ(declared_pixel(std::span(&kRed, 1), 21, 21, 20, 10), black)
      << "a ray that touches is no hit";
  EXPECT_EQ(middle({white_at(-10, 0, 0)}), black);
  EXPECT_EQ(middle({white_at(kNaN, 0, 0)}), black);
  EXPECT_EQ(middle({white_at(10, kNaN, 0)}), black);
  EXPECT_EQ(middle({white_at(INFINITY, 0, 0)}), black) << "inf / inf";
  EXPECT_EQ(middle({kRed, white_at(INFINITY, 0, 0)}), black) << "and it is above all others";
  EXPECT_EQ(middle({white_at(1e30f, 0, 0)}), white);
  EXPECT_EQ(middle({white_at(1e-30f, 0, 0)}), black) << "its square is 0";
  EXPECT_EQ(middle({kRed, white_at(10, 0, kNaN)}), red);
  EXPECT_EQ(middle({white_at(10, 0, -INFINITY)}), black);
  EXPECT_EQ(middle({white_at(10, 0, -3e38f)}), white) << "far below, but above nothing";
  EXPECT_EQ(middle({kRed, white_at(10, 0, 0)}), red) << "of equal heights the first";
  EXPECT_EQ(middle({{kNaN, -1, 2, 10, 0, 0, 0}}), rgba(0, 0, 255));
}

TEST(RayTracerReference, RejectsTheLastSphereForTheHighest) {
  const auto spheres = random_field(40, 2);
  int wrong = 0;
  for (int py = 0; py < 61; ++py) {
    for (int px = 0; px < 67; ++px)
      wrong += distance(trace(spheres, 67, 61, px, py, true),
                        legal_colours(spheres, 67, 61, px, py)) > 1;
  }
  EXPECT_GT(wrong, 400);
}

}  // namespace ray_tracer_test
}  // namespace lockstep::reference
