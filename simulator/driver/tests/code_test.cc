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

CUDA_TEST(DriverModule, IsForThisDeviceOrEarlierOnes) {
  start();
  const std::string body = "\n.address_size 64\n.visible .entry k() { ret; }\n";
  CUmodule module = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_PTX,
            cuModuleLoadData(&module, (".version 9.0\n.target sm_121" + body).c_str()));
  EXPECT_CU(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            cuModuleLoadData(&module, (".version 99.0\n.target sm_75" + body).c_str()));
  GOOD(cuModuleLoadData(&module,
                        ("// not .target sm_121\n.version 8.0\n .target sm_75" + body).c_str()));
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
  const std::string wrong =
      std::string(kPtx) + "\n.visible .entry odd() { nosuchinstruction; ret; }\n";
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, wrong.c_str(), 2, options, values));
  EXPECT_NE(std::strstr(log, "nosuchinstruction"), nullptr) << log;
  EXPECT_GE(reinterpret_cast<std::size_t>(values[1]), std::strlen(log));
  values[1] = reinterpret_cast<void*>(sizeof log);
  GOOD(cuModuleLoadDataEx(&module, kPtx, 2, options, values));
  EXPECT_EQ(std::strlen(log), 0u);
}

// The log holds only the last call's reason; a failed call without a reason leaves it empty.
SIMULATED_TEST(DriverLink, TheLogHasTheReasonOfTheLastCallAlone) {
  start();
  char log[256] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlinkState state = nullptr;
  GOOD(cuLinkCreate(2, options, values, &state));
  char object[] = "no device code";
  EXPECT_CU(CUDA_ERROR_NO_BINARY_FOR_GPU,
            cuLinkAddData(state, CU_JIT_INPUT_OBJECT, object, sizeof object, "object", 0, nullptr,
                          nullptr));
  EXPECT_NE(std::strstr(log, "takes PTX"), nullptr) << log;
  values[1] = reinterpret_cast<void*>(sizeof log);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuLinkAddData(state, CU_JIT_INPUT_OBJECT, nullptr, 0, "object", 0, nullptr, nullptr));
  EXPECT_STREQ(log, "");
  GOOD(cuLinkDestroy(state));
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
    EXPECT_CU(CUDA_SUCCESS, cuLinkAddData(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1,
                                          "caller", 0, nullptr, nullptr));
    text = called;
    if (both) {
      EXPECT_CU(CUDA_SUCCESS, cuLinkAddData(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1,
                                            "called", 0, nullptr, nullptr));
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
  // Linked code counts as machine code.
  CUlinkState state = nullptr;
  GOOD(cuLinkCreate(0, nullptr, nullptr, &state));
  EXPECT_CU(CUDA_ERROR_NO_BINARY_FOR_GPU,
            cuLinkAddData(state, CU_JIT_INPUT_CUBIN, code.data(), code.size(), "linked", 0, nullptr,
                          nullptr));
}

CUDA_TEST(DriverLinker, IsDoneOnce) {
  start();
  CUlinkState state = nullptr;
  std::string text = kPtx;
  const auto add = [&](CUjitInputType type, std::size_t size) {
    return cuLinkAddData(state, type, text.data(), size, "text", 0, nullptr, nullptr);
  };
  GOOD(cuLinkCreate(0, nullptr, nullptr, &state));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, add(static_cast<CUjitInputType>(77), text.size() + 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, add(CU_JIT_INPUT_PTX, 0));
  EXPECT_CU(CUDA_ERROR_FILE_NOT_FOUND,
            cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nonexistent", 0, nullptr, nullptr));
  GOOD(add(CU_JIT_INPUT_PTX, text.size() + 1));
  void* code = nullptr;
  std::size_t bytes = 0;
  GOOD(cuLinkComplete(state, &code, &bytes));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, add(CU_JIT_INPUT_PTX, text.size() + 1));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuLinkComplete(state, &code, &bytes));
  GOOD(cuLinkDestroy(state));
  GOOD(cuLinkCreate(0, nullptr, nullptr, &state));
  GOOD(cuLinkComplete(state, &code, &bytes));
  GOOD(cuLinkDestroy(state));
}

// A kernel with 64 values in registers at once.
std::string with_many_registers() {
  std::string text =
      std::string(kPtx) +
      ".visible .entry many(.param .u64 out) {\n  .reg .u64 %rd<2>; .reg .f32 %f<64>;\n";
  text += "  ld.param.u64 %rd0, [out];\n  cvta.to.global.u64 %rd1, %rd0;\n";
  for (int i = 0; i < 64; ++i)
    text += "  ld.volatile.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) +
            "];\n";
  for (int i = 0; i < 64; ++i)
    text += "  st.volatile.global.f32 [%rd1+" + std::to_string(4 * i) + "], %f" +
            std::to_string(63 - i) + ";\n";
  return text + "  ret;\n}\n";
}

