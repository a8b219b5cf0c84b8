#include "simulator/exec/preflight.h"

#include <gtest/gtest.h>

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

TEST(Preflight, ProgramsOfOtherKindsMayGo) {
  const Preflight look = look_at("sh", "/nonexistent", 90);
  EXPECT_EQ(look.verdict, Preflight::Verdict::kGo);
  EXPECT_TRUE(look.sentences.empty());
  EXPECT_TRUE(look.program.ends_with("/sh"));
}

}  // namespace preflight_test
}  // namespace lockstep::exec
