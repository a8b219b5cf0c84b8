// What the first call of the runtime API leaves to the driver API: whether the driver is
// initialised, whether device 0's primary context is active, and whether the thread has a current
// context. Each expectation was recorded on an H100.
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulator/driver/tests/driver_test.h"

namespace lockstep::driver::starting {
namespace {

// What a process has initialised.
struct Started {
  bool driver, active, current;
};
Started started() {
  int count = 0, active = 0;
  unsigned flags = 0;
  CUcontext context = nullptr;
  const bool driver = cuDeviceGetCount(&count) == CUDA_SUCCESS;
  EXPECT_EQ(driver, cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS);
  EXPECT_EQ(driver, cuCtxGetCurrent(&context) == CUDA_SUCCESS);
  return {driver, active != 0, context != nullptr};
}
void expect_started(Started expected) {
  const Started now = started();
  EXPECT_EQ(now.driver, expected.driver);
  EXPECT_EQ(now.active, expected.active);
  EXPECT_EQ(now.current, expected.current);
}
constexpr Started kNothing{false, false, false}, kDriverAlone{true, false, false},
    kAll{true, true, true};

// `calls`: the first calls of the runtime API in a process.
#define STARTS(name, what, ...)    \
  CUDA_TEST(RuntimeStarts, name) { \
    __VA_ARGS__;                   \
    expect_started(what);          \
  }

int number;
unsigned bits;
std::size_t bytes;
void* place;
cudaDeviceProp properties;
cudaPointerAttributes attributes;
cudaEvent_t event;
cudaStream_t stream;
cudaMemPool_t pool;
cudaStreamCaptureStatus capture;
cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeRelaxed;
const char* text;

STARTS(NothingByItsVersion, kNothing, cudaRuntimeGetVersion(&number))
STARTS(NothingByAChannel, kNothing, cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned))
STARTS(NothingByTheDriversVersion, kNothing, cuDriverGetVersion(&number))
STARTS(NothingByTheDriversErrors, kNothing,
       (cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text),
        cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text)))
STARTS(TheDriverByCounting, kDriverAlone, cudaGetDeviceCount(&number))
STARTS(TheDriverByCountingWrongly, kDriverAlone, cudaGetDeviceCount(nullptr))
STARTS(TheDriverByTheDevice, kDriverAlone, cudaGetDevice(&number))
STARTS(TheDriverByProperties, kDriverAlone, cudaGetDeviceProperties(&properties, 0))
STARTS(TheDriverByAnAttributeOfNoDevice, kDriverAlone,
       cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 99))
STARTS(TheDriverByItsVersion, kDriverAlone, cudaDriverGetVersion(&number))
STARTS(TheDriverByNoDevice, kDriverAlone, cudaSetDevice(99))
STARTS(TheDriverByValidDevices, kDriverAlone, (number = 0, cudaSetValidDevices(&number, 1)))
STARTS(TheDriverByFlagsAskedFor, kDriverAlone, cudaGetDeviceFlags(&bits))
STARTS(TheDriverByAReset, kDriverAlone, cudaDeviceReset())
STARTS(TheDriverByLastErrors, kDriverAlone, cudaGetLastError())
STARTS(TheDriverByPeeking, kDriverAlone, cudaPeekAtLastError())
STARTS(TheDriverByAnErrorsName, kDriverAlone, cudaGetErrorName(cudaSuccess))
STARTS(TheDriverByAnErrorsText, kDriverAlone, cudaGetErrorString(cudaSuccess))
STARTS(TheDriverByAPointer, kDriverAlone, cudaPointerGetAttributes(&attributes, &number))
STARTS(TheDriverByAPool, kDriverAlone, cudaDeviceGetDefaultMemPool(&pool, 0))
STARTS(TheDriverByAnEntryPoint, kDriverAlone,
       cudaGetDriverEntryPointByVersion("cuInit", &place, 12000, cudaEnableDefault, nullptr))
