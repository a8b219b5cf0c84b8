// 8-bit RGBA images as PNG files, and side by side for display.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::golden {

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // width * height * 4 bytes, row by row from the top
  bool operator==(const Image&) const = default;
};

// Reads a PNG of any colour type as 8-bit RGBA. Throws std::runtime_error with the file and the
// error.
Image read_png(const std::string& path);
// Writes an image of at least one pixel. Throws std::runtime_error with the file and the error.
void write_png(const std::string& path, const Image& image);

// FNV-1a of size and pixels, as 16 hexadecimal digits. Equal images have equal hashes on every
// machine.
std::string hash(const Image& image);

// Expected, actual and their difference (each channel's distance, times 32, clamped), left to right
// with a grey line between. Pixels are enlarged so that small images are visible. Images of
// different sizes are in frames of the larger one.
Image side_by_side(const Image& expected, const Image& actual);

}  // namespace lockstep::golden
