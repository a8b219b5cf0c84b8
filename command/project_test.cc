#include "command/project.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "command/command_line.h"

namespace lockstep::command {
namespace {

namespace fs = std::filesystem;

class ProjectFolder : public testing::Test {
 protected:
  ProjectFolder() : root_(fs::path(testing::TempDir()) / "conformance_project") {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~ProjectFolder() override { fs::remove_all(root_); }

  void file(const std::string& path) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "\n";
  }
  std::string folder(const std::string& path) const {
    fs::create_directories(root_ / path);
    return (root_ / path).string();
  }
  // The name of the chosen target, or the error.
  static std::string chosen(const Project& project, const std::string& wanted = "") {
    const auto result = choose(project, wanted);
    const auto* const target = std::get_if<ConformanceTarget>(&result);
    return target != nullptr ? target->name : std::get<std::string>(result);
  }
  fs::path root_;
};

TEST_F(ProjectFolder, TheOnlyTargetIsFoundFromEachOfItsFolders) {
  file(".git/HEAD");
  file("CMakeLists.txt");
  file("build/CMakeCache.txt");
  file("build/lockstep-suites/conformance.tsv");
  for (const char* at : {".", "kernels/deep"}) {
    const Project project = find_project(folder(at));
    EXPECT_EQ(project.root, root_.string()) << at;
    ASSERT_EQ(project.targets.size(), 1u) << at;
    EXPECT_EQ(chosen(project), "build/conformance");
    EXPECT_EQ(project.targets[0].build, folder("build"));
    EXPECT_EQ(project.targets[0].list, folder("build") + "/lockstep-suites/conformance.tsv");
  }
  EXPECT_EQ(chosen(find_project(folder("build"))), "conformance");
}

TEST_F(ProjectFolder, OfSeveralTargetsOneIsNamed) {
  file("lockstep.toml");
  file("out/debug/lockstep-suites/conformance.tsv");
  file("out/release/lockstep-suites/conformance.tsv");
  file("out/release/lockstep-suites/nightly.tsv");
  file("out/release/lockstep-suites/notes.txt");
  file("far/too/deep/lockstep-suites/conformance.tsv");
  Project project = find_project(folder("."));
  for (ConformanceTarget& t : bazel_targets("Loading: 0 packages\n//:all\n"))
    project.targets.push_back(t);
  EXPECT_EQ(chosen(project),
            "several conformance targets are in " + project.root +
                ":\n  out/debug/conformance\n  out/release/conformance\n  out/release/nightly\n"
                "  //:all\nName one: --target=out/debug/conformance, or in lockstep.toml below "
                "[run]: target = \"out/debug/conformance\"");
  EXPECT_EQ(chosen(project, "out/release/conformance"), "out/release/conformance");
  EXPECT_EQ(chosen(project, "nightly"), "out/release/nightly");
  EXPECT_EQ(chosen(project, "release/nightly"), "out/release/nightly");
  EXPECT_EQ(chosen(project, "all"), "//:all");
  EXPECT_TRUE(chosen(project, "conformance")
                  .starts_with("several conformance targets named 'conformance' are in "));
  EXPECT_TRUE(chosen(project, "//:al").find("; did you mean //:all?") != std::string::npos)
      << chosen(project, "//:al");
  EXPECT_TRUE(chosen(project, "ghtly").starts_with("there is no conformance target 'ghtly' in "))
      << chosen(project, "ghtly");
}

TEST_F(ProjectFolder, WithoutATargetItIsSaidWhatThereIs) {
  file("lockstep.toml");
  EXPECT_TRUE(chosen(find_project(folder("."))).find("Type the command in the folder of your") !=
              std::string::npos);
  file("CMakeLists.txt");
  EXPECT_TRUE(chosen(find_project(folder("."))).find("configure it: cmake -B build") !=
              std::string::npos);
  file("WORKSPACE");
  EXPECT_TRUE(chosen(find_project(folder("."))).find("no package has a rule conformance(name") !=
              std::string::npos);
}

TEST_F(ProjectFolder, AFileNamesTheTargetOfRunAndList) {
  std::ofstream(root_ / "lockstep.toml") << "[run]\ntarget = \"nightly\"\ndevice = \"sm_80\"\n";
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  const CommandLine run = parse(whole_offer(false), {"run"}),
                    list = parse(whole_offer(false), {"list"}),
                    typed = parse(whole_offer(false), {"run", "--target", "other"});
  fs::current_path(before);
  EXPECT_EQ(run.run.target, "nightly");
  EXPECT_EQ(run.run.device, "sm_80");
  EXPECT_EQ(list.run.target, "nightly");
  EXPECT_EQ(typed.run.target, "other");
}

}  // namespace
}  // namespace lockstep::command
