// The manifest of the golden images: the scene of each, how it was made, and why it was last
// changed.
//
// manifest.json: {"version": 1, "goldens": [{"scene", "file", "width", "height", "seed",
// "reference", "hash", "reason"}]}. `reference` is the version of the ray tracer's contract. `hash`
// is the hash of the pixels (image.h). It is the same on every device class, because every
// operation of the kernel is correctly rounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::golden {

struct Golden {
  std::string scene;
  std::string file;  // beside the manifest
  int width = 0, height = 0;
  std::uint64_t seed = 0;
  int reference = 0;
  std::string hash;
  std::string reason;  // why it was made or last changed
};

// Throws std::runtime_error with the file and the error: invalid or missing data, or two entries
// for one scene.
std::vector<Golden> read_manifest(const std::string& path);
void write_manifest(const std::string& path, const std::vector<Golden>& goldens);

}  // namespace lockstep::golden
