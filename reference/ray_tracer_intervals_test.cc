// The intervals of legal colours are exactly as wide as the reference's header derives them: each
// error term has as many roundings as the declared chain.
//
// The derivation is repeated here in long double, with the number of roundings of each term as a
// parameter. The reference agrees with it on every drawn scene. With one rounding more or less in
// any term it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "reference/ray_tracer.h"

namespace lockstep::reference {
namespace ray_tracer_intervals_test {

using Wide = long double;
constexpr Wide kUnit = 0x1p-24L, kTiny = 0x1p-150L;
Wide of(Wide d) { return d * kUnit / (1 - d * kUnit); }

// The number of roundings in each term of the header.
struct Roundings {
  Wide s = 4, q = 1;          // of the comparison of s and q
  Wide of_s = 5, of_q = 2;    // of m = q - s
  Wide root = 1, height = 1;  // of dz and z + dz
  Wide level = 3;             // of c * (dz / radius) * 255
  Wide underflow = 4;         // results that may underflow in s and q
};

struct Interval {
  Wide low, high;
};
Interval widened(Interval v, Wide roundings) {
  return {v.low - of(roundings) * std::fabs(v.low) - roundings * kTiny,
          v.high + of(roundings) * std::fabs(v.high) + roundings * kTiny};
}

// The outcomes of the ray at (ox, oy) in the order of legal_colours(): black first if it is legal.
std::vector<LegalColour> derived(const std::vector<Sphere>& spheres, Wide ox, Wide oy,
                                 const Roundings& n) {
  struct Candidate {
    int sphere;
    bool certain;
    Interval depth, height;
  };
  std::vector<Candidate> hits;
  std::optional<Wide> floor;
  for (std::size_t i = 0; i < spheres.size(); ++i) {
    const Sphere& sphere = spheres[i];
    if (!(sphere.radius > 0)) continue;
    const Wide dx = ox - sphere.x, dy = oy - sphere.y, s = dx * dx + dy * dy,
               q = Wide{sphere.radius} * sphere.radius;
    const Wide compared = of(n.s) * s + of(n.q) * q + n.underflow * kTiny;
    if (s - q > compared) continue;
    const Wide e = of(n.of_s) * s + of(n.of_q) * q + n.underflow * kTiny, m = q - s;
    Interval depth =
        widened({std::sqrt(std::max(m - e, Wide{0})), std::sqrt(std::max(m + e, Wide{0}))}, n.root);
    depth.low = std::max(depth.low, Wide{0});
    const Interval height = widened({depth.low + sphere.z, depth.high + sphere.z}, n.height);
    const bool certain = q - s > compared;
    if (certain) floor = std::max(floor.value_or(height.low), height.low);
    hits.push_back({static_cast<int>(i), certain, depth, height});
  }
  std::vector<LegalColour> legal;
  if (!floor) legal.push_back({});
  for (const Candidate& c : hits) {
    if (floor && c.height.high < *floor) continue;
    const Sphere& sphere = spheres[static_cast<std::size_t>(c.sphere)];
    LegalColour colour;
    colour.sphere = c.sphere;
    const float of_sphere[] = {sphere.r, sphere.g, sphere.b};
    for (int channel = 0; channel < 3; ++channel) {
      const Wide scale = Wide{of_sphere[channel]} * 255 / sphere.radius;
      const Interval level = widened({std::min(scale * c.depth.low, scale * c.depth.high),
                                      std::max(scale * c.depth.low, scale * c.depth.high)},
                                     n.level);
      const auto rounded = [](Wide v) {
        return static_cast<std::uint8_t>(std::nearbyint(std::clamp(v, Wide{0}, Wide{255})));
      };
      colour.low[channel] = rounded(level.low), colour.high[channel] = rounded(level.high);
    }
    legal.push_back(colour);
  }
  return legal;
}

// Rays and spheres for which the ends of an interval matter.
class Scenes {
 public:
  explicit Scenes(std::uint32_t seed) : random_(seed) {}

  // The ray of the middle pixel passes through the origin.
  std::vector<Sphere> next() {
    switch (kind_++ % 4) {
      case 0: return {seen_through_its_middle()};
      case 1:
        return {seen_near_its_edge(std::ldexp(1.0, below(12)), std::ldexp(1.0, -below(25) - 1))};
      case 2: return of_nearly_equal_heights();
      default: return {so_small_that_squares_underflow()};
    }
  }