int attribute(CUmodule module, CUfunction_attribute which) {
  int value = -1;
  EXPECT_CU(CUDA_SUCCESS, cuFuncGetAttribute(&value, which, function(module, "many")));
  return value;
}

struct Jit {
  CUresult result = CUDA_SUCCESS;
  CUmodule module = nullptr;
  std::size_t value = 0, information_bytes = 0,
              error_bytes = 0;  // the values that the call has written
  std::string information, error;
};
Jit load_with(const std::string& text, CUjit_option option, std::size_t value) {
  char information[512] = "unset", error[512] = "unset";
  CUjit_option options[] = {option, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {reinterpret_cast<void*>(value), information,
                    reinterpret_cast<void*>(sizeof information), error,
                    reinterpret_cast<void*>(sizeof error)};
  Jit jit;
  jit.result = cuModuleLoadDataEx(&jit.module, text.c_str(), 5, options, values);
  jit.value = reinterpret_cast<std::size_t>(values[0]);
  jit.information_bytes = reinterpret_cast<std::size_t>(values[2]);
  jit.error_bytes = reinterpret_cast<std::size_t>(values[4]);
  jit.information = information;
  jit.error = error;
  return jit;
}

CUDA_TEST(DriverJit, BoundsRegistersAndThreads) {
  start();
  const std::string text = with_many_registers();
  const auto registers = [&](CUjit_option option, std::size_t most) {
    return attribute(load_with(text, option, most).module, CU_FUNC_ATTRIBUTE_NUM_REGS);
  };
  const int free = registers(CU_JIT_LOG_VERBOSE, 0);
  EXPECT_GT(free, 64);
  EXPECT_EQ(registers(CU_JIT_MAX_REGISTERS, 40), 40);
  EXPECT_EQ(registers(CU_JIT_MAX_REGISTERS, 24), 24);
  EXPECT_EQ(registers(CU_JIT_MAX_REGISTERS, 200), free);
  EXPECT_EQ(registers(CU_JIT_THREADS_PER_BLOCK, 1024), 64);
  EXPECT_EQ(load_with(text, CU_JIT_THREADS_PER_BLOCK, 2048).value, 1024u);
  const Jit few = load_with(text, CU_JIT_MAX_REGISTERS, 16),
            many = load_with(text, CU_JIT_MAX_REGISTERS, 300);
  EXPECT_EQ(attribute(few.module, CU_FUNC_ATTRIBUTE_NUM_REGS), 24);
  EXPECT_NE(few.information.find("24"), std::string::npos) << few.information;
  EXPECT_EQ(few.information_bytes, few.information.size());
  EXPECT_EQ(few.error, "");
  EXPECT_EQ(attribute(many.module, CU_FUNC_ATTRIBUTE_NUM_REGS), free);
  EXPECT_NE(many.information.find("300"), std::string::npos) << many.information;
  const CUmodule narrow = load_with(text, CU_JIT_MAX_THREADS_PER_BLOCK, 256).module;
  EXPECT_EQ(attribute(narrow, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 256);
  CUdeviceptr room = 0;
  GOOD(cuMemAlloc(&room, 256));
  GOOD(cuMemsetD8(room, 0, 256));
  void* arguments[] = {&room};
  EXPECT_NE(
      cuLaunchKernel(function(narrow, "many"), 1, 1, 1, 512, 1, 1, 0, nullptr, arguments, nullptr),
      CUDA_SUCCESS);
  GOOD(cuLaunchKernel(function(narrow, "many"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  GOOD(cuCtxSynchronize());
  // The same for a library and for linked code.
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void* value = reinterpret_cast<void*>(std::size_t{32});
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  int found = 0;
  GOOD(cuLibraryLoadData(&library, text.c_str(), &option, &value, 1, nullptr, nullptr, 0));
  GOOD(cuLibraryGetKernel(&kernel, library, "many"));
  GOOD(cuKernelGetAttribute(&found, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
  EXPECT_EQ(found, 32);
  CUlinkState state = nullptr;
  CUjit_option both[] = {CU_JIT_MAX_REGISTERS, CU_JIT_WALL_TIME};
  void* values[] = {value, nullptr};
  GOOD(cuLinkCreate(2, both, values, &state));
  std::string copy = text;
  GOOD(cuLinkAddData(state, CU_JIT_INPUT_PTX, copy.data(), copy.size() + 1, "text", 0, nullptr,
                     nullptr));
  void* code = nullptr;
  std::size_t bytes = 0;
  GOOD(cuLinkComplete(state, &code, &bytes));
  float milliseconds = 0;
  std::memcpy(&milliseconds, &values[1], sizeof milliseconds);
  EXPECT_GT(milliseconds, 0);
  CUmodule module = nullptr;
  GOOD(cuModuleLoadData(&module, code));
  EXPECT_EQ(attribute(module, CU_FUNC_ATTRIBUTE_NUM_REGS), 32);
}

// The errors are those that an H100's driver returned. Runs on the simulated GPU alone: the kernel
// uses an instruction that the simulated GPU does not have.
SIMULATED_TEST(DriverModule, AKernelThatIsNotSimulatedIsRefusedAlone) {
  start();
  const std::string text =
      std::string(kPtx) + ".visible .entry odd() {\n  clusterlaunchcontrol.unheard;\n}\n";
  const CUmodule module = load(text.c_str());
  EXPECT_EQ(scaled(function(module, "scale"), 5), 15u);
  CUfunction odd = nullptr;
  for (int i = 0; i < 2; ++i) {
    EXPECT_CU(CUDA_ERROR_INVALID_PTX, cuModuleGetFunction(&odd, module, "odd"));
    EXPECT_EQ(odd, nullptr);
  }
  CUfunction all[4] = {};
  GOOD(cuModuleEnumerateFunctions(all, 4, module));
  EXPECT_CU(CUDA_ERROR_INVALID_PTX,
            cuLaunchKernel(all[2], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  CUlibrary library = nullptr;
  GOOD(cuLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_PTX, cuLibraryGetKernel(&kernel, library, "odd"));
  GOOD(cuLibraryGetKernel(&kernel, library, "scale"));
  EXPECT_EQ(scaled(function(module, "scale"), 6), 18u) << "not sticky";
}

CUDA_TEST(DriverJit, RefusesOptionsThatCannotBe) {
  start();
  const auto refused = [](CUjit_option option, std::size_t value) {
    const Jit jit = load_with(kPtx, option, value);
    // The call changed no option.
    EXPECT_EQ(jit.information, "unset");
    EXPECT_EQ(jit.error_bytes, 512u);
    return jit.result == CUDA_ERROR_INVALID_VALUE;
  };
  EXPECT_TRUE(refused(CU_JIT_MAX_REGISTERS, 0));
  EXPECT_TRUE(refused(CU_JIT_CACHE_MODE, 9));
  EXPECT_TRUE(refused(CU_JIT_TARGET, 91));
  EXPECT_TRUE(refused(CU_JIT_GLOBAL_SYMBOL_COUNT, 1));
  EXPECT_TRUE(refused(CU_JIT_NUM_OPTIONS, 0));
  EXPECT_TRUE(refused(static_cast<CUjit_option>(1000), 0));
  int major = 0, minor = 0;
  GOOD(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  GOOD(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
  const auto capability = static_cast<std::size_t>(10 * major + minor);
  EXPECT_CU(CUDA_SUCCESS, load_with(kPtx, CU_JIT_TARGET, capability).result);
  EXPECT_CU(CUDA_ERROR_INVALID_SOURCE,
            load_with(kPtx, CU_JIT_TARGET, capability == 80 ? 90 : 80).result);
  EXPECT_CU(CUDA_ERROR_INVALID_PTX, load_with(kPtx, CU_JIT_NEW_SM3X_OPT, 1).result);
  for (const CUjit_option option :
       {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_FALLBACK_STRATEGY, CU_JIT_LOG_VERBOSE,
        CU_JIT_GENERATE_LINE_INFO, CU_JIT_CACHE_MODE, CU_JIT_FAST_COMPILE, CU_JIT_LTO, CU_JIT_FMA,
        CU_JIT_POSITION_INDEPENDENT_CODE, CU_JIT_MIN_CTA_PER_SM}) {
    const Jit jit = load_with(kPtx, option, 1);
    EXPECT_CU(CUDA_SUCCESS, jit.result);
    EXPECT_EQ(jit.information + jit.error, "");
  }
  CUmodule module = nullptr;
  CUjit_option alone = CU_JIT_ERROR_LOG_BUFFER;
  char log[16] = "";
  void* value = log;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, kPtx, 1, &alone, &value));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, kPtx, 1, nullptr, nullptr));
  CUlinkState state = nullptr;
  alone = static_cast<CUjit_option>(1000);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuLinkCreate(1, &alone, &value, &state));
  CUlibrary library = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuLibraryLoadData(&library, kPtx, &alone, &value, 1, nullptr, nullptr, 0));
  CUlibraryOption unknown = static_cast<CUlibraryOption>(77);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, &unknown, &value, 1));
  // A log buffer that is too small is filled and ends with a zero.
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT_CU(CUDA_ERROR_INVALID_PTX,
            cuModuleLoadDataEx(&module, (std::string(kPtx) + "nosuchdirective").c_str(), 2, options,
                               values));
  EXPECT_EQ(std::strlen(log), sizeof log - 1);
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), sizeof log);
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
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30));
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
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  GOOD(cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 16, nullptr, nullptr, extra));
  EXPECT_EQ(words_at(out, 4), (std::vector<unsigned>{4, 3, 2, 1}));
  bytes = sizeof packed + 8;
  EXPECT_CU(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 16, nullptr, nullptr, extra));
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
