#include "properties/ray_tracer.h"

#include <algorithm>
#include <array>
#include <bit>

#include "harness/property.h"
#include "harness/refusal.h"
#include "harness/rows.h"
#include "properties/no_launch.h"
#include "properties/scenes.h"

namespace lockstep::properties {
namespace {

using kernels::RayTracerVariant;
using kernels::Sphere;
using Pixels = std::vector<std::uint32_t>;

constexpr std::int64_t kMostWork = 150000;  // pixels times spheres
constexpr std::int64_t kBlockSide = 16;

std::array<std::uint8_t, 4> channels(std::uint32_t pixel) { return std::bit_cast<std::array<std::uint8_t, 4>>(pixel); }

std::string text(std::uint32_t pixel) {
  const auto c = channels(pixel);
  return fmt::format("({}, {}, {}, {})", c[0], c[1], c[2], c[3]);
}

// Heights of all spheres hit at a pixel, in float's own rounding, to tell where two are equal.
bool heights_differ(const Spheres& spheres) {
  for (std::size_t i = 0; i < spheres.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Sphere &a = spheres[i], &b = spheres[j];
      if (a.x == b.x && a.y == b.y && a.radius == b.radius && a.z == b.z) return false;
    }
  }
  return true;
}

}  // namespace

void RayTracerCase::fields(RayTracerCase& c, FieldVisitor& field) { fields_of(c, field, 150); }

void RayTracerCase::fields_of(RayTracerCase& c, FieldVisitor& field, std::int64_t most) {
  using enum kernels::RayTracerVariant;
  field("width", c.width, sizes(0, most));
  field("height", c.height, sizes(0, most));
  field("count", c.count, sizes(0, kernels::kMaxConstantSpheres));
  field("variant", c.variant, choice<kernels::RayTracerVariant>({{"constant", kConstant}, {"global", kGlobal}}));
  field("gap", c.gap, range(0, 9));
  field("spheres_offset", c.spheres_offset, range(0, 31));
  field("image_offset", c.image_offset, range(0, 31));
  field("poison", c.poison, poisons());
  field("seed", c.seed, seeds());
}

void TranslatedSceneCase::fields(TranslatedSceneCase& c, FieldVisitor& field) {
  fields_of(c, field, 60);
  field("dx", c.dx, range(-10, 10));
  field("dy", c.dy, range(-10, 10));
}

void ScheduledSceneCase::fields(ScheduledSceneCase& c, FieldVisitor& field) { fields_of(c, field, 24); }

void RefusedSceneCase::fields(RefusedSceneCase& c, FieldVisitor& field) {
  using enum Mistake;
  fields_of(c, field, 24);
  field("mistake", c.mistake,
        choice<Mistake>({{"negative_width", kNegativeWidth},
                         {"negative_height", kNegativeHeight},
                         {"huge_width", kHugeWidth},
                         {"negative_count", kNegativeCount},
                         {"too_many_constant_spheres", kTooManyConstantSpheres},
                         {"short_pitch", kShortPitch},
                         {"odd_pitch", kOddPitch},
                         {"null_image", kNullImage},
                         {"null_spheres", kNullSpheres},
                         {"misaligned_image", kMisalignedImage},
                         {"misaligned_spheres", kMisalignedSpheres},
                         {"overlap", kOverlap},
                         {"unknown_variant", kUnknownVariant}}));
}

std::vector<reference::Sphere> for_reference(const Spheres& spheres) {
  std::vector<reference::Sphere> out;
  for (const Sphere& s : spheres) out.push_back({s.r, s.g, s.b, s.radius, s.x, s.y, s.z});
  return out;
}

void RayTracerCase::normalise() {
  while (width * height * std::max<std::int64_t>(count, 1) > kMostWork) {
    if (count > 64)
      count /= 2;
    else if (width > height)
      width /= 2;
    else
      height /= 2;
  }
}

void RefusedSceneCase::normalise() {
  width = std::max<std::int64_t>(width, 1);
  height = std::max<std::int64_t>(height, 1);
  count = std::max<std::int64_t>(count, 1);
  RayTracerCase::normalise();
  if (mistake == Mistake::kTooManyConstantSpheres) variant = RayTracerVariant::kConstant;
}

Spheres RayTracerCase::spheres() const {
  Spheres spheres = random_spheres(static_cast<int>(count), static_cast<int>(width), static_cast<int>(height), seed);
  // Every other scene has a point, a sphere of radius 0, above all others and in the very middle of a pixel: it is
  // never hit.
  if (!spheres.empty() && seed % 2 == 0) {
    spheres[0].radius = 0;
    spheres[0].x = static_cast<float>(width % 2) * 0.5f - 0.5f;
    spheres[0].y = static_cast<float>(height % 2) * 0.5f - 0.5f;
    spheres[0].z = 1000;
  }
  return spheres;
}

