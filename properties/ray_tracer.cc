#include "properties/ray_tracer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "harness/device/race_search.h"
#include "harness/device/sparse_array.h"
#include "harness/property/rows.h"
#include "properties/contract_laws.h"
#include "properties/ray_tracer_roundings.h"
#include "properties/scenes.h"
#include "properties/special_scenes.h"
#include "properties/tall_grid.h"
#include "reference/ray_tracer.h"

namespace lockstep::properties {
namespace {

using kernels::RayTracerVariant;
using kernels::Sphere;
using Pixels = std::vector<std::uint32_t>;
using Bytes = std::vector<unsigned char>;

constexpr std::int64_t kMaxWork = 150000;  // pixels times spheres
constexpr std::int64_t kBlockSide = 16;

std::array<std::uint8_t, 4> channels(std::uint32_t pixel) {
  return std::bit_cast<std::array<std::uint8_t, 4>>(pixel);
}

std::string text(std::uint32_t pixel) {
  const auto c = channels(pixel);
  return fmt::format("({}, {}, {}, {})", c[0], c[1], c[2], c[3]);
}

// Whether the heights of all spheres hit at a pixel differ, rounded to float.
bool heights_differ(const Spheres& spheres) {
  for (std::size_t i = 0; i < spheres.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Sphere &a = spheres[i], &b = spheres[j];
      if (a.x == b.x && a.y == b.y && a.radius == b.radius && a.z == b.z) return false;
    }
  }
  return true;
}

struct RayTracerCase {
  std::int64_t width = 0, height = 0;
  std::int64_t count = 0;
  RayTracerVariant variant = RayTracerVariant::kConstant;
  int gap = 0;                               // pixels between the end of a row and the next
  int spheres_offset = 0, image_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  std::uint64_t seed = 0;