 private:
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  static float moved(double value, int ulps) {
    auto v = static_cast<float>(value);
    for (; ulps > 0; --ulps) v = std::nextafter(v, std::numeric_limits<float>::infinity());
    for (; ulps < 0; ++ulps) v = std::nextafter(v, -std::numeric_limits<float>::infinity());
    return v;
  }
  // A colour whose level, at a depth of `shade` radii, is near the middle between two levels.
  float colour_at_an_edge(double shade) {
    const double colour = (below(255) + 0.5) / 255 / shade;
    return moved(below(2) == 0 ? colour : -colour, below(25) - 12);
  }
  Sphere coloured(float radius, float x, float y, float z, double shade) {
    return {colour_at_an_edge(shade),
            colour_at_an_edge(shade),
            std::fabs(colour_at_an_edge(shade)),
            radius,
            x,
            y,
            z};
  }
  Sphere seen_through_its_middle() {
    return coloured(static_cast<float>(1 + 20 * uniform()), 0, 0, 0, 1);
  }
  // `inside`: how far the ray is within the sphere, as a share of the squared radius; sometimes 0.
  Sphere seen_near_its_edge(double radius, double inside) {
    const double far = radius * std::sqrt(1 - (below(3) == 0 ? 0 : inside * uniform())),
                 angle = 6.28 * uniform();
    const auto x = static_cast<float>(far * std::cos(angle));
    const auto y = moved(far * std::sin(angle), below(9) - 4);
    const double shade =
        std::sqrt(std::max(1 - (double{x} * x + double{y} * y) / radius / radius, 1e-9));
    return coloured(static_cast<float>(radius), x, y, 0, shade);
  }
  std::vector<Sphere> of_nearly_equal_heights() {
    Sphere one = seen_near_its_edge(1 + 20 * uniform(), 0.9), other = one;
    other.radius = static_cast<float>(one.radius * (1 + uniform()));
    const auto depth = [](const Sphere& s) {
      return std::sqrt(
          std::max(double{s.radius} * s.radius - double{s.x} * s.x - double{s.y} * s.y, 0.0));
    };
    one.z = static_cast<float>(100 * uniform() - 50);
    other.z = moved(one.z + depth(one) - depth(other), below(17) - 8);
    return {one, other};
  }
  Sphere so_small_that_squares_underflow() {
    return seen_near_its_edge(std::ldexp(1 + uniform(), -70 - below(6)), 0.9);
  }

  std::mt19937 random_;
  unsigned kind_ = 0;
};

constexpr int kScenes = 40'000, kSide = 21, kMiddle = 10;

// False if double and long double could decide differently: a millionth of a rounding more or less
// changes the outcomes.
bool is_decided(const std::vector<Sphere>& spheres, const std::vector<LegalColour>& outcomes) {
  for (const Wide share : {1 - 1e-6L, 1 + 1e-6L}) {
    const Roundings n = {4 * share, share, 5 * share, 2 * share,
                         share,     share, 3 * share, 4 * share};
    if (derived(spheres, 0, 0, n) != outcomes) return false;
  }
  return true;
}

TEST(RayTracerIntervals, AreAsWideAsTheirDerivation) {
  Scenes scenes(11);
  int decided = 0;
  for (int i = 0; i < kScenes; ++i) {
    const std::vector<Sphere> spheres = scenes.next();
    const std::vector<LegalColour> outcomes = derived(spheres, 0, 0, {});
    if (!is_decided(spheres, outcomes)) continue;
    ++decided;
    ASSERT_EQ(legal_colours(spheres, kSide, kSide, kMiddle, kMiddle), outcomes)
        << "scene " << i << ": sphere 0 at (" << spheres[0].x << ", " << spheres[0].y
        << "), radius " << spheres[0].radius << ", red " << spheres[0].r;
  }
  EXPECT_GT(decided, kScenes * 9 / 10);
}

// Otherwise the test above could not fail.
TEST(RayTracerIntervals, ARoundingMoreOrLessOfAnyTermShows) {
  struct Term {
    const char* name;
    Wide Roundings::*roundings;
  };
  for (const auto& [name, roundings] :
       {Term{"s", &Roundings::s}, Term{"q", &Roundings::q}, Term{"m, of s", &Roundings::of_s},
        Term{"m, of q", &Roundings::of_q}, Term{"root", &Roundings::root},
        Term{"height", &Roundings::height}, Term{"level", &Roundings::level},
        Term{"underflow", &Roundings::underflow}}) {
    for (const int more : {-1, 1}) {
      Roundings other;
      other.*roundings += more;
      Scenes scenes(11);
      int seen = 0;
      for (int i = 0; i < kScenes && seen < 5; ++i) {
        const std::vector<Sphere> spheres = scenes.next();
        const std::vector<LegalColour> outcomes = derived(spheres, 0, 0, {});
        seen += derived(spheres, 0, 0, other) != outcomes && is_decided(spheres, outcomes);
      }
      EXPECT_GE(seen, 5) << name << (more < 0 ? ", one less" : ", one more");
    }
  }
}

// The declared chain stays within its intervals in all of these scenes.
TEST(RayTracerIntervals, TheDeclaredPixelIsWithinThem) {
  Scenes scenes(12);
  for (int i = 0; i < kScenes; ++i) {
    const std::vector<Sphere> spheres = scenes.next();
    const auto pixel = declared_pixel(spheres, kSide, kSide, kMiddle, kMiddle);
    ASSERT_EQ(distance(pixel, legal_colours(spheres, kSide, kSide, kMiddle, kMiddle)), 0)
        << "scene " << i;
  }
}

}  // namespace ray_tracer_intervals_test
}  // namespace lockstep::reference
