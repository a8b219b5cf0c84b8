// Opens the driver and the linker by absolute paths without files, as Python packages open their
// own copies; then links, loads and launches a kernel.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.h"

static const char* const ptx = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry store(.param .u64 to) {
  .reg .u64 %a;
  ld.param.u64 %a, [to];
  st.global.u32 [%a], 42;
  ret;
}
)";

static void* open(const char* path) {
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) std::printf("%s\n", dlerror());
  return library;
}

template <class Function>
static Function* find(void* library, const char* name) {
  auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
  EXPECT(function != nullptr);
  return function;
}

#define CALL(library, name, ...) auto* const name = find<__VA_ARGS__>(library, #name)

int main() {
  void* const driver = open("/not/here/libcuda.so.1");
  void* const linker = open("/not/here/libnvJitLink.so.13");
  void* const runtime = open("/not/here/libcudart.so.13");
  EXPECT(driver != nullptr && linker != nullptr && runtime != nullptr);
  // Without a version, as Triton does.
  void* const blas = open("libcublas.so");
  EXPECT(blas != nullptr && dlsym(blas, "cublasCreate_v2") != nullptr);
  EXPECT(blas == open("/not/here/libcublas.so.13") && open("libcuda.so") == driver);
  CALL(driver, cuInit, int(unsigned));
  CALL(driver, cuDevicePrimaryCtxRetain, int(void**, int));
  CALL(driver, cuCtxSetCurrent, int(void*));
  CALL(driver, cuModuleLoadData, int(void**, const void*));
  CALL(driver, cuModuleGetFunction, int(void**, void*, const char*));
  CALL(driver, cuMemAlloc_v2, int(std::uint64_t*, std::size_t));
  CALL(driver, cuLaunchKernel,
       int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
           void**, void**));
  CALL(runtime, cudaMemcpy, int(void*, const void*, std::size_t, int));
  CALL(linker, __nvJitLinkCreate_13_0, int(void**, std::uint32_t, const char**));
  CALL(linker, nvJitLinkAddData, int(void*, int, const void*, std::size_t, const char*));
  CALL(linker, nvJitLinkComplete, int(void*));
  CALL(linker, nvJitLinkGetLinkedCubinSize, int(void*, std::size_t*));
  CALL(linker, nvJitLinkGetLinkedCubin, int(void*, void*));
  CALL(linker, nvJitLinkGetErrorLogSize, int(void*, std::size_t*));
  CALL(linker, nvJitLinkDestroy, int(void**));

  // Links before a context exists: nvJitLink needs none.
  void* link = nullptr;
  const char* options[] = {"-arch=sm_90", "-maxrregcount=32"};
  EXPECT(__nvJitLinkCreate_13_0(&link, 2, options) == 0);
  EXPECT(nvJitLinkAddData(link, 3, "LTO", 3, "lto.o") != 0);  // link-time intermediate code
  std::size_t size = 0;
  EXPECT(nvJitLinkGetErrorLogSize(link, &size) == 0 && size > 20);
  EXPECT(nvJitLinkAddData(link, 2, ptx, std::char_traits<char>::length(ptx), "store.ptx") == 0);
  EXPECT(nvJitLinkComplete(link) == 0);
  EXPECT(nvJitLinkGetLinkedCubinSize(link, &size) == 0 && size > 0);
  std::vector<char> code(size);
  EXPECT(nvJitLinkGetLinkedCubin(link, code.data()) == 0);
  EXPECT(nvJitLinkDestroy(&link) == 0 && link == nullptr);
  EXPECT(__nvJitLinkCreate_13_0(&link, 0, nullptr) != 0);  // without -arch
  const char* const unknown[] = {"-arch=99"};
  EXPECT(__nvJitLinkCreate_13_0(&link, 1, const_cast<const char**>(unknown)) != 0);

  void *context, *module, *function;
  std::uint64_t memory;
  EXPECT(cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&context, 0) == 0);
  EXPECT(cuCtxSetCurrent(context) == 0);
  EXPECT(cuModuleLoadData(&module, code.data()) == 0);
  EXPECT(cuModuleGetFunction(&function, module, "store") == 0);
  EXPECT(cuMemAlloc_v2(&memory, 4) == 0);
  void* arguments[] = {&memory};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == 0);
  int value = 0;
  EXPECT(cudaMemcpy(&value, reinterpret_cast<void*>(memory), 4, 2) == 0);
  EXPECT(value == 42);
  std::puts("PASSED");
}
