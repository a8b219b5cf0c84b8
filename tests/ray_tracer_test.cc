// Runs every law of properties/ray_tracer.h on the ray tracer's kernels, and compares their
// pictures with the golden images.
#include "kernels/ray_tracer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>

#include "golden/image.h"
#include "golden/manifest.h"
#include "harness/ledger/runfiles.h"
#include "harness/ledger/session.h"
#include "harness/property/case.h"
#include "harness/property/property.h"
#include "properties/ray_tracer.h"
#include "properties/scenes.h"
#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("RayTracer", ray_tracer_laws(), RayTracer(kernels::ray_trace));
const bool large =
    register_laws("RayTracer", large_ray_tracer_laws(), RayTracer(kernels::ray_trace));

constexpr const char* kFolder = "golden/ray_tracer/";

// The scene's picture, rendered by the kernel under test with the harness's guarded memory.
golden::Image render(const Scene& scene, kernels::RayTracerVariant variant) {
  std::vector<std::uint32_t> pixels;
  const CaseOutcome outcome = run_case([&] {
    pixels =
        properties::render(kernels::ray_trace, variant, scene.spheres, scene.width, scene.height);
  });
  EXPECT_TRUE(outcome.held()) << scene.name << ": " << outcome.failure.message;
  golden::Image image{scene.width, scene.height, std::vector<std::uint8_t>(4 * pixels.size())};
  std::memcpy(image.rgba.data(), pixels.data(), image.rgba.size());
  return image;
}

// Saves the expected and actual picture and their difference among the test's outputs. Returns a
// sentence with their location.
std::string save_pictures(const std::string& scene, const golden::Image& expected,
                          const golden::Image& actual) {
  const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder == nullptr || actual.rgba.empty()) return "";
  const std::string file = "golden." + scene + ".png";
  golden::write_png(std::string(folder) + "/" + file, golden::side_by_side(expected, actual));
  return "\n  expected, actual and difference (times 32) side by side: " + file +
         " among the test's outputs";
}

// Describes what is wrong with the golden's file; sets `image` to its picture.
std::string file_problem(const golden::Golden& g, golden::Image& image) {
  const std::string path = runfile(kFolder + g.file);
  if (path.empty())
    return fmt::format("{}{} is missing; make it by: bazel run //golden:update -- --reason=...",
                       kFolder, g.file);
  try {
    image = golden::read_png(path);
  } catch (const std::exception& error) {
    return fmt::format("{}{} is no picture: {}", kFolder, g.file, error.what());
  }
  if (image.width != g.width || image.height != g.height) {
    return fmt::format("{}{} is {} x {}, but the manifest says {} x {}", kFolder, g.file,
                       image.width, image.height, g.width, g.height);
  }
  if (golden::hash(image) != g.hash)
    return fmt::format("{}{} is not the image of the manifest: hash {}, not {}", kFolder, g.file,
                       golden::hash(image), g.hash);
  return "";
}

TEST(RayTracer, DrawsTheGoldens) {
  std::map<std::string, golden::Golden> manifest;
  for (const golden::Golden& g : golden::read_manifest(runfile("golden/ray_tracer/manifest.json")))
    manifest[g.scene] = g;
  for (const Scene& scene : scenes()) {
    const auto entry = manifest.find(scene.name);
    if (entry == manifest.end()) {
      ADD_FAILURE() << "scene '" << scene.name
                    << "' has no golden; make it by: bazel run //golden:update -- --reason=...";
      continue;
    }
    EXPECT_EQ(entry->second.reference, kRayTracerReference)
        << scene.name << ": the golden shows another version of the contract";
    golden::Image expected;
    const std::string problem = file_problem(entry->second, expected);
    for (const auto variant :
         {kernels::RayTracerVariant::kConstant, kernels::RayTracerVariant::kGlobal}) {
      const golden::Image actual = render(scene, variant);
      const bool same = problem.empty() && actual == expected;
      // Keeps the first wrong picture.
      std::string& note = current_record().notes["golden." + std::string(scene.name)];
      const std::string where =
          note.empty() || note == "same" ? save_pictures(scene.name, expected, actual) : "";
      if (note.empty() || note == "same")
        note = same ? "same" : problem.empty() ? "another picture" : problem;
      EXPECT_TRUE(same) << scene.name << ": "
                        << (problem.empty() ? "the picture is not the golden" : problem) << where;
    }
    manifest.erase(entry);
  }
  for (const auto& [name, golden] : manifest)
    ADD_FAILURE() << "the manifest has a golden for '" << name << "', which is no scene";
}

}  // namespace
}  // namespace lockstep::properties
