// Modules, libraries, the linker, functions and launches.
#include <cstring>
#include <fstream>

#include "simulator/driver/tests/driver_test.h"

namespace lockstep::driver {
namespace {

CUDA_TEST(DriverModule, HasFunctionsAndVariables) {
  start();
  const CUmodule module = load();
  unsigned count = 0;
  GOOD(cuModuleGetFunctionCount(&count, module));
  EXPECT_EQ(count, 2u);
  CUfunction none = nullptr;
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, module, "nonesuch"));
  CUdeviceptr factor = 0;
  std::size_t bytes = 0;
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&factor, &bytes, module, "nonesuch"));
  GOOD(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  EXPECT_EQ(bytes, 4u);
  GOOD(cuMemsetD32(factor, 5, 1));
  const CUfunction scale = function(module, "scale");
  EXPECT_EQ(scaled(scale, 14), 70u);
  const char* name = nullptr;
  GOOD(cuFuncGetName(&name, scale));
  EXPECT_STREQ(name, "scale");
  CUmodule own = nullptr;
  GOOD(cuFuncGetModule(&own, scale));
  EXPECT_EQ(own, module);
  GOOD(cuModuleUnload(module));
}

CUDA_TEST(DriverModule, ComesFromAFile) {
  start();
  const std::string path = testing::TempDir() + "/module.ptx";
  std::ofstream(path) << kPtx;
  CUmodule module = nullptr;
  GOOD(cuModuleLoad(&module, path.c_str()));
  EXPECT_EQ(scaled(function(module, "scale"), 2), 6u);
  EXPECT_CU(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nonexistent/module.ptx"));
}

CUDA_TEST(DriverModule, ThatIsWrongSaysWhyInItsLog) {
  start();
  const std::string wrong = std::string(kPtx) + "\n.visible .entry odd() { no.such.instruction; ret; }\n";
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, wrong.c_str(), 2, options, values));
  EXPECT_NE(std::strstr(log, "no.such.instruction"), nullptr) << log;
  EXPECT_GE(reinterpret_cast<std::size_t>(values[1]), std::strlen(log));
  values[1] = reinterpret_cast<void*>(sizeof log);
  GOOD(cuModuleLoadDataEx(&module, kPtx, 2, options, values));
  EXPECT_EQ(std::strlen(log), 0u);
}

CUDA_TEST(DriverLibrary, HasKernelsForAnyContext) {
  start();
  CUlibrary library = nullptr, own = nullptr;
  GOOD(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  GOOD(cuLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 2u);
  CUkernel kernel = nullptr;
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&kernel, library, "nonesuch"));
  GOOD(cuLibraryGetKernel(&kernel, library, "scale"));
  GOOD(cuKernelGetLibrary(&own, kernel));
  EXPECT_EQ(own, library);
  CUfunction scale = nullptr;
  GOOD(cuKernelGetFunction(&scale, kernel));
  EXPECT_EQ(scaled(scale, 4), 12u);
  EXPECT_EQ(scaled(reinterpret_cast<CUfunction>(kernel), 5), 15u);
  CUmodule module = nullptr;
  GOOD(cuLibraryGetModule(&module, library));
  EXPECT_EQ(scaled(function(module, "scale"), 6), 18u);
  CUdeviceptr factor = 0;
  std::size_t bytes = 0;
  GOOD(cuLibraryGetGlobal(&factor, &bytes, library, "factor"));
  EXPECT_EQ(bytes, 4u);
  CUcontext made = nullptr;
  GOOD(cuCtxCreate(&made, nullptr, 0, 0));
  EXPECT_EQ(scaled(reinterpret_cast<CUfunction>(kernel), 7), 21u);
  GOOD(cuCtxDestroy(made));
  GOOD(cuLibraryUnload(library));
}

CUDA_TEST(DriverLinker, JoinsPiecesThatNeedEachOther) {
  start();
  const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  const std::string caller = head + R"(
.extern .func (.param .u32 r) twice(.param .u32 x);
.visible .entry run(.param .u64 out, .param .u32 x) {
  .reg .u64 %rd<2>; .reg .u32 %r<3>;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd1, %rd0;
  ld.param.u32 %r0, [x];
  { .param .u32 a; .param .u32 b;
    st.param.u32 [a], %r0;
    call (b), twice, (a);
    ld.param.u32 %r1, [b]; }
  st.global.u32 [%rd1], %r1;
  ret;
})";
  const std::string called = head + R"(
