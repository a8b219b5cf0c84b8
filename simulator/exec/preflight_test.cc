#include "simulator/exec/preflight.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace lockstep::exec {
namespace preflight_test {

TEST(Preflight, LibrariesAreReadFromTheLoadersList) {
  const auto list = parse_library_list(
      "\tlinux-vdso.so.1 (0x00007ffd)\n"
      "\tlibcudart.so.13 => /opt/a folder/libcudart.so.13 (0x00007f00)\n"
      "\tlibcublas.so.13 => not found\n"
      "\tlibmine.so => lib/libmine.so (0x00007f01)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f11)\n");
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].soname, "libcudart.so.13");
  EXPECT_EQ(list[0].path, "/opt/a folder/libcudart.so.13");
  EXPECT_EQ(list[1].soname, "libcublas.so.13");
  EXPECT_EQ(list[1].path, "");
  EXPECT_EQ(list[2].path, "lib/libmine.so");
}

TEST(Preflight, SaysWhatToDoAboutALibrary) {
  for (const char* ours : {"libcuda.so.1", "libnvrtc.so.13", "libcublas.so.13", "libcublasLt.so.13",
                           "libcurand.so.10", "libcufft.so.12"})
    EXPECT_EQ(about_library(ours, true), "");
  for (const char* theirs : {"libcublas.so.12", "libcufft.so.11", "libcusparse.so.12",
                             "libcusolver.so.12", "libcudnn.so.9"}) {
    EXPECT_NE(about_library(theirs, false).find("not on this machine"), std::string::npos);
    EXPECT_NE(about_library(theirs, true).find("the others are refused by name"),
              std::string::npos);
  }
  EXPECT_NE(about_library("libfoo.so.1", false).find("LD_LIBRARY_PATH"), std::string::npos);
  EXPECT_EQ(about_library("libm.so.6", true), "");
  EXPECT_EQ(about_library("libcudart_helper.so", true), "");
}

TEST(Preflight, AProgramThatIsNotThereIsNotFound) {
  for (const char* name : {"/nonexistent/program", "no-such-program-anywhere", ""}) {
    const Preflight look = look_at(name, "/nonexistent", 90);
    EXPECT_EQ(look.verdict, Preflight::Verdict::kNotFound) << name;
    EXPECT_EQ(look.sentences.size(), 1u);
  }
  for (const char* name : {"/tmp", "/etc/passwd"}) {
    EXPECT_EQ(look_at(name, "/nonexistent", 90).verdict, Preflight::Verdict::kRefused) << name;
  }
}

TEST(Preflight, AFileThatIsNoProgramIsNamed) {
  const std::string folder = testing::TempDir() + "/no_programs";
  std::filesystem::create_directory(folder);
  const auto said = [&](const char* name, const std::string& bytes, bool may_run) {
    const std::string path = folder + "/" + name;
    std::ofstream(path) << bytes;
    if (may_run) chmod(path.c_str(), 0755);
    const Preflight look = look_at(path, "/nonexistent", 90);
    EXPECT_EQ(look.verdict, Preflight::Verdict::kRefused) << name;
    return look.sentences.empty() ? std::string() : look.sentences.front();
  };
  EXPECT_NE(said("sum.cu", "", false).find("nvcc -arch=sm_90 -lineinfo -o sum "),
            std::string::npos);
  EXPECT_NE(said("sum.ptx", "", false).find("run the program that loads it"), std::string::npos);
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes(4096, '\0');
  self.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  constexpr const char* kOther = "is not a 64-bit program for x86-64";
  for (const auto& [at, value] : {std::pair(EI_CLASS, 1), std::pair(18, 183)}) {
    std::string other = bytes;
    other[at] = static_cast<char>(value);
    EXPECT_NE(said("other", other, true).find(kOther), std::string::npos) << at;
  }
  // A name without a slash is not looked for here, and a folder is no program to point to.
  EXPECT_EQ(look_at("proc", "/nonexistent", 90).verdict, Preflight::Verdict::kNotFound);
  std::filesystem::current_path("/");
  EXPECT_EQ(look_at("proc", "/nonexistent", 90).sentences.at(0), "proc: no such program");
}

TEST(Preflight, ProgramsOfOtherKindsMayGo) {
  const Preflight look = look_at("sh", "/nonexistent", 90);
  EXPECT_EQ(look.verdict, Preflight::Verdict::kGo);
  EXPECT_TRUE(look.sentences.empty());
  EXPECT_TRUE(look.program.ends_with("/sh"));
}

}  // namespace preflight_test
}  // namespace lockstep::exec
