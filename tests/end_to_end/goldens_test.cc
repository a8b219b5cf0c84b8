// The ray tracer's suite on a copy of the goldens with one mistake: each must turn it red, and leave pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "golden/image.h"
#include "golden/manifest.h"
#include "harness/runfiles.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Contains;

constexpr const char* kScene = "random_field_odd";

struct Suite {
  Ended ended;
  std::vector<std::string> pictures;  // among its outputs, with their sizes in pixels
};

// Runs the suite's test of the goldens on a tree of its own, after `tamper` had its folder of goldens.
Suite draw_after(const std::function<void(const fs::path& goldens)>& tamper) {
  // The program looks for its files beside itself first, so that it must be a copy as well.
  const fs::path root = fresh_file("runfiles"), tree = root / "lockstep";
  const fs::path original = fs::path(runfile("tests/ray_tracer_test")).parent_path().parent_path();
  fs::create_directories(tree / "tests");
  fs::copy_file(original / "tests/ray_tracer_test", tree / "tests/ray_tracer_test");
  fs::create_directories(tree / "golden/ray_tracer");
  for (const auto& file : fs::directory_iterator(original / "golden/ray_tracer")) {
    fs::copy_file(file.path(), tree / "golden/ray_tracer" / file.path().filename());
    fs::permissions(tree / "golden/ray_tracer" / file.path().filename(), fs::perms::owner_write, fs::perm_options::add);
  }
  for (const auto& entry : fs::directory_iterator(original)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("_solib")) fs::create_directory_symlink(fs::canonical(entry.path()), tree / name);
    if (name == "harness") fs::create_directory_symlink(fs::canonical(entry.path()), tree / name);  // its waivers
  }
  tamper(tree / "golden/ray_tracer");
  const std::string outputs = fresh_file("pictures");
  fs::create_directories(outputs);
  Suite suite;
  suite.ended = run((tree / "tests/ray_tracer_test").string(), {"--gtest_filter=RayTracer.DrawsTheGoldens"},
                    {{"RUNFILES_DIR", root.string()}, {"TEST_UNDECLARED_OUTPUTS_DIR", outputs}});
  for (const auto& file : fs::directory_iterator(outputs)) {
    if (file.path().extension() != ".png") continue;
    EXPECT_GT(golden::read_png(file.path()).rgba.size(), 0u) << file.path();
    suite.pictures.push_back(file.path().filename());
  }
  fs::remove_all(root);
  return suite;
}

golden::Image picture(const fs::path& goldens) { return golden::read_png(goldens / (std::string(kScene) + ".png")); }

void expect_red_with_a_picture(const Suite& suite, const std::string& why) {
  EXPECT_EQ(suite.ended.status, 1) << suite.ended.output;
  EXPECT_THAT(suite.ended.output, HasSubstr(why));
  EXPECT_THAT(suite.pictures, Contains("golden." + std::string(kScene) + ".png")) << suite.ended.output;
}

TEST(Goldens, AsTheyAreTheSuiteIsGreen) {
  const Suite suite = draw_after([](const fs::path&) {});
  EXPECT_EQ(suite.ended.status, 0) << suite.ended.output;
  EXPECT_THAT(suite.pictures, Contains("golden." + std::string(kScene) + ".png")) << "the report shows them all";
}

TEST(Goldens, AMissingOneIsRed) {
  const Suite suite = draw_after([](const fs::path& goldens) { fs::remove(goldens / (std::string(kScene) + ".png")); });
  expect_red_with_a_picture(suite, "golden/ray_tracer/random_field_odd.png is missing");
  EXPECT_THAT(suite.ended.output, HasSubstr("bazel run //golden:update -- --reason="));
}

TEST(Goldens, OneChannelOfOnePixelIsEnough) {
  const Suite suite = draw_after([](const fs::path& goldens) {
    golden::Image image = picture(goldens);
    image.rgba[4 * 1234 + 1] ^= 1;  // green, by one step
    golden::write_png(goldens / (std::string(kScene) + ".png"), image);
  });
  expect_red_with_a_picture(suite, "random_field_odd.png is not the image of the manifest");
}

TEST(Goldens, OneChannelIsEnoughThoughTheManifestAgreesWithIt) {
  const Suite suite = draw_after([](const fs::path& goldens) {
    golden::Image image = picture(goldens);
    image.rgba[4 * 1234 + 1] ^= 1;
    golden::write_png(goldens / (std::string(kScene) + ".png"), image);
    std::vector<golden::Golden> manifest = golden::read_manifest(goldens / "manifest.json");
    for (golden::Golden& g : manifest) {
      if (g.scene == kScene) g.hash = golden::hash(image);
    }
    golden::write_manifest(goldens / "manifest.json", manifest);
  });
  expect_red_with_a_picture(suite, "random_field_odd: the picture is not the golden");
}

TEST(Goldens, AnotherSizeIsRed) {
  const Suite suite = draw_after([](const fs::path& goldens) {
    golden::Image image = picture(goldens);
    image.height -= 1;
    image.rgba.resize(image.rgba.size() - 4 * static_cast<std::size_t>(image.width));
    golden::write_png(goldens / (std::string(kScene) + ".png"), image);
  });
  expect_red_with_a_picture(suite, "random_field_odd.png is 61 x 36, but the manifest says 61 x 37");
}

TEST(Goldens, AnEmptyFileIsRed) {
  const Suite suite = draw_after([](const fs::path& goldens) {
    std::ofstream(goldens / (std::string(kScene) + ".png"), std::ios::trunc).flush();
  });
  EXPECT_EQ(suite.ended.status, 1) << suite.ended.output;
  EXPECT_THAT(suite.ended.output, HasSubstr("random_field_odd.png"));
}

}  // namespace
}  // namespace lockstep::end_to_end
