// The ray tracer's cases and laws. A law is a sentence about every case; it takes the implementation that it judges, so
// that a broken or a rewritten kernel can stand in the place of the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/compare.h"
#include "harness/device_array.h"
#include "harness/field.h"
#include "kernels/ray_tracer.h"
#include "properties/law.h"
#include "reference/ray_tracer.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/ray_tracer.h).
using RayTracer =
    std::function<kernels::LaunchStatus(kernels::RayTracerVariant, const kernels::Sphere* spheres, int count,
                                        std::uint8_t* image, int width, int height, std::size_t pitch, cudaStream_t)>;
using Spheres = std::vector<kernels::Sphere>;

struct RayTracerCase {
  std::int64_t width = 0, height = 0;
  std::int64_t count = 0;
  kernels::RayTracerVariant variant = kernels::RayTracerVariant::kConstant;
  int gap = 0;                               // pixels between the end of a row and the next
  int spheres_offset = 0, image_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  std::uint64_t seed = 0;

  static void fields(RayTracerCase& c, FieldVisitor& field);
  // Images are large or crowded, not both.
  void normalise();

  Spheres spheres() const;
  // Launches the implementation on device memory under the case's contract; width * height RGBA pixels out, dense.
  std::vector<std::uint32_t> launch(const RayTracer& tracer, const Spheres& spheres) const;
  std::vector<std::uint32_t> launch(const RayTracer& tracer) const { return launch(tracer, spheres()); }
  WhereIs where() const;

 protected:
  static void fields_of(RayTracerCase& c, FieldVisitor& field, std::int64_t most);
};

// The scene moved by whole pixels.
struct TranslatedSceneCase : RayTracerCase {
  int dx = 0, dy = 0;
  static void fields(TranslatedSceneCase& c, FieldVisitor& field);
};

// A case of moderate size, since it runs once a schedule.
struct ScheduledSceneCase : RayTracerCase {
  static void fields(ScheduledSceneCase& c, FieldVisitor& field);
};

// A legal case with one argument made illegal.
struct RefusedSceneCase : RayTracerCase {
  enum class Mistake {
    kNegativeWidth,
    kNegativeHeight,
    kHugeWidth,
    kNegativeCount,
    kTooManyConstantSpheres,
    kShortPitch,
    kOddPitch,
    kNullImage,
    kNullSpheres,
    kMisalignedImage,
    kMisalignedSpheres,
    kOverlap,
    kUnknownVariant
  };
  Mistake mistake = Mistake::kNegativeWidth;
  static void fields(RefusedSceneCase& c, FieldVisitor& field);
  void normalise();
};

// The same spheres as a reference takes them.
std::vector<reference::Sphere> for_reference(const Spheres& spheres);

void ray_tracer_gives_every_pixel_a_legal_colour(const RayTracer& tracer, const RayTracerCase& c);
void ray_tracer_variants_agree_bit_for_bit(const RayTracer& tracer, const RayTracerCase& c);
void ray_tracer_does_not_depend_on_order(const RayTracer& tracer, const RayTracerCase& c);
void ray_tracer_moves_with_its_scene(const RayTracer& tracer, const TranslatedSceneCase& c);
void ray_tracer_is_deterministic(const RayTracer& tracer, const ScheduledSceneCase& c);
void ray_tracer_refuses_bad_arguments(const RayTracer& tracer, const RefusedSceneCase& c);
void ray_tracer_launches_nothing_for_no_work(const RayTracer& tracer, const RayTracerCase& c);

// All of them, in the order in which a suspect kernel meets them.
const std::vector<Law<RayTracer>>& ray_tracer_laws();

}  // namespace lockstep::properties
