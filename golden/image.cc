#include "golden/image.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace lockstep::golden {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw std::runtime_error(fmt::format("{}: {}", path, what));
}

constexpr int kGap = 2;       // pixels between two pictures, before enlarging
constexpr int kMagnify = 32;  // for differences: a step that becomes 255 is visible
constexpr int kSmallestSide = 192;

void paint(Image& canvas, const Image& picture, int left, int scale) {
  for (int y = 0; y < picture.height * scale; ++y) {
    for (int x = 0; x < picture.width * scale; ++x) {
      std::copy_n(&picture.rgba[4 * (y / scale * picture.width + x / scale)], 4,
                  &canvas.rgba[4 * (y * canvas.width + left + x)]);
    }
  }
}

}  // namespace

Image read_png(const std::string& path) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&png, path.c_str())) fail(path, png.message);
  png.format = PNG_FORMAT_RGBA;
  Image image{static_cast<int>(png.width), static_cast<int>(png.height),
              std::vector<std::uint8_t>(PNG_IMAGE_SIZE(png))};
  if (!png_image_finish_read(&png, nullptr, image.rgba.data(), 0, nullptr)) fail(path, png.message);
  return image;
}

void write_png(const std::string& path, const Image& image) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  // A run writes a picture for each golden. The smallest file would take five times as long as the
  // drawing.
  png.flags = PNG_IMAGE_FLAG_FAST;
  png.format = PNG_FORMAT_RGBA;
  if (!png_image_write_to_file(&png, path.c_str(), 0, image.rgba.data(), 0, nullptr))
    fail(path, png.message);
}

std::string hash(const Image& image) {
  std::uint64_t h = 0xcbf29ce484222325u;
  const auto eat = [&](std::uint8_t byte) { h = (h ^ byte) * 0x100000001b3u; };
  for (const int side : {image.width, image.height}) {
    for (int shift = 0; shift < 32; shift += 8) eat(static_cast<std::uint8_t>(side >> shift));
  }
  for (const std::uint8_t byte : image.rgba) eat(byte);
  return fmt::format("{:016x}", h);
}

Image side_by_side(const Image& expected, const Image& actual) {
  const int width = std::max(expected.width, actual.width),
            height = std::max(expected.height, actual.height);
  Image difference{width, height,
                   std::vector<std::uint8_t>(4 * static_cast<std::size_t>(width) * height, 255)};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool in_both = x < std::min(expected.width, actual.width) &&
                           y < std::min(expected.height, actual.height);
      for (int channel = 0; channel < 3; ++channel) {
        const int distance = in_both
                                 ? std::abs(expected.rgba[4 * (y * expected.width + x) + channel] -
                                            actual.rgba[4 * (y * actual.width + x) + channel])
                                 : 255;
        difference.rgba[4 * (y * width + x) + channel] =
            static_cast<std::uint8_t>(std::min(kMagnify * distance, 255));
      }
    }
  }
  const int scale = std::max(1, (kSmallestSide - 1) / std::max(std::min(width, height), 1) + 1);
  const int step = (width + kGap) * scale;
  Image canvas{3 * step - kGap * scale, height * scale, {}};
  canvas.rgba.assign(4 * static_cast<std::size_t>(canvas.width) * canvas.height, 128);
  paint(canvas, expected, 0, scale);
  paint(canvas, actual, step, scale);
  paint(canvas, difference, 2 * step, scale);
  return canvas;
}

}  // namespace lockstep::golden