Pixels RayTracerCase::launch(const RayTracer& tracer, const Spheres& scene) const {
  // As floats, so that their misalignment is that of a float and not that of a sphere.
  const auto* floats = reinterpret_cast<const float*>(scene.data());
  const auto in = DeviceArray<float>::input("spheres", {floats, 7 * scene.size()},
                                            {.misalignment = spheres_offset, .poison = poison});
  const std::int64_t stride = width + gap;
  const auto image =
      DeviceArray<std::uint32_t>::output("image", height * stride, {.misalignment = image_offset, .poison = poison});
  REQUIRE_CUDA(tracer(variant, reinterpret_cast<const Sphere*>(in.data()), static_cast<int>(scene.size()),
                      reinterpret_cast<std::uint8_t*>(image.data()), static_cast<int>(width), static_cast<int>(height),
                      stride * sizeof(std::uint32_t), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return fetch_rows(image, height, width, stride);
}

WhereIs RayTracerCase::where() const {
  const std::int64_t across = width == 0 ? 1 : (width - 1) / kBlockSide + 1;
  return [across, width = std::max<std::int64_t>(width, 1)](std::size_t e) {
    const auto x = static_cast<std::int64_t>(e) % width, y = static_cast<std::int64_t>(e) / width;
    return Origin{.block = static_cast<std::uint64_t>(y / kBlockSide * across + x / kBlockSide),
                  .thread = static_cast<std::uint32_t>(y % kBlockSide * kBlockSide + x % kBlockSide)};
  };
}

void ray_tracer_gives_every_pixel_a_legal_colour(const RayTracer& tracer, const RayTracerCase& c) {
  const Pixels image = c.launch(tracer);
  const auto spheres = for_reference(c.spheres());
  for (std::size_t e = 0; e < image.size(); ++e) {
    const auto x = static_cast<int>(e % c.width), y = static_cast<int>(e / c.width);
    const auto legal = reference::legal_colours(spheres, static_cast<int>(c.width), static_cast<int>(c.height), x, y);
    const auto pixel = channels(image[e]);
    const int off = reference::distance(pixel, legal);
    if (off == 0) continue;
    const Origin origin = c.where()(e);
    fail_case({Reason::kMismatch, "",
               fmt::format("pixel ({}, {}) is {}, {} steps from the nearest of {} legal colours; block {}, thread {}",
                           x, y, text(image[e]), off, legal.size(), origin.block, origin.thread)});
  }
}

void ray_tracer_variants_agree_bit_for_bit(const RayTracer& tracer, const RayTracerCase& c) {
  RayTracerCase other = c;
  other.variant = RayTracerVariant::kConstant;
  const Pixels constant = other.launch(tracer);
  other.variant = RayTracerVariant::kGlobal;
  REQUIRE_BITWISE_EQUAL(other.launch(tracer), constant, c.where());
}

void ray_tracer_does_not_depend_on_order(const RayTracer& tracer, const RayTracerCase& c) {
  RayTracerCase few = c;
  few.count = std::min<std::int64_t>(c.count, 64);
  Spheres spheres = few.spheres();
  if (!heights_differ(spheres)) return;  // of equal spheres the first wins: the law says nothing
  const Pixels forward = few.launch(tracer, spheres);
  std::ranges::reverse(spheres);
  const Pixels backward = few.launch(tracer, spheres);
  const auto scene = for_reference(spheres);
  for (std::size_t e = 0; e < forward.size(); ++e) {
    if (forward[e] == backward[e]) continue;
    // Two different spheres may meet at one height within rounding: then either is right.
    const auto x = static_cast<int>(e % few.width), y = static_cast<int>(e / few.width);
    const auto legal = reference::legal_colours(scene, static_cast<int>(few.width), static_cast<int>(few.height), x, y);
    REQUIRE_LAW(legal.size() > 1, "pixel ({}, {}) is {} with the spheres in one order and {} in the other", x, y,
                text(forward[e]), text(backward[e]));
  }
}

void ray_tracer_moves_with_its_scene(const RayTracer& tracer, const TranslatedSceneCase& c) {
  Spheres spheres = c.spheres();
  const Pixels before = c.launch(tracer, spheres);
  for (Sphere& s : spheres)
    s.x += static_cast<float>(c.dx), s.y += static_cast<float>(c.dy);  // multiples of 1/64: exact
  const Pixels after = c.launch(tracer, spheres);
  for (std::int64_t y = 0; y < c.height; ++y) {
    for (std::int64_t x = 0; x < c.width; ++x) {
      const std::int64_t from_x = x - c.dx, from_y = y - c.dy;
      if (from_x < 0 || from_x >= c.width || from_y < 0 || from_y >= c.height) continue;
      const std::uint32_t moved = after[y * c.width + x], original = before[from_y * c.width + from_x];
      REQUIRE_LAW(moved == original, "pixel ({}, {}) is {}, but it was {} before the scene moved by ({}, {})", x, y,
                  text(moved), text(original), c.dx, c.dy);
    }
  }
}

void ray_tracer_is_deterministic(const RayTracer& tracer, const ScheduledSceneCase& c) {
  constexpr int kSchedules = 50;
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return c.launch(tracer); });
}

