// Source lines without debug information. //tests/streams:streams_test checks lines of programs
// with debug information.
#include "simulator/runtime/state/source_line.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "simulator/runtime/state/leaks.h"

namespace lockstep::runtime {
namespace {

TEST(SourceLine, IsEmptyForWhatHasNoDebugInformation) {
  EXPECT_EQ(source_line(reinterpret_cast<const void*>(&std::rand)), "");
  EXPECT_EQ(source_line(nullptr), "");
  const std::string place = describe_caller(reinterpret_cast<const char*>(&std::rand) + 1);
  EXPECT_EQ(place.find("a call at "), 0u) << place;
  EXPECT_NE(place.find("addr2line -Cfe "), place.npos) << place;
}

TEST(Interpreter, IsKnownByItsName) {
  for (const char* path : {"/usr/bin/python3.11", "python", "/usr/lib/libpython3.11.so.1.0",
                           "lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so", "libffi.so.8"})
    EXPECT_TRUE(is_interpreter(path)) << path;
  for (const char* path : {"/usr/bin/pythonic", "./my_python_tests", "/usr/lib/libpythia.so", ""})
    EXPECT_FALSE(is_interpreter(path)) << path;
}

TEST(HostFrames, AreOfThePlacesBeforeEachAddress) {
  CallStack stack;
  stack.frames = {reinterpret_cast<const char*>(&std::rand) + 1};
  stack.count = 1;
  const auto frames = host_frames(stack);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "rand");
  EXPECT_NE(frames[0].object.find("libc"), std::string::npos) << frames[0].object;
  EXPECT_TRUE(frames[0].file.empty());
}

// Another object may lie at the same address later.
TEST(HostFrames, OfAnObjectAreForgottenWithIt) {
  void* const object = dlopen("libBrokenLocale.so.1", RTLD_NOW);
  ASSERT_NE(object, nullptr) << dlerror();
  CallStack stack;
  stack.frames = {static_cast<const char*>(dlsym(object, "__ctype_get_mb_cur_max")) + 1};
  stack.count = 1;
  const auto name = [&] { return host_frames(stack).at(0).object; };
  const std::string loaded = name();
  EXPECT_NE(loaded.find("libBrokenLocale"), loaded.npos) << loaded;
  EXPECT_EQ(name(), loaded) << "asked again";
  dlclose(object);
  EXPECT_EQ(name(), "");
}

// libdw.so.1 reads the object's symbols.
TEST(SourceFunction, OfAnObjectIsForgottenWithIt) {
  void* const object = dlopen("libBrokenLocale.so.1", RTLD_NOW);
  ASSERT_NE(object, nullptr) << dlerror();
  const void* const function = dlsym(object, "__ctype_get_mb_cur_max");
  EXPECT_EQ(source_function(function), "__ctype_get_mb_cur_max");
  EXPECT_EQ(source_function(function), "__ctype_get_mb_cur_max") << "asked again";
  dlclose(object);
  EXPECT_EQ(source_function(function), "");
}

}  // namespace
}  // namespace lockstep::runtime
