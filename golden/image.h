// 8-bit RGBA images, as PNG files and side by side for people.
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

// Reads a PNG of any colour type as 8-bit RGBA. Throws std::runtime_error with the file and what is
// wrong.
Image read_png(const std::string& path);
// Writes an image of at least one pixel. Throws likewise.
void write_png(const std::string& path, const Image& image);

// FNV-1a of size and pixels, as 16 hexadecimal digits: equal for equal images on every machine.
std::string hash(const Image& image);

// Expected, actual and their difference (each channel's distance, times 32, clamped), left to right
// with a grey line between; every pixel enlarged so that small images can be seen. Images of
// different sizes stand in frames of the larger one.
Image side_by_side(const Image& expected, const Image& actual);

}  // namespace lockstep::golden
