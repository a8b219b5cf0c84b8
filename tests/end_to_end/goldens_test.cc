// Runs the ray tracer's suite on a copy of the goldens with mistakes. Each mistake must make the
// suite fail, with a picture of the difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "golden/image.h"
#include "golden/manifest.h"
#include "harness/ledger/runfiles.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

struct Suite {
  Ended ended;
  std::vector<std::string> pictures;  // among its outputs, those that show a difference
};

// Whether the last of the three panels of `scene`'s picture, the difference, has a pixel that is
// not black (golden::side_by_side).
bool shows_a_difference(const golden::Image& panels, const golden::Image& scene) {
  const int scale = panels.height / scene.height;
  for (int y = 0; y < panels.height; ++y) {
    for (int x = panels.width - scale * scene.width; x < panels.width; ++x) {
      const std::uint8_t* pixel = &panels.rgba[4 * (y * panels.width + x)];
      if (pixel[0] != 0 || pixel[1] != 0 || pixel[2] != 0) return true;
    }
  }
  return false;
}

// Calls `tamper` on a copy of the goldens and runs the suite's golden test on that tree.
Suite draw_after(const std::function<void(const fs::path& goldens)>& tamper) {
  // The program first looks for files beside itself: it must be a copy as well.
  const fs::path root = fresh_file("runfiles"), tree = root / "lockstep";
  const fs::path original = fs::path(runfile("tests/ray_tracer_test")).parent_path().parent_path();
  fs::create_directories(tree / "tests");
  fs::copy_file(original / "tests/ray_tracer_test", tree / "tests/ray_tracer_test");
  fs::create_directories(tree / "golden/ray_tracer");
  for (const auto& file : fs::directory_iterator(original / "golden/ray_tracer")) {
    fs::copy_file(file.path(), tree / "golden/ray_tracer" / file.path().filename());
    fs::permissions(tree / "golden/ray_tracer" / file.path().filename(), fs::perms::owner_write,
                    fs::perm_options::add);
  }
  for (const auto& entry : fs::directory_iterator(original)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("_solib"))
      fs::create_directory_symlink(fs::canonical(entry.path()), tree / name);
    if (name == "harness")
      fs::create_directory_symlink(fs::canonical(entry.path()), tree / name);  // its waivers
  }
  tamper(tree / "golden/ray_tracer");
  const std::string outputs = fresh_file("pictures");
  fs::create_directories(outputs);
  Suite suite;
  suite.ended =
      run((tree / "tests/ray_tracer_test").string(), {"--gtest_filter=RayTracer.DrawsTheGoldens"},
          {{"RUNFILES_DIR", root.string()}, {"TEST_UNDECLARED_OUTPUTS_DIR", outputs}});
  for (const auto& file : fs::directory_iterator(outputs)) {
    if (file.path().extension() != ".png") continue;
    const std::string name = file.path().filename();
    const std::string scene = name.substr(std::string("golden.").size());
    if (shows_a_difference(golden::read_png(file.path()),
                           golden::read_png(original / "golden/ray_tracer" / scene))) {
      suite.pictures.push_back(name);
    }
  }
  fs::remove_all(root);
  return suite;
}

// Changes the green channel of one pixel by 1.
void change_a_channel(const fs::path& file) {
  golden::Image image = golden::read_png(file);
  image.rgba[4 * (image.rgba.size() / 8) + 1] ^= 1;
  golden::write_png(file, image);
}

TEST(Goldens, AsTheyAreTheSuiteIsGreenAndNoPictureShowsADifference) {
  const Suite suite = draw_after([](const fs::path&) {});
  EXPECT_EQ(suite.ended.status, 0) << suite.ended.output;
  EXPECT_THAT(suite.pictures, IsEmpty());
}

// Each scene's golden has its own mistake: one run shows that no mistake hides another.
TEST(Goldens, EachMistakeIsRedAndLeavesItsPicture) {
  const Suite suite = draw_after([](const fs::path& goldens) {
    fs::remove(goldens / "random_field_odd.png");
    change_a_channel(goldens / "random_field.png");
    change_a_channel(goldens / "tangent.png");
    std::vector<golden::Golden> manifest = golden::read_manifest(goldens / "manifest.json");
    for (golden::Golden& g : manifest) {
      if (g.scene == "tangent") g.hash = golden::hash(golden::read_png(goldens / g.file));
    }
    golden::write_manifest(goldens / "manifest.json", manifest);
    golden::Image image = golden::read_png(goldens / "overlaps.png");
    image.height -= 1;
    image.rgba.resize(image.rgba.size() - 4 * static_cast<std::size_t>(image.width));
    golden::write_png(goldens / "overlaps.png", image);
    std::ofstream(goldens / "wide.png", std::ios::trunc).flush();
  });
  const std::string& output = suite.ended.output;
  EXPECT_EQ(suite.ended.status, 1) << output;
  EXPECT_THAT(output, HasSubstr("golden/ray_tracer/random_field_odd.png is missing; make it by: "
                                "bazel run //golden:update"));
  EXPECT_THAT(output, HasSubstr("random_field.png is not the image of the manifest"));
  EXPECT_THAT(output, HasSubstr("tangent: the picture is not the golden"));
  EXPECT_THAT(output, HasSubstr("overlaps.png is 64 x 63, but the manifest says 64 x 64"));
  EXPECT_THAT(output, HasSubstr("golden/ray_tracer/wide.png is no picture"));
  EXPECT_THAT(output, Not(HasSubstr("tall:")));
  EXPECT_THAT(suite.pictures,
              UnorderedElementsAre("golden.random_field_odd.png", "golden.random_field.png",
                                   "golden.tangent.png", "golden.overlaps.png", "golden.wide.png"));
}

}  // namespace
}  // namespace lockstep::end_to_end
