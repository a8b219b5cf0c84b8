// Names and texts of errors must equal those of NVIDIA's library, which is loaded beside the
// drop-in. Neither library needs a device for this.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace lockstep::runtime {
namespace {

using Text = const char* (*)(cudaError_t);

TEST(Errors, NamesAndTextsAreNvidias) {
  const char* path = std::getenv("NVIDIAS");
  ASSERT_NE(path, nullptr);
  // In a separate namespace: the library has the drop-in's name.
  void* library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto name = reinterpret_cast<Text>(dlsym(library, "cudaGetErrorName"));
  const auto text = reinterpret_cast<Text>(dlsym(library, "cudaGetErrorString"));
  ASSERT_NE(name, nullptr);
  ASSERT_NE(text, nullptr);
  ASSERT_NE(name, static_cast<Text>(cudaGetErrorName)) << "compared with itself";
  int known = 0;
  for (int i = -10; i < 10100; ++i) {
    const auto error = static_cast<cudaError_t>(i);
    ASSERT_STREQ(cudaGetErrorName(error), name(error)) << i;
    ASSERT_STREQ(cudaGetErrorString(error), text(error)) << i;
    known += std::string(name(error)) != "unrecognized error code";
  }
  EXPECT_GT(known, 130);
}

}  // namespace
}  // namespace lockstep::runtime
