// The manifest of the golden images: what each shows, how it was made and why it was last changed.
//
// manifest.json: {"version": 1, "goldens": [{"scene", "file", "width", "height", "seed",
// "reference", "hash", "reason"}]}. `reference` counts the versions of the ray tracer's contract;
// `hash` is that of the pixels (image.h), the same on every device class since every operation of
// the kernel is correctly rounded.
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

// Throws std::runtime_error with the file and what is wrong or missing in it; two entries for a
// scene are an error too.
std::vector<Golden> read_manifest(const std::string& path);
void write_manifest(const std::string& path, const std::vector<Golden>& goldens);

}  // namespace lockstep::golden
