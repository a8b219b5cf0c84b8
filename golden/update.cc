// Regenerates the golden images of the ray tracer: `bazel run //golden:update -- --reason="why"`.
//
// Runs the kernel on the simulated GPU, checks every pixel with the reference, and only then writes
// images and manifest to the source tree. A reason is required; the manifest stores it for every
// image that changes.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "command/options.h"
#include "golden/image.h"
#include "golden/manifest.h"
#include "kernels/ray_tracer.h"
#include "properties/scenes.h"
#include "reference/ray_tracer.h"

namespace lockstep {
namespace {

void require(cudaError_t e, const std::string& what) {
  if (e != cudaSuccess)
    throw std::runtime_error(fmt::format("{}: {}", what, cudaGetErrorString(e)));
}

golden::Image render(const properties::Scene& scene) {
  golden::Image image{
      scene.width, scene.height,
      std::vector<std::uint8_t>(4 * static_cast<std::size_t>(scene.width) * scene.height)};
  kernels::Sphere* spheres = nullptr;
  std::uint8_t* pixels = nullptr;
  const std::size_t bytes = scene.spheres.size() * sizeof(kernels::Sphere);
  require(cudaMalloc(&pixels, image.rgba.size()), "allocating the image");
  require(cudaMalloc(&spheres, std::max(bytes, sizeof(kernels::Sphere))), "allocating the spheres");
  if (bytes > 0)
    require(cudaMemcpy(spheres, scene.spheres.data(), bytes, cudaMemcpyHostToDevice),
            "copying the spheres");
  const auto status = kernels::ray_trace(
      kernels::RayTracerVariant::kConstant, spheres, static_cast<int>(scene.spheres.size()), pixels,
      scene.width, scene.height, 4 * static_cast<std::size_t>(scene.width));
  require(status.error, status.message);
  require(cudaMemcpy(image.rgba.data(), pixels, image.rgba.size(), cudaMemcpyDeviceToHost),
          "copying the image");
  require(cudaFree(spheres), "freeing the spheres");
  require(cudaFree(pixels), "freeing the image");
  return image;
}

// Throws if a pixel has none of its legal colours.
void hold_against_reference(const properties::Scene& scene, const golden::Image& image) {
  std::vector<reference::Sphere> spheres;
  for (const kernels::Sphere& s : scene.spheres)
    spheres.push_back({s.r, s.g, s.b, s.radius, s.x, s.y, s.z});
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const std::span<const std::uint8_t, 4> pixel(&image.rgba[4 * (y * image.width + x)], 4);
      if (reference::distance(
              pixel, reference::legal_colours(spheres, image.width, image.height, x, y)) > 0) {
        throw std::runtime_error(fmt::format(
            "scene '{}': pixel ({}, {}) is none of its legal colours; nothing was written",
            scene.name, x, y));
      }
    }
  }
}

int update(const std::string& folder, const std::string& reason) {
  const std::string manifest = folder + "/manifest.json";
  std::map<std::string, golden::Golden> before;
  if (std::filesystem::exists(manifest)) {
    for (const golden::Golden& g : golden::read_manifest(manifest)) before[g.scene] = g;
  }
  std::vector<golden::Golden> after;
  std::vector<golden::Image> images;
  for (const properties::Scene& scene : properties::scenes()) {
    images.push_back(render(scene));
    hold_against_reference(scene, images.back());
    golden::Golden g = {scene.name,
                        scene.name + ".png",
                        scene.width,
                        scene.height,
                        scene.seed,
                        properties::kRayTracerReference,
                        golden::hash(images.back()),
                        reason};
    const auto known = before.find(scene.name);
    const bool changed = known == before.end() || known->second.hash != g.hash ||
                         known->second.reference != g.reference;
    if (!changed) g.reason = known->second.reason;
    fmt::print("{:<24}{:>5} x {:<5}{}  {}\n", g.scene, g.width, g.height, g.hash,
               changed ? "changed" : "same");
    after.push_back(g);
  }
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < after.size(); ++i)
    golden::write_png(folder + "/" + after[i].file, images[i]);
  golden::write_manifest(manifest, after);
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  lockstep::command::Options options("Makes the golden images of the ray tracer anew.");
  std::string reason, folder;
  if (const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY"))
    folder = std::string(workspace) + "/golden/ray_tracer";
  options.value("--reason", reason, "why they change; kept in the manifest");
  options.require("--reason");
  options.value("--folder", folder,
                "where to write (default: golden/ray_tracer of the workspace that bazel runs in)");
  if (const auto status = options.parse(argc, argv)) return *status;
  try {
    if (reason.find_first_not_of(" \t") == std::string::npos)
      throw std::runtime_error("--reason is empty: say why the goldens change");
    if (folder.empty())
      throw std::runtime_error("say --folder, or run it by bazel run //golden:update");
    return lockstep::update(folder, reason);
  } catch (const std::exception& e) {
    fmt::print(stderr, "golden update: {}\n", e.what());
    return 1;
  }
}