  static void fields(RayTracerCase& c, FieldVisitor& field) { fields_of(c, field, 150); }
  static void fields_of(RayTracerCase& c, FieldVisitor& field, std::int64_t most) {
    using enum RayTracerVariant;
    field("width", c.width, sizes(0, most));
    field("height", c.height, sizes(0, most));
    field("count", c.count, sizes(0, kernels::kMaxConstantSpheres));
    field("variant", c.variant,
          choice<RayTracerVariant>({{"constant", kConstant}, {"global", kGlobal}}));
    field("gap", c.gap, range(0, 9));
    field("spheres_offset", c.spheres_offset, range(0, 31));
    field("image_offset", c.image_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("seed", c.seed, seeds());
  }
  // Images are large or crowded, but not both.
  void normalise() {
    while (width * height * std::max<std::int64_t>(count, 1) > kMaxWork) {
      if (count > 64)
        count /= 2;
      else if (width > height)
        width /= 2;
      else
        height /= 2;
    }
  }

  std::int64_t work() const {
    constexpr std::int64_t kStepsOfASphere = 8;
    return width * height * count * kStepsOfASphere;
  }

  Spheres spheres() const {
    Spheres spheres = random_spheres(static_cast<int>(count), static_cast<int>(width),
                                     static_cast<int>(height), seed);
    // Every second scene has a point, a sphere of radius 0, above all others and exactly in the
    // middle of a pixel: it must not be hit.
    if (!spheres.empty() && seed % 2 == 0) {
      spheres[0].radius = 0;
      spheres[0].x = static_cast<float>(width % 2) * 0.5f - 0.5f;
      spheres[0].y = static_cast<float>(height % 2) * 0.5f - 0.5f;
      spheres[0].z = 1000;
    }
    return spheres;
  }

  // Launches the implementation on device memory under the case's contract. Returns width * height
  // RGBA pixels, dense.
  Pixels launch(const RayTracer& tracer, const Spheres& spheres) const;
  Pixels launch(const RayTracer& tracer) const { return launch(tracer, spheres()); }
  // The image as it is in memory.
  DeviceArray<std::uint32_t> launch_in_memory(const RayTracer& tracer,
                                              const Spheres& spheres) const;
  WhereIs where() const {
    const std::int64_t across = width == 0 ? 1 : (width - 1) / kBlockSide + 1;
    return [across, width = std::max<std::int64_t>(width, 1)](std::size_t e) {
      const auto x = static_cast<std::int64_t>(e) % width, y = static_cast<std::int64_t>(e) / width;
      return Origin{
          .block = static_cast<std::uint64_t>(y / kBlockSide * across + x / kBlockSide),
          .thread = static_cast<std::uint32_t>(y % kBlockSide * kBlockSide + x % kBlockSide)};
    };
  }
};

// The scene moved by whole pixels.
struct TranslatedSceneCase : RayTracerCase {
  int dx = 0, dy = 0;
  static void fields(TranslatedSceneCase& c, FieldVisitor& field) {
    fields_of(c, field, 60);
    field("dx", c.dx, range(-10, 10));
    field("dy", c.dy, range(-10, 10));
  }
};

// A case of moderate size, because it runs once per schedule.
struct ScheduledSceneCase : RayTracerCase {
  static void fields(ScheduledSceneCase& c, FieldVisitor& field) { fields_of(c, field, 24); }
};

// Touching rays, equal heights, special values.
struct SpecialSceneCase : RayTracerCase {
  SpecialScene scene = SpecialScene::kSpecial;
  static void fields(SpecialSceneCase& c, FieldVisitor& field) {
    using enum SpecialScene;
    field("scene", c.scene,
          choice<SpecialScene>(
              {{"special", kSpecial}, {"rims", kRims}, {"ties", kTies}, {"levels", kLevels}}));
    fields_of(c, field, 20);
  }
  // So few that most are visible.
  void normalise() {
    count = std::min<std::int64_t>(count, 8);
    RayTracerCase::normalise();
  }
  Spheres special() const {
    if (width == 0 || height == 0) return {};
    return special_spheres(scene, static_cast<int>(count), static_cast<int>(width),
                           static_cast<int>(height), seed);
  }
};

// Spheres about the origin, at which one pixel looks, so small that squares of lengths are
// subnormal.
struct TinySceneCase : RayTracerCase {
  static void fields(TinySceneCase& c, FieldVisitor& field) { fields_of(c, field, 1); }
  void normalise() { width = height = 1, count = std::min<std::int64_t>(count, 8); }
  Spheres tiny() const {
    return special_spheres(SpecialScene::kTiny, static_cast<int>(count), 1, 1, seed);
  }
};

// As many spheres as constant memory holds, one fewer, and on the global path one more.
struct FullListCase : ScheduledSceneCase {
  int fewer = 0;
  static void fields(FullListCase& c, FieldVisitor& field) {
    fields_of(c, field, 6);
    field("fewer", c.fewer, range(-1, 1));
  }
  void normalise() {
    if (fewer < 0) variant = RayTracerVariant::kGlobal;
    width = std::max<std::int64_t>(width, 1), height = std::max<std::int64_t>(height, 1), count = 0;
  }
};

// The launcher's call for the case, with its contract; as many spheres as the case has.
template <class Scene>
Call<RayTracer> call_with(const RayTracerCase& c, Scene scene) {
  Call<RayTracer> call("ray_trace");
  if (c.variant == RayTracerVariant::kConstant) call.ordered_by_callers();
  const std::int64_t stride = c.width + c.gap;  // pixels
  auto& [variant, spheres, count, image, width, height, pitch] = call.arguments(
      c.variant, nullptr, c.count, nullptr, c.width, c.height, stride * sizeof(std::uint32_t));
  const bool pixels = c.width > 0 && c.height > 0;
  constexpr std::int64_t kSide = kernels::kMaxImageSide;
  call.choice("variant", RayTracerVariant::kGlobal, variant);
  call.integer("count",
               {0, c.variant == RayTracerVariant::kConstant ? kernels::kMaxConstantSpheres
                                                            : std::numeric_limits<int>::max()},
               count);
  if (c.count <= kernels::kMaxConstantSpheres)
    call.immaterial("variant"), call.own_kernels("variant");
  call.integer("width", {0, c.height > 0 ? std::min(stride, kSide) : kSide}, width);
  call.integer("height", {0, kSide}, height);
  constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
  const std::int64_t most = c.height < 2 ? kMostBytes : (kMostBytes - 4 * c.width) / (c.height - 1);
  if (pixels) call.integer("pitch", {4 * c.width, most / 4 * 4, 4}, pitch);
  if (pixels && c.height < 2) call.immaterial("pitch");
  // As floats, so that they are aligned to a float and not to a sphere.
  call.input("spheres", spheres, {.count = pixels ? 7 * c.count : 0}, {c.spheres_offset, c.poison},
             [scene] {
               const Spheres all = scene();
               const auto* const floats = reinterpret_cast<const float*>(all.data());
               return std::vector<float>(floats, floats + 7 * all.size());
             });
  call.output<std::uint32_t>(
      "image", image,
      {.count = pixels ? (c.height - 1) * stride + c.width : 0, .room = c.height * stride},
      {c.image_offset, c.poison});
  call.apart("image", "spheres");
  if (pixels)
    call.rows("image", c.height, c.width, "pitch", {4 * c.width, most / 4 * 4, 4}, pitch,
              /*unit=*/1);
  // A number of pixels that wraps to 0 in 32 bits.
  if (pixels) {
    call.promise("65536x65536", [&width = width, &height = height, &pitch = pitch] {
      width = height = 1 << 16, pitch = 4 * static_cast<std::size_t>(width);
    });
  }
  return call;
}

Call<RayTracer> call_of(const RayTracerCase& c) {
  return call_with(c, [&c] { return c.spheres(); });
}

Pixels RayTracerCase::launch(const RayTracer& tracer, const Spheres& scene) const {
  return fetch_rows(launch_in_memory(tracer, scene), height, width, width + gap);
}

DeviceArray<std::uint32_t> RayTracerCase::launch_in_memory(const RayTracer& tracer,
                                                           const Spheres& scene) const {
  RayTracerCase c = *this;
  c.count = static_cast<std::int64_t>(scene.size());
  return call_with(c, [&] { return scene; }).run(tracer).take<std::uint32_t>("image");
}

// The spheres in the reference's type.
std::vector<reference::Sphere> for_reference(const Spheres& spheres) {
  std::vector<reference::Sphere> out;
  for (const Sphere& s : spheres) out.push_back({s.r, s.g, s.b, s.radius, s.x, s.y, s.z});
  return out;
}

void gives_every_pixel_a_legal_colour(const RayTracer& tracer, const RayTracerCase& c) {
  const Pixels image = c.launch(tracer);
  const auto spheres = for_reference(c.spheres());
  for (std::size_t e = 0; e < image.size(); ++e) {
    const auto x = static_cast<int>(e % c.width), y = static_cast<int>(e / c.width);
    const auto legal = reference::legal_colours(spheres, static_cast<int>(c.width),
                                                static_cast<int>(c.height), x, y);
    const auto pixel = channels(image[e]);
    const int off = reference::distance(pixel, legal);
    if (off == 0) continue;
    const Origin origin = c.where()(e);
    fail_case({Reason::kMismatch, "",
               fmt::format("pixel ({}, {}) is {}, {} steps from the nearest of {} legal colours; "
                           "block {}, thread {}",
                           x, y, text(image[e]), off, legal.size(), origin.block, origin.thread)});
  }
}

// Every pixel must have the bits of the declared chain; with a grid, those that it does not leave
// out.
void require_declared_pixels(const RayTracerCase& c, const Spheres& scene, const Pixels& image,
                             const TallGrid* grid = nullptr) {
  const auto spheres = for_reference(scene);
  for (std::size_t e = 0; e < image.size(); ++e) {
    const auto x = static_cast<int>(e % c.width), y = static_cast<int>(e / c.width);
    if (grid != nullptr && grid->leaves_out(y, c.height, image[e])) continue;
    const auto wanted = std::bit_cast<std::uint32_t>(reference::declared_pixel(
        spheres, static_cast<int>(c.width), static_cast<int>(c.height), x, y));
    if (image[e] == wanted) continue;
    const Origin origin = c.where()(e);
    fail_case(
        {Reason::kMismatch, "",
         fmt::format("pixel ({}, {}) is {}, but the declared chain gives {}; block {}, thread {}",
                     x, y, text(image[e]), text(wanted), origin.block, origin.thread)});
  }
}

void draws_special_spheres_as_declared(const RayTracer& tracer, const SpecialSceneCase& c) {
  require_declared_pixels(c, c.special(), c.launch(tracer, c.special()));
}

void draws_tiny_spheres_as_declared(const RayTracer& tracer, const TinySceneCase& c) {
  require_declared_pixels(c, c.tiny(), c.launch(tracer, c.tiny()));
}

// Alone, and before and after a sphere that is not hit: compilers process several spheres of a list
// in one iteration of a loop, each with separate code.
void keeps_its_roundings(const RayTracer& tracer, const ScheduledSceneCase& c) {
  Bits bits(mix(c.seed));
  const auto found = ray_tracer_roundings().find(bits, pixel_on_the_edge);
  const Sphere never_hit = {1, 1, 1, 0, 0, 0, 1000};
  for (const auto& [before, behind] : {std::pair(0, 0), {0, 1}, {1, 0}}) {
    Pixels actual;
    for (const auto& f : found) {
      ScheduledSceneCase one = c;
      one.width = f.input.width, one.height = f.input.height;
      Spheres spheres(before, never_hit);
      spheres.insert(spheres.end(), f.input.spheres.begin(), f.input.spheres.end());
      spheres.insert(spheres.end(), behind, never_hit);
      actual.push_back(one.launch(tracer, spheres)[f.input.py * f.input.width + f.input.px]);
    }
    ray_tracer_roundings().require(found, actual, text);
  }
}

// The last sphere is the highest everywhere.
void draws_a_full_list(const RayTracer& tracer, const FullListCase& c) {
  Spheres spheres = random_spheres(kernels::kMaxConstantSpheres - c.fewer,
                                   static_cast<int>(c.width), static_cast<int>(c.height), c.seed);
  spheres.back() = {0.25f, 0.5f, 1, 1000, 0, 0, 1000};
  require_declared_pixels(c, spheres, c.launch(tracer, spheres));
}

// More rows of blocks than a grid has, one column wide: the cheapest image of a million rows.
ScheduledSceneCase beyond_the_grid(const ScheduledSceneCase& c) {
  ScheduledSceneCase tall = c;
  tall.width = 1, tall.height = TallGrid::kRowsOfBlocks * kBlockSide + 21, tall.gap = 0;
  return tall;
}

void draws_rows_beyond_the_grid(const RayTracer& tracer, const ScheduledSceneCase& c) {
  ScheduledSceneCase tall = beyond_the_grid(c);
  tall.variant = RayTracerVariant::kConstant;
  const TallGrid grid(tall.poison);
  require_declared_pixels(tall, {}, tall.launch_in_memory(tracer, {}).fetch(), &grid);
}

// These rows, and more columns than 16 bits count: with a sphere at the end by both variants, and
// without one by the variant that the previous law omits. Races are not checked, because that would
// take a third of the time: the previous law checks the same rows, and both variants share one
// function.
void draws_the_ends_of_large_images(const RayTracer& tracer, const ScheduledSceneCase& c) {
  const WithoutRaceSearch quick;
  const ScheduledSceneCase tall = beyond_the_grid(c);
  ScheduledSceneCase wide = c;
  wide.width = 70001, wide.height = 1, wide.gap = 0;
  const Sphere right = {1, 0.5f, 0, 40, static_cast<float>(wide.width / 2), 0, 0},
               bottom = {1, 0.5f, 0, 40, 0, static_cast<float>(tall.height / 2), 0};
  const auto require_tall = [&](RayTracerVariant variant, const Spheres& scene) {
    const TallGrid grid(tall.poison);
    ScheduledSceneCase image = tall;
    image.variant = variant;
    require_declared_pixels(image, scene, image.launch_in_memory(tracer, scene).fetch(), &grid);
  };
  require_tall(RayTracerVariant::kConstant, {bottom});
  require_tall(RayTracerVariant::kGlobal, {bottom});
  wide.variant = RayTracerVariant::kConstant;
  const Pixels constant = wide.launch(tracer, {right});
  require_declared_pixels(wide, {right}, constant);
  wide.variant = RayTracerVariant::kGlobal;
  REQUIRE_BITWISE_EQUAL(wide.launch(tracer, {right}), constant, wide.where());
  require_tall(RayTracerVariant::kGlobal, {});
}

void variants_agree_bit_for_bit(const RayTracer& tracer, const RayTracerCase& c) {
  RayTracerCase other = c;
  other.variant = RayTracerVariant::kConstant;
  const Pixels constant = other.launch(tracer);
  other.variant = RayTracerVariant::kGlobal;
  REQUIRE_BITWISE_EQUAL(other.launch(tracer), constant, c.where());
}

void does_not_depend_on_order(const RayTracer& tracer, const RayTracerCase& c) {
  RayTracerCase few = c;
  few.count = std::min<std::int64_t>(c.count, 64);
  Spheres spheres = few.spheres();
  if (!heights_differ(spheres)) return;  // of equal spheres the first wins: this law does not apply
  const Pixels forward = few.launch(tracer, spheres);
  std::ranges::reverse(spheres);
  const Pixels backward = few.launch(tracer, spheres);
  const auto scene = for_reference(spheres);
  for (std::size_t e = 0; e < forward.size(); ++e) {
    if (forward[e] == backward[e]) continue;
    // Two different spheres may have equal heights within rounding: then both results are correct.
    const auto x = static_cast<int>(e % few.width), y = static_cast<int>(e / few.width);
    const auto legal = reference::legal_colours(scene, static_cast<int>(few.width),
                                                static_cast<int>(few.height), x, y);
    REQUIRE_LAW(legal.size() > 1,
                "pixel ({}, {}) is {} with the spheres in one order and {} in the other", x, y,
                text(forward[e]), text(backward[e]));
  }
}

void moves_with_its_scene(const RayTracer& tracer, const TranslatedSceneCase& c) {
  Spheres spheres = c.spheres();
  const Pixels before = c.launch(tracer, spheres);
  for (Sphere& s : spheres)
    s.x += static_cast<float>(c.dx), s.y += static_cast<float>(c.dy);  // multiples of 1/64: exact
  const Pixels after = c.launch(tracer, spheres);
  for (std::int64_t y = 0; y < c.height; ++y) {
    for (std::int64_t x = 0; x < c.width; ++x) {
      const std::int64_t from_x = x - c.dx, from_y = y - c.dy;
      if (from_x < 0 || from_x >= c.width || from_y < 0 || from_y >= c.height) continue;
      const std::uint32_t moved = after[y * c.width + x],
                          original = before[from_y * c.width + from_x];
      REQUIRE_LAW(moved == original,
                  "pixel ({}, {}) is {}, but it was {} before the scene moved by ({}, {})", x, y,
                  text(moved), text(original), c.dx, c.dy);
    }
  }
}

// Rows with a pitch that exceeds 32 bits in bytes; bytes beside a row must be unchanged.
void draws_rows_far_apart(const RayTracer& tracer, const ScheduledSceneCase& c) {
  constexpr std::size_t kGuard = 256, kPitch = (std::size_t{1} << 32) + 64;
  require_capability({Capability::kGlobalBytes, kPitch + (std::size_t{1} << 30)});
  ScheduledSceneCase two = c;
  two.width = std::max<std::int64_t>(c.width, 1), two.height = 2;
  const Spheres spheres = random_spheres(5, static_cast<int>(two.width), 2, c.seed);
  const std::size_t row = sizeof(std::uint32_t) * two.width;
  SparseArray image("image", kPitch + row + 2 * kGuard);
  for (const std::size_t at : {std::size_t{0}, kPitch}) image.fill(at, row + 2 * kGuard);
  const auto floats = reinterpret_cast<const float*>(spheres.data());
  const auto list = DeviceArray<float>::input("spheres", std::span(floats, 7 * spheres.size()), {});
  REQUIRE_CUDA(tracer(c.variant, reinterpret_cast<const Sphere*>(list.data()),
                      static_cast<int>(spheres.size()), image.data() + kGuard,
                      static_cast<int>(two.width), 2, kPitch, nullptr));
  Pixels pixels;
  const Bytes untouched(kGuard, SparseArray::kUntouched);
  for (const std::size_t at : {std::size_t{0}, kPitch}) {
    const Pixels drawn = image.read_elements<std::uint32_t>(at + kGuard, two.width);
    pixels.insert(pixels.end(), drawn.begin(), drawn.end());
    REQUIRE_LAW(
        image.read(at, kGuard) == untouched && image.read(at + kGuard + row, kGuard) == untouched,
        "bytes beside row {} were written", at == 0 ? 0 : 1);
  }
  require_declared_pixels(two, spheres, pixels);
}

}  // namespace

Pixels render(const RayTracer& tracer, RayTracerVariant variant, const Spheres& spheres, int width,
              int height) {
  RayTracerCase c;
  c.variant = variant, c.width = width, c.height = height;
  return c.launch(tracer, spheres);
}

Laws<RayTracer> ray_tracer_laws() {
  return with_batteries<call_of, ScheduledSceneCase, Arrays::kStrided, kSaysImmaterial>({
      no_work_law<call_of, RayTracerCase, &RayTracerCase::width, &RayTracerCase::height>(
          "LaunchesNothingForNoWork", {.cases = 50, .cost = 4}),
      refusal_law<call_of, ScheduledSceneCase>("RefusesBadArguments", {.cases = 200, .cost = 4}),
      law("DrawsSpecialSpheresAsDeclared", draws_special_spheres_as_declared, {.cases = 500}),
      law("DrawsTinySpheresAsDeclared", draws_tiny_spheres_as_declared, {.cases = 600}),
      law("GivesEveryPixelALegalColour", gives_every_pixel_a_legal_colour, {.cases = 600}),
      law("KeepsItsRoundings", keeps_its_roundings, {.cases = 20, .cost = 40}),
      law("DrawsAFullList", draws_a_full_list, {.cases = 3, .cost = 100}),
      law("VariantsAgreeBitForBit", variants_agree_bit_for_bit, {.cases = 200}),
      law("DoesNotDependOnOrder", does_not_depend_on_order, {.cases = 200}),
      law("MovesWithItsScene", moves_with_its_scene, {.cases = 150}),
      law("DrawsRowsBeyondTheGrid", draws_rows_beyond_the_grid, {.cases = 1, .cost = 1000}),
      law("IsDeterministic", require_same_bits<ScheduledSceneCase, RayTracer>,
          {.cases = 10, .cost = 50}),
  });
}

Laws<RayTracer> large_ray_tracer_laws() {
  return {law("DrawsTheEndsOfLargeImages", draws_the_ends_of_large_images, {.cases = 1})};
}

Laws<RayTracer> far_ray_tracer_laws() {
  return {law("DrawsRowsFarApart", draws_rows_far_apart, {.cases = 4})};
}

}  // namespace lockstep::properties
