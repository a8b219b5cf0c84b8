#include "reference/ray_tracer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "reference/bounded.h"

namespace lockstep::reference {
namespace {

struct Interval {
  double low = 0, high = 0;
};

// Widens [low, high] by `roundings` float roundings; both ends may be negative.
Interval widened(Interval v, int roundings) {
  const double g = gamma<float>(roundings), tiny = underflow_unit<float>() * roundings;
  return {v.low - g * std::abs(v.low) - tiny, v.high + g * std::abs(v.high) + tiny};
}

enum class Hit { kNo, kPerhaps, kCertain };

struct Candidate {
  Hit hit = Hit::kNo;
  Interval depth;   // dz
  Interval height;  // z + dz
};

bool is_finite(const Sphere& s) {
  for (float v : {s.r, s.g, s.b, s.radius, s.x, s.y, s.z}) {
    if (!std::isfinite(v)) return false;
  }
  return true;
}

Candidate shoot(const Sphere& s, double ox, double oy) {
  assert(std::isfinite(s.radius));
  if (!(s.radius > 0)) return {};
  const double dx = ox - s.x, dy = oy - s.y;
  const double distance = dx * dx + dy * dy, square = double{s.radius} * s.radius;
  const double tiny = 4 * underflow_unit<float>();
  const double comparison = gamma<float>(4) * distance + gamma<float>(1) * square + tiny;
  Candidate c;
  if (distance - square > comparison) return c;  // false if a coordinate is not finite
  assert(is_finite(s));
  c.hit = square - distance > comparison ? Hit::kCertain : Hit::kPerhaps;
  const double m = square - distance,
               error = gamma<float>(5) * distance + gamma<float>(2) * square + tiny;
  c.depth = widened({std::sqrt(std::max(m - error, 0.0)), std::sqrt(std::max(m + error, 0.0))}, 1);
  c.depth.low = std::max(c.depth.low, 0.0);
  c.height = widened({c.depth.low + s.z, c.depth.high + s.z}, 1);
  return c;
}

std::uint8_t to_level(double v) {
  return static_cast<std::uint8_t>(std::nearbyint(std::clamp(v, 0.0, 255.0)));
}

LegalColour colour_of(const Sphere& s, int index, const Interval& depth) {
  LegalColour out;
  out.sphere = index;
  const float colours[3] = {s.r, s.g, s.b};
  for (int channel = 0; channel < 3; ++channel) {
    const double scale = double{colours[channel]} / s.radius * 255;
    const double one = scale * depth.low,
                 other = scale * depth.high;  // a negative colour reverses the order
    const Interval level = widened({std::min(one, other), std::max(one, other)}, 3);
    out.low[channel] = to_level(level.low);
    out.high[channel] = to_level(level.high);
  }
  return out;
}

}  // namespace

std::vector<LegalColour> legal_colours(std::span<const Sphere> spheres, int width, int height,
                                       int px, int py) {
  const double ox = px + 0.5 - width * 0.5, oy = py + 0.5 - height * 0.5;
  double certain_floor = -std::numeric_limits<double>::infinity();
  bool any_certain = false;
  std::vector<std::pair<int, Candidate>> hits;
  for (std::size_t i = 0; i < spheres.size(); ++i) {
    const Candidate c = shoot(spheres[i], ox, oy);
    if (c.hit == Hit::kNo) continue;
    hits.emplace_back(static_cast<int>(i), c);
    if (c.hit == Hit::kCertain) {
      any_certain = true;
      certain_floor = std::max(certain_floor, c.height.low);
    }
  }
  std::vector<LegalColour> legal;
  if (!any_certain) legal.push_back({});
  for (const auto& [i, c] : hits) {
    if (c.height.high >= certain_floor) legal.push_back(colour_of(spheres[i], i, c.depth));
  }
  return legal;
}

std::array<std::uint8_t, 4> declared_pixel(std::span<const Sphere> spheres, int width, int height,
                                           int px, int py) {
  const auto ox = static_cast<float>(px + 0.5 - width * 0.5),
             oy = static_cast<float>(py + 0.5 - height * 0.5);
  float highest = -std::numeric_limits<float>::infinity();
  std::array<std::uint8_t, 4> pixel = {0, 0, 0, 255};
  for (const Sphere& s : spheres) {
    const float dx = ox - s.x, dy = oy - s.y, square_of_dy = dy * dy;
    const float distance = std::fma(dx, dx, square_of_dy), square = s.radius * s.radius;
    if (!(s.radius > 0 && distance < square)) continue;
    const float depth = std::sqrt(square - distance), height_here = s.z + depth;
    if (!(height_here > highest)) continue;
    highest = height_here;
    const float shade = depth / s.radius;
    const float colours[3] = {s.r, s.g, s.b};
    for (int channel = 0; channel < 3; ++channel) {
      const float shaded = colours[channel] * shade, level = shaded * 255;
      pixel[channel] =
          static_cast<std::uint8_t>(std::nearbyint(std::fmin(std::fmax(level, 0.0f), 255.0f)));
    }
  }
  return pixel;
}

int distance(std::span<const std::uint8_t, 4> rgba, std::span<const LegalColour> legal) {
  int nearest = 255;
  for (const LegalColour& colour : legal) {
    int worst = 255 - rgba[3];
    for (int channel = 0; channel < 3; ++channel) {
      const int v = rgba[channel];
      worst = std::max({worst, colour.low[channel] - v, v - colour.high[channel]});
    }
    nearest = std::min(nearest, worst);
  }
  return nearest;
}

}  // namespace lockstep::reference
