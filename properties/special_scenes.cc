#include "properties/special_scenes.h"

#include <cmath>
#include <limits>
#include <span>

#include "harness/property/values.h"
#include "properties/scenes.h"

namespace lockstep::properties {
namespace {

using kernels::Sphere;

constexpr float kInf = std::numeric_limits<float>::infinity(),
                kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max(),
                kTiny = std::numeric_limits<float>::denorm_min();

float one_of(std::span<const float> list, Bits& bits) { return list[bits.below(list.size())]; }

// Constants of the chain: 0 and 255 limit the levels, 0.5 / 255 is the begin of the first level, 1
// is the full colour.
float special_colour(Bits& bits) {
  static constexpr float kNear[] = {
      0,    -0.0f, 1,    -1,    0.5f / 255, 254.5f / 255, 255,  256, 1e38f, -1e38f,
      kInf, -kInf, kNaN, kTiny, -kTiny,     0x1p-126f,    0.5f, 2,   kMax,  -kMax};
  return nudged(one_of(kNear, bits), bits);
}

// The square is subnormal below 2^-63, 0 below 2^-75, and infinite from 2^64 on.
float special_radius(float radius, Bits& bits) {
  static constexpr float kNear[] = {0,      -0.0f, 0x1p-63f, 0x1p-70f, 0x1p-75f, 0x1p-74f,
                                    1e-20f, kTiny, 0x1p63f,  0x1p64f,  1e30f,    kMax,
                                    kInf,   -kInf, kNaN,     0.5f};
  return bits.chance(40) ? -radius : nudged(one_of(kNear, bits), bits);
}

float special_place(Bits& bits) {
  static constexpr float kNear[] = {0,     -0.0f,  0.5f, -0.5f, kTiny, -kTiny, 0x1p23f,
                                    1e19f, -1e30f, kMax, kInf,  -kInf, kNaN};
  return nudged(one_of(kNear, bits), bits);
}

float special_height(Bits& bits) {
  static constexpr float kNear[] = {-kInf,  kInf,   kNaN,  -kMax,    kMax,    -1e30f,
                                    -1e31f, 1e30f,  -1000, -0.0f,    0x1p24f, -0x1p24f,
                                    kTiny,  -kTiny, -20,   -0x1p120f};
  return nudged(one_of(kNear, bits), bits);
}

void make_special(Sphere& s, Bits& bits) {
  const std::span<const float> any = special_values<float>();
  switch (bits.below(8)) {
    case 0: return void((bits.chance(50) ? s.r : s.g) = special_colour(bits));
    case 1: return void(s.b = special_colour(bits));
    case 2:
    case 3: return void(s.radius = special_radius(s.radius, bits));
    case 4: return void((bits.chance(50) ? s.x : s.y) = special_place(bits));
    case 5:
    case 6: return void(s.z = special_height(bits));
    default:
      float* const fields[] = {&s.r, &s.g, &s.b, &s.radius, &s.x, &s.y, &s.z};
      *fields[bits.below(7)] = one_of(any, bits);
  }
}

// The middle of a pixel.
struct Middle {
  float x, y;
  Middle(int width, int height, Bits& bits)
      : x(static_cast<float>(bits.below(width)) + 0.5f - static_cast<float>(width) * 0.5f),
        y(static_cast<float>(bits.below(height)) + 0.5f - static_cast<float>(height) * 0.5f) {}
};

// The ray of a pixel touches the sphere: 3, 4 and 5 units off, or the whole radius along one axis.
void touch(Sphere& s, const Middle& at, Bits& bits) {
  const float unit = std::ldexp(1.0f, static_cast<int>(bits.below(4)) - 2);
  const bool straight = bits.chance(30), swapped = bits.chance(50);
  const float one = straight ? 0 : 3 * unit, other = straight ? 5 * unit : 4 * unit;
  s.x = at.x - (swapped ? one : other) * (bits.chance(50) ? 1 : -1);
  s.y = at.y - (swapped ? other : one) * (bits.chance(50) ? 1 : -1);
  s.radius = 5 * unit;
  if (bits.chance(50)) s.radius = nudged(s.radius, bits);
}

// A sphere about the origin, so small that squares of lengths are subnormal, or almost.
void shrink(Sphere& s, Bits& bits) {
  const float scale = std::ldexp(1.0f, -60 - static_cast<int>(bits.below(14)));
  const auto eighths = [&](int from) {
    return static_cast<float>(from + static_cast<int>(bits.below(9 - from))) / 8;
  };
  s.x = scale * eighths(-8), s.y = scale * eighths(-8), s.radius = scale * eighths(1);
  s.z = bits.chance(50) ? 0 : scale * eighths(-8);
}

// A height equal to that of `other` wherever both are hit, or within an ulp.
void tie(Sphere& s, const Sphere& other, Bits& bits) {
  s.x = other.x, s.y = other.y, s.z = other.z, s.radius = other.radius;
  switch (bits.below(4)) {
    case 0:
      s.x += 1;  // equal heights along the line between the two
      break;
    case 1: s.z = nudged(s.z, bits); break;
    case 2: s.radius = nudged(s.radius, bits); break;
    default: break;
  }
}

// A level of k + 1/2 at a pixel that the sphere covers, or an ulp off.
void halve(Sphere& s, const Middle& at, Bits& bits) {
  const float dx = at.x - s.x, dy = at.y - s.y,
              square = s.radius * s.radius - std::fma(dx, dx, dy * dy);
  if (!(square > 0)) return;
  const float shade = std::sqrt(square) / s.radius;
  for (float* const colour : {&s.r, &s.g, &s.b})
    *colour = nudged((static_cast<float>(bits.below(256)) + 0.5f) / 255 / shade, bits);
}

}  // namespace

float nudged(float value, Bits& bits) {
  const int ulps = static_cast<int>(bits.below(7)) - 3;  // three in seven stay within one
  for (int i = 0; i < std::abs(ulps) - 1; ++i)
    value = std::nextafter(value, ulps < 0 ? -kInf : kInf);
  return value;
}

std::vector<Sphere> special_spheres(SpecialScene scene, int count, int width, int height,
                                    std::uint64_t seed) {
  std::vector<Sphere> spheres = random_spheres(count, width, height, seed);
  Bits bits(mix(seed + 1));
  for (std::size_t i = 0; i < spheres.size(); ++i) {
    Sphere& s = spheres[i];
    const Middle at(width, height, bits);
    if (bits.chance(60)) s.x = at.x, s.y = at.y;  // certainly in the image, however small that is
    switch (scene) {
      case SpecialScene::kSpecial:
        make_special(s, bits);
        if (bits.chance(30)) make_special(s, bits);
        break;
      case SpecialScene::kRims:
        touch(s, at, bits);
        if (i == 0)
          s = {0, 1, 1,     1000,
               0, 0, -10000};  // visible if a rim is no hit; at a depth of 0 a hit is black
        break;
      case SpecialScene::kTies:
        s.z = std::ldexp(
            s.z, static_cast<int>(bits.below(12)));  // coarse enough for sums with equal roundings
        if (i > 0) tie(s, spheres[bits.below(i)], bits);
        break;
      case SpecialScene::kLevels:
        s.x += static_cast<float>(bits.below(64)) / 64,
            s.y += static_cast<float>(bits.below(64)) / 64;
        halve(s, at, bits);
        break;
      case SpecialScene::kTiny: shrink(s, bits); break;
    }
  }
  return spheres;
}

}  // namespace lockstep::properties