.visible .func (.param .u32 r) twice(.param .u32 x) {
  .reg .u32 %r<3>;
  ld.param.u32 %r0, [x];
  add.u32 %r1, %r0, %r0;
  st.param.u32 [r], %r1;
  ret;
})";
  const auto link = [&](bool both, std::string* code) {
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUlinkState state = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cuLinkCreate(2, options, values, &state));
    std::string text = caller;
    EXPECT_CU(CUDA_SUCCESS, cuLinkAddData(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "caller", 0, nullptr, nullptr));
    text = called;
    if (both) {
      EXPECT_CU(CUDA_SUCCESS, cuLinkAddData(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "called", 0, nullptr, nullptr));
    }
    void* made = nullptr;
    std::size_t bytes = 0;
    const CUresult result = cuLinkComplete(state, &made, &bytes);
    if (result == CUDA_SUCCESS) {
      code->assign(static_cast<char*>(made), bytes);
    } else {
      EXPECT_NE(std::strstr(log, "twice"), nullptr) << log;
    }
    EXPECT_CU(CUDA_SUCCESS, cuLinkDestroy(state));
    return result;
  };
  std::string code;
  EXPECT_NE(link(false, &code), CUDA_SUCCESS);
  GOOD(link(true, &code));
  CUmodule module = nullptr;
  GOOD(cuModuleLoadData(&module, code.data()));
  EXPECT_EQ(scaled(function(module, "run"), 21), 42u);
  // What was linked can be linked again.
  CUlinkState state = nullptr;
  GOOD(cuLinkCreate(0, nullptr, nullptr, &state));
  GOOD(cuLinkAddData(state, CU_JIT_INPUT_CUBIN, code.data(), code.size(), "linked", 0, nullptr, nullptr));
  void* again = nullptr;
  std::size_t bytes = 0;
  GOOD(cuLinkComplete(state, &again, &bytes));
  GOOD(cuModuleLoadData(&module, again));
  EXPECT_EQ(scaled(function(module, "run"), 4), 8u);
}

CUDA_TEST(DriverFunction, HasAttributesAndParameters) {
  start();
  const CUfunction f = function(load(), "reversed");
  int value = -1;
  GOOD(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
  EXPECT_EQ(value, 1024);
  GOOD(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
  EXPECT_EQ(value, 75);
  GOOD(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
  EXPECT_EQ(value, 0);
  GOOD(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
  GOOD(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
  EXPECT_EQ(value, 60000);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
  std::size_t offset = 0, size = 0;
  GOOD(cuFuncGetParamInfo(f, 1, &offset, &size));
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, 8u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(f, 2, &offset, &size));
  int blocks = 0, grid = 0, block = 0;
  GOOD(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0));
  EXPECT_GE(blocks, 1);
  GOOD(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 0));
  EXPECT_GE(grid, 1);
  EXPECT_EQ(block % 32, 0);
}

CUDA_TEST(DriverLaunch, TakesArgumentsInEitherForm) {
  start();
  const CUfunction f = function(load(), "reversed");
  const CUdeviceptr in = words({1, 2, 3, 4}), out = words({0, 0, 0, 0});
  struct {
    CUdeviceptr out, in;
  } packed{out, in};
  std::size_t bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  GOOD(cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 16, nullptr, nullptr, extra));
  EXPECT_EQ(words_at(out, 4), (std::vector<unsigned>{4, 3, 2, 1}));
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 4;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = 16;
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  void* arguments[] = {&packed.in, &packed.out};
  GOOD(cuLaunchKernelEx(&config, f, arguments, nullptr));
  EXPECT_EQ(words_at(in, 4), (std::vector<unsigned>{1, 2, 3, 4}));
  GOOD(cuLaunchCooperativeKernel(f, 1, 1, 1, 4, 1, 1, 16, nullptr, arguments));
  EXPECT_EQ(words_at(in, 4), (std::vector<unsigned>{1, 2, 3, 4}));
}

CUDA_TEST(DriverLaunch, RefusesWhatTheDeviceDoesNotTake) {
  start();
  const CUfunction f = function(load(), "scale");
  CUdeviceptr out = words({0});
  unsigned x = 1;
  void* arguments[] = {&out, &x};
  const auto launch = [&](unsigned grid, unsigned block, unsigned shared) {
    return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, nullptr, arguments, nullptr);
  };
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, launch(0, 1, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, launch(1, 2048, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, launch(1, 1, 1 << 30));
  EXPECT_EQ(words_at(out, 1)[0], 0u);
  GOOD(launch(1, 1, 0));
  EXPECT_EQ(words_at(out, 1)[0], 3u);
}

}  // namespace
}  // namespace lockstep::driver