STARTS(TheDriverByTheProfilersEnd, kDriverAlone, cudaProfilerStop())
STARTS(TheDriverByMemoryForNobody, kDriverAlone, cudaMalloc(nullptr, 4))
STARTS(TheDriverByNoEvent, kDriverAlone, cudaEventQuery(nullptr))
STARTS(TheDriverByTimeBetweenNoEvents, kDriverAlone, [] {
  float ms;
  cudaEventElapsedTime(&ms, nullptr, nullptr);
}())
STARTS(AContextThatIsNoThreads, (Started{true, true, false}), cudaInitDevice(0, 0, 0))
STARTS(AllByTheDevice, kAll, cudaSetDevice(0))
STARTS(AllByItsFlags, kAll, cudaSetDeviceFlags(cudaDeviceScheduleYield))
STARTS(AllByWaiting, kAll, cudaDeviceSynchronize())
STARTS(AllByALimit, kAll, cudaDeviceGetLimit(&bytes, cudaLimitStackSize))
STARTS(AllByPriorities, kAll, cudaDeviceGetStreamPriorityRange(&number, &number))
STARTS(AllByTheProfiler, kAll, cudaProfilerStart())
STARTS(AllByFreeingNothing, kAll, cudaFree(nullptr))
STARTS(AllByFreeingWhatIsNone, kAll, cudaFree(&number))
STARTS(AllByMemory, kAll, cudaMalloc(&place, 4))
STARTS(AllByAskingForMemory, kAll, cudaMemGetInfo(&bytes, &bytes))
STARTS(AllByACopyOfNothing, kAll, cudaMemcpy(&number, &number, 0, cudaMemcpyHostToDevice))
STARTS(AllByAStream, kAll, cudaStreamCreate(&stream))
STARTS(AllByTheDefaultStream, kAll, cudaStreamIsCapturing(nullptr, &capture))
STARTS(AllByACapturesMode, kAll, cudaThreadExchangeStreamCaptureMode(&capture_mode))
STARTS(AllByAnEvent, kAll, cudaEventCreate(&event))
STARTS(AllByAGraph, kAll, [] {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
}())

// Whether a forked child can use the driver after its parent has made `call`.
bool child_starts(void (*call)()) {
  call();
  const pid_t child = fork();
  if (child == 0) {
    void* memory = nullptr;
    const bool good = cudaMalloc(&memory, 4) == cudaSuccess && cuInit(0) == CUDA_SUCCESS;
    const bool bad = cudaMalloc(&memory, 4) == cudaErrorInitializationError &&
                     cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
    _exit(good ? 1 : bad ? 2 : 3);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_NE(WEXITSTATUS(status), 3);
  return WEXITSTATUS(status) == 1;
}
CUDA_TEST(Fork, LeavesADriverThatNobodyStarted) {
  EXPECT_TRUE(child_starts([] { cudaRuntimeGetVersion(&number); }));
  EXPECT_TRUE(child_starts([] { cuDriverGetVersion(&number); }));
}
CUDA_TEST(Fork, TakesAwayADriverThatCounted) {
  EXPECT_FALSE(child_starts([] { cudaGetDeviceCount(&number); }));
}
CUDA_TEST(Fork, TakesAwayADriverThatWasAskedForAnError) {
  EXPECT_FALSE(child_starts([] { cudaGetLastError(); }));
}
CUDA_TEST(Fork, TakesAwayADriverThatWasStarted) {
  EXPECT_FALSE(child_starts([] { cuInit(0); }));
}

CUDA_TEST(RuntimeStarts, FlagsAreThePrimaryContexts) {
  ASSERT_CUDA(cudaSuccess, cudaSetDeviceFlags(cudaDeviceScheduleYield));
  int active = 0;
  GOOD(cuDevicePrimaryCtxGetState(0, &bits, &active));
  EXPECT_EQ(bits, static_cast<unsigned>(CU_CTX_SCHED_YIELD));
}

}  // namespace
}  // namespace lockstep::driver::starting
