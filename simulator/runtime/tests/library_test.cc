// Device code loaded at run time (cudaLibrary). Every test holds on silicon too.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "simulator/runtime/tests/cuda_test.h"

namespace lockstep::runtime {
namespace {

constexpr const char* kPtx = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 out, .param .u32 x) {
  .reg .u64 %rd<2>; .reg .u32 %r<4>;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd1, %rd0;
  ld.param.u32 %r0, [x];
  ld.global.u32 %r1, [factor];
  mul.lo.u32 %r2, %r0, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry nothing() { ret; }
)";

cudaLibrary_t load() {
  cudaLibrary_t library = nullptr;
  EXPECT_CUDA(cudaSuccess,
              cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

int scaled(cudaKernel_t kernel, unsigned x) {
  int *p = nullptr, host = -1;
  EXPECT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), 4));
  void* arguments[] = {&p, &x};
  EXPECT_CUDA(cudaSuccess,
              cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 1, arguments, 0, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
  return host;
}

CUDA_TEST(Library, RunsPtxFromMemory) {
  const cudaLibrary_t library = load();
  cudaKernel_t kernel = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaLibraryGetKernel(&kernel, library, "scale"));
  EXPECT_EQ(scaled(kernel, 14), 42);
  void* factor = nullptr;
  size_t bytes = 0;
  EXPECT_CUDA(cudaSuccess, cudaLibraryGetGlobal(&factor, &bytes, library, "factor"));
  EXPECT_EQ(bytes, 4u);
  const int five = 5;
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(factor, &five, 4, cudaMemcpyHostToDevice));
  EXPECT_EQ(scaled(kernel, 14), 70);
  EXPECT_CUDA(cudaSuccess, cudaLibraryUnload(library));
}

CUDA_TEST(Library, RunsPtxFromAFile) {
  const std::string path = testing::TempDir() + "/library.ptx";
  std::ofstream(path) << kPtx;
  cudaLibrary_t library = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0,
                                                   nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaLibraryGetKernel(&kernel, library, "scale"));
  EXPECT_EQ(scaled(kernel, 2), 6);
  EXPECT_CUDA(cudaErrorFileNotFound, cudaLibraryLoadFromFile(&library, "/nonexistent.ptx", nullptr,
                                                             nullptr, 0, nullptr, nullptr, 0));
}

CUDA_TEST(Library, ListsItsKernels) {
  const cudaLibrary_t library = load();
  unsigned count = 0;
  EXPECT_CUDA(cudaSuccess, cudaLibraryGetKernelCount(&count, library));
  ASSERT_EQ(count, 2u);
  cudaKernel_t kernels[2] = {};
  EXPECT_CUDA(cudaSuccess, cudaLibraryEnumerateKernels(kernels, 2, library));
  EXPECT_NE(kernels[0], nullptr);
  EXPECT_NE(kernels[0], kernels[1]);
  cudaKernel_t missing = nullptr;
  EXPECT_CUDA(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&missing, library, "missing"));
}

CUDA_TEST(Library, RefusesWhatIsNoPtx) {
  cudaLibrary_t library = nullptr;
  EXPECT_CUDA(cudaErrorInvalidPtx,
              cudaLibraryLoadData(&library, ".version 8.0\n.target sm_75\nnonsense here\n", nullptr,
                                  nullptr, 0, nullptr, nullptr, 0));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaLibraryLoadData(nullptr, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
}

}  // namespace
}  // namespace lockstep::runtime
