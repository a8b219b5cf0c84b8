// Images and their manifest can be written and read back; damaged files are refused with a
// sentence.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "golden/image.h"
#include "golden/manifest.h"

namespace lockstep::golden {
namespace {

std::string scratch(const std::string& name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/" + name;
}

Image gradient(int width, int height) {
  Image image{width, height, {}};
  for (int i = 0; i < width * height; ++i) {
    for (const int v : {i, 2 * i, 255 - i, 255}) image.rgba.push_back(static_cast<std::uint8_t>(v));
  }
  return image;
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(Image, ComesBackFromAFile) {
  const Image image = gradient(7, 3);
  write_png(scratch("gradient.png"), image);
  EXPECT_EQ(read_png(scratch("gradient.png")), image);
}

TEST(Image, IsRefusedWithItsName) {
  EXPECT_NE(message_of([] { read_png(scratch("missing.png")); }).find("missing.png"),
            std::string::npos);
  std::ofstream(scratch("broken.png")) << "no picture";
  EXPECT_NE(message_of([] { read_png(scratch("broken.png")); }).find("broken.png"),
            std::string::npos);
}

TEST(Image, HashSeesOneStepOfOneChannelAndTheShape) {
  const Image image = gradient(6, 4);
  Image other = image;
  EXPECT_EQ(hash(other), hash(image));
  other.rgba[37] ^= 1;
  EXPECT_NE(hash(other), hash(image));
  EXPECT_NE(hash(Image{4, 6, image.rgba}), hash(image));
}

TEST(Image, SideBySideShowsADifferenceOfOneStep) {
  const Image expected = gradient(4, 4);
  Image actual = expected;
  actual.rgba[0] += 1;
  const Image same = side_by_side(expected, expected), differs = side_by_side(expected, actual);
  ASSERT_EQ(same.width, differs.width);
  const int third =
      differs.width - differs.height + 1;  // inside the first pixel of the third picture, a square
  EXPECT_EQ(same.rgba[4 * third], 0);
  EXPECT_EQ(differs.rgba[4 * third], 32);
}

TEST(Image, SideBySideTakesDifferentSizes) {
  EXPECT_GT(side_by_side(gradient(3, 5), gradient(6, 2)).width, 18);
}

TEST(Manifest, ComesBackFromAFile) {
  const Golden g = {"scene", "scene.png", 3, 4, 5, 1, "00ff", "because"};
  write_manifest(scratch("manifest.json"), {g});
  const auto back = read_manifest(scratch("manifest.json"));
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].scene, g.scene);
  EXPECT_EQ(back[0].height, 4);
  EXPECT_EQ(back[0].reason, g.reason);
}

TEST(Manifest, IsRefusedWithItsNameAndTheReason) {
  const auto refused = [](const std::string& text) {
    std::ofstream(scratch("bad.json")) << text;
    return message_of([] { read_manifest(scratch("bad.json")); });
  };
  EXPECT_NE(message_of([] { read_manifest(scratch("none.json")); }).find("none.json"),
            std::string::npos);
  EXPECT_NE(refused("{").find("bad.json"), std::string::npos);
  EXPECT_NE(refused(R"({"version": 2, "goldens": []})").find("version 2"), std::string::npos);
  EXPECT_NE(refused(R"({"version": 1, "goldens": [{"scene": "a"}]})").find("file"),
            std::string::npos);
  const std::string row =
      R"({"scene": "a", "file": "a.png", "width": 1, "height": 1, "seed": 0, "reference": 1, )"
      R"("hash": "", "reason": ""})";
  EXPECT_NE(refused(R"({"version": 1, "goldens": [)" + row + "," + row + "]}").find("twice"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep::golden