void ray_tracer_refuses_bad_arguments(const RayTracer& tracer, const RefusedSceneCase& c) {
  using enum RefusedSceneCase::Mistake;
  const Spheres scene = c.spheres();
  const auto* floats = reinterpret_cast<const float*>(scene.data());
  const auto in = DeviceArray<float>::input("spheres", {floats, 7 * scene.size()},
                                            {.misalignment = c.spheres_offset, .poison = c.poison});
  const auto out = DeviceArray<std::uint32_t>::output("image", c.width * c.height,
                                                      {.misalignment = c.image_offset, .poison = c.poison});
  struct {
    RayTracerVariant variant;
    const Sphere* spheres;
    int count;
    std::uint8_t* image;
    int width, height;
    std::size_t pitch;
  } with = {c.variant,
            reinterpret_cast<const Sphere*>(in.data()),
            static_cast<int>(c.count),
            reinterpret_cast<std::uint8_t*>(out.data()),
            static_cast<int>(c.width),
            static_cast<int>(c.height),
            4 * static_cast<std::size_t>(c.width)};
  switch (c.mistake) {
    case kNegativeWidth:
      with.width = -with.width;
      break;
    case kNegativeHeight:
      with.height = -with.height;
      break;
    case kHugeWidth:
      with.width = kernels::kMaxImageSide + 1;
      break;
    case kNegativeCount:
      with.count = -1;
      break;
    case kTooManyConstantSpheres:
      with.count = kernels::kMaxConstantSpheres + 1;
      break;
    case kShortPitch:
      with.pitch -= 4;
      break;
    case kOddPitch:
      with.pitch += 2;
      break;
    case kNullImage:
      with.image = nullptr;
      break;
    case kNullSpheres:
      with.spheres = nullptr;
      break;
    case kMisalignedImage:
      with.image += 1;
      break;
    case kMisalignedSpheres:
      with.spheres = shifted_by_bytes(with.spheres, 2);
      break;
    case kOverlap:
      with.spheres = reinterpret_cast<const Sphere*>(with.image);
      break;
    case kUnknownVariant:
      with.variant = static_cast<RayTracerVariant>(2);
      break;
  }
  REQUIRE_REFUSED(
      tracer(with.variant, with.spheres, with.count, with.image, with.width, with.height, with.pitch, nullptr));
  REQUIRE_UNTOUCHED(out);
}

void ray_tracer_launches_nothing_for_no_work(const RayTracer& tracer, const RayTracerCase& c) {
  require_no_launch([&](cudaStream_t stream) {
    for (const auto& [width, height] : {std::pair<std::int64_t, std::int64_t>{0, c.height}, {c.width, 0}}) {
      const auto status =
          tracer(c.variant, nullptr, 0, nullptr, static_cast<int>(width), static_cast<int>(height), 0, stream);
      REQUIRE_LAW(status.ok(), "{} x {} is legal, but the launcher answers: {}", width, height, status.message);
    }
  });
}

const std::vector<Law<RayTracer>>& ray_tracer_laws() {
  static const std::vector<Law<RayTracer>> laws = {
      law("LaunchesNothingForNoWork", ray_tracer_launches_nothing_for_no_work, 4),
      law("RefusesBadArguments", ray_tracer_refuses_bad_arguments, 4),
      law("GivesEveryPixelALegalColour", ray_tracer_gives_every_pixel_a_legal_colour),
      law("VariantsAgreeBitForBit", ray_tracer_variants_agree_bit_for_bit),
      law("DoesNotDependOnOrder", ray_tracer_does_not_depend_on_order),
      law("MovesWithItsScene", ray_tracer_moves_with_its_scene),
      law("IsDeterministic", ray_tracer_is_deterministic, 50),
  };
  return laws;
}

}  // namespace lockstep::properties
