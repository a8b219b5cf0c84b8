// Streams, events, host functions, and devices.
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime {
namespace {

CUDA_TEST(Stream, HasTheAttributesItWasMadeWith) {
  cudaStream_t s;
  int least = 9, greatest = 9, priority = 9;
  unsigned flags = 9;
  ASSERT_CUDA(cudaSuccess, cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  ASSERT_CUDA(cudaSuccess, cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -100));
  EXPECT_CUDA(cudaSuccess, cudaStreamGetPriority(s, &priority));
  EXPECT_CUDA(cudaSuccess, cudaStreamGetFlags(s, &flags));
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_CUDA(cudaSuccess, cudaStreamGetFlags(nullptr, &flags));
  EXPECT_EQ(flags, 0u);
  unsigned long long legacy = 0, zero = 1, per_thread = 0, own = 0;
  EXPECT_CUDA(cudaSuccess, cudaStreamGetId(nullptr, &zero));
  EXPECT_CUDA(cudaSuccess, cudaStreamGetId(cudaStreamLegacy, &legacy));
  EXPECT_CUDA(cudaSuccess, cudaStreamGetId(cudaStreamPerThread, &per_thread));
  EXPECT_CUDA(cudaSuccess, cudaStreamGetId(s, &own));
  EXPECT_EQ(zero, legacy);
  EXPECT_NE(legacy, per_thread);
  EXPECT_NE(own, legacy);
  EXPECT_NE(own, per_thread);
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamDestroy(nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&s, 8));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
}

CUDA_TEST(Stream, OrdersWork) {
  cudaStream_t s;
  int* p = nullptr;
  int h = 0;
  ASSERT_CUDA(cudaSuccess, cudaStreamCreate(&s));
  ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), 4));
  kernels::store(p, 0, 5, s);
  EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(&h, p, 4, cudaMemcpyDeviceToHost, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
  EXPECT_EQ(h, 5);
  cudaStreamCaptureStatus capturing;
  EXPECT_CUDA(cudaSuccess, cudaStreamIsCapturing(s, &capturing));
  EXPECT_EQ(capturing, cudaStreamCaptureStatusNone);
}

constexpr const char* kLibrary = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 offset = 7;
.visible .entry add(.param .u64 out) {
  .reg .u64 %rd<2>; .reg .u32 %r<3>;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd1, %rd0;
  ld.global.u32 %r0, [offset];
  ld.global.u32 %r1, [%rd1];
  add.u32 %r2, %r0, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

// Loads a module, launches its kernel and unloads it.
void add_offset(int* p, cudaStream_t stream) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  ASSERT_CUDA(cudaSuccess,
              cudaLibraryLoadData(&library, kLibrary, nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_CUDA(cudaSuccess, cudaLibraryGetKernel(&kernel, library, "add"));
  void* arguments[] = {&p};
  EXPECT_CUDA(cudaSuccess,
              cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 1, arguments, 0, stream));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaSuccess, cudaLibraryUnload(library));
}

// A barrier before each call: threads make their calls at the same time, so only the runtime's own
// locks order them, and ThreadSanitizer detects missing ones. A thread that leaves is not waited
// for.
class AtOnce {
 public:
  explicit AtOnce(std::barrier<>& barrier) : barrier_(barrier) {}
  ~AtOnce() { barrier_.arrive_and_drop(); }
  void wait() { barrier_.arrive_and_wait(); }

 private:
  std::barrier<>& barrier_;
};

// One host thread of the test below: its own streams, event, graph and buffers on a device shared
// with other threads.
void use_device(int device, int rounds, int id, int* counter, std::barrier<>& barrier,
                std::atomic<int>& called) {
  AtOnce at_once(barrier);
  EXPECT_CUDA(cudaSuccess, cudaSetDevice(device));
  cudaStream_t first, second;
  cudaEvent_t ready;
  int* p = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&ready));
  ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), 8));
  const auto call = [](void* count) { static_cast<std::atomic<int>*>(count)->fetch_add(1); };
  // Threads of one device make the same calls at once; threads of other devices make other calls.
  for (int i = 0; i < device; ++i) at_once.wait();
  for (int i = 0; i < rounds; ++i) {
    const int value = 1000 * id + i;
    int there = -1;
    at_once.wait();
    kernels::store(p, 0, value, first);
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaEventRecord(ready, first)));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaStreamWaitEvent(second, ready, 0)));
    EXPECT_CUDA(cudaSuccess,
                (at_once.wait(), cudaMemcpyAsync(&there, p, 4, cudaMemcpyDeviceToHost, second)));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaStreamSynchronize(second)));
    EXPECT_EQ(there, value);

    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    ASSERT_CUDA(cudaSuccess,
                (at_once.wait(), cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal)));
    at_once.wait();
    kernels::store(p, 1, value + 1, first);
    EXPECT_CUDA(cudaSuccess,
                (at_once.wait(), cudaMemcpyAsync(p, p + 1, 4, cudaMemcpyDeviceToDevice, first)));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaLaunchHostFunc(first, call, &called)));
    ASSERT_CUDA(cudaSuccess, (at_once.wait(), cudaStreamEndCapture(first, &graph)));
    ASSERT_CUDA(cudaSuccess, (at_once.wait(), cudaGraphInstantiate(&launchable, graph, 0)));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaGraphLaunch(launchable, first)));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaStreamSynchronize(first)));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaMemcpy(&there, p, 4, cudaMemcpyDeviceToHost)));
    EXPECT_EQ(there, value + 1);
    int* temporary = nullptr;
    ASSERT_CUDA(cudaSuccess,
                (at_once.wait(), cudaMallocAsync(reinterpret_cast<void**>(&temporary), 4, second)));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(),
                              cudaMemcpyAsync(temporary, p, 4, cudaMemcpyDeviceToDevice, second)));
    at_once.wait();
    add_offset(temporary, second);
    EXPECT_CUDA(cudaSuccess,
                (at_once.wait(), cudaMemcpy(&there, temporary, 4, cudaMemcpyDeviceToHost)));
    EXPECT_EQ(there, value + 8);
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaFreeAsync(temporary, second)));
    EXPECT_CUDA(cudaErrorInvalidValue,
                (at_once.wait(), cudaMemcpy(&there, p, 64, cudaMemcpyDeviceToHost)))
        << "each thread has its own last error";
    EXPECT_CUDA(cudaErrorInvalidValue, (at_once.wait(), cudaGetLastError()));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaGetLastError()));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaGraphExecDestroy(launchable)));
    EXPECT_CUDA(cudaSuccess, (at_once.wait(), cudaGraphDestroy(graph)));
    at_once.wait();
    kernels::count_threads(counter, 80, 64);  // enough warps for several host threads
  }
  EXPECT_CUDA(cudaSuccess, cudaFree(p));
  EXPECT_CUDA(cudaSuccess, cudaEventDestroy(ready));
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(first));
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(second));
}

CUDA_TEST(Stream, ManyHostThreadsShareTheDevices) {
  constexpr int kThreads = 6, kRounds = 4;
  int devices = 0;
  ASSERT_CUDA(cudaSuccess, cudaGetDeviceCount(&devices));
  if (const char* simulated = std::getenv("LOCKSTEP_DEVICES")) {
    ASSERT_EQ(std::to_string(devices), simulated);
  }
  std::vector<int*> counters(static_cast<std::size_t>(devices));
  for (int d = 0; d < devices; ++d) {
    ASSERT_CUDA(cudaSuccess, cudaSetDevice(d));
    ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&counters[d]), 4));
    ASSERT_CUDA(cudaSuccess, cudaMemset(counters[d], 0, 4));
    ASSERT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  }
  std::atomic<int> called{0};
  std::barrier<> barrier(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back(use_device, t % devices, kRounds, t,
                         counters[static_cast<std::size_t>(t % devices)], std::ref(barrier),
                         std::ref(called));
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(called, kThreads * kRounds);
  int counted = 0;
  for (int* counter : counters) {
    int there = 0;
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(&there, counter, 4, cudaMemcpyDeviceToHost));
    counted += there;
  }
  EXPECT_EQ(counted, kThreads * kRounds * 80 * 64);
}

CUDA_TEST(Event, MeasuresBetweenRecords) {
  cudaEvent_t a, b, untimed;
  float ms = -1;
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&a));
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&b));
  ASSERT_CUDA(cudaSuccess, cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  EXPECT_CUDA(cudaSuccess, cudaEventQuery(a)) << "never recorded counts as done";
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(a, nullptr));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(untimed, nullptr));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, untimed));
  kernels::nothing(1, 32);
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(b, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(b));
  EXPECT_CUDA(cudaSuccess, cudaEventElapsedTime(&ms, a, b));
  EXPECT_GT(ms, 0);
  EXPECT_CUDA(cudaSuccess, cudaEventElapsedTime(&ms, b, a));
  EXPECT_LT(ms, 0);
  EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(nullptr, a, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaStreamWaitEvent(nullptr, a, 2));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(nullptr, nullptr, 0));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventRecord(nullptr, nullptr));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventDestroy(nullptr));
  EXPECT_CUDA(cudaSuccess, cudaEventDestroy(a));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaEventCreateWithFlags(&a, 64));
}

// The first calls do not execute the enqueued work, but polling in a loop ends.
CUDA_TEST(Event, MeasuringIsNoWait) {
  cudaEvent_t a, b;
  float ms = -1;
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&a));
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&b));
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(a, nullptr));
  for (int i = 0; i < 3; ++i) kernels::nothing(1, 32);
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(b, nullptr));
  for (int i = 0; i < 4; ++i) EXPECT_CUDA(cudaErrorNotReady, cudaEventElapsedTime(&ms, b, b)) << i;
  cudaError_t error = cudaErrorNotReady;
  for (int i = 0; i < 100 && error == cudaErrorNotReady; ++i)
    error = cudaEventElapsedTime(&ms, a, b);
  EXPECT_CUDA(cudaSuccess, error);
  EXPECT_GT(ms, 0);
}

void allocate_inside(void* result) {
  void* p = nullptr;
  *static_cast<cudaError_t*>(result) = cudaMalloc(&p, 4);
}
void allocate_inside_callback(cudaStream_t, cudaError_t, void* result) { allocate_inside(result); }

CUDA_TEST(HostFunction, RunsAndMayNotCallCuda) {
  cudaError_t inside = cudaSuccess;
  EXPECT_CUDA(cudaSuccess, cudaLaunchHostFunc(nullptr, allocate_inside, &inside));
  ASSERT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(inside, cudaErrorNotPermitted);
  inside = cudaSuccess;
  EXPECT_CUDA(cudaSuccess, cudaStreamAddCallback(nullptr, allocate_inside_callback, &inside, 0));
  ASSERT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(inside, cudaErrorNotPermitted);
  EXPECT_CUDA(cudaSuccess, cudaGetLastError()) << "the error is the callback's own";
  EXPECT_CUDA(cudaErrorInvalidValue, cudaLaunchHostFunc(nullptr, nullptr, nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaStreamAddCallback(nullptr, nullptr, nullptr, 0));
}

CUDA_TEST(Device, LimitsAreKept) {
  std::size_t value = 0;
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, 1024u);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSetLimit(cudaLimitStackSize, 2049));
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, 2064u) << "in units of 16 bytes";
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
  EXPECT_EQ(value, 8u << 20);
  EXPECT_CUDA(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitStackSize, 1 << 30));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaDeviceSetLimit(static_cast<cudaLimit>(77), 1));
}

CUDA_TEST(Device, NumbersAreChecked) {
  int value = 0;
  char text[32];
  cudaDeviceProp prop;
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(-1));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(99));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetLastError());
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, 99));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(5000), 0));
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetPCIBusId(text, sizeof text, 0));
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetByPCIBusId(&value, text));
  EXPECT_EQ(value, 0);
  // "0000:01:00.0" and its terminator need 13 characters; the domain may be omitted.
  EXPECT_CUDA(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(text, 12, 0));
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetPCIBusId(text, 13, 0));
  EXPECT_EQ(std::string(text).size(), 12u);
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetByPCIBusId(&value, std::string(text).substr(5).c_str()));
  for (const char* const same : {"0:1:0", "0:1:0.0", "0000:01:00", "1:0.0", "00000000:01:00.0"})
    EXPECT_CUDA(cudaSuccess, cudaDeviceGetByPCIBusId(&value, same)) << same;
  for (const char* const other : {"1:1:0", "0:1:0.1", "0:1:1", "0:0:0"})
    EXPECT_CUDA(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&value, other)) << other;
  for (const char* const wrong : {"0:1", "0:1:0.0z", "1", ""})
    EXPECT_CUDA(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&value, wrong)) << wrong;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaSetDeviceFlags(77777));
}

CUDA_TEST(Device, IsNoPeerOfItself) {
  int can = 9;
  EXPECT_CUDA(cudaErrorInvalidDevice,
              cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 0));
  EXPECT_CUDA(cudaSuccess, cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  EXPECT_CUDA(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
  EXPECT_CUDA(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
}

CUDA_TEST(Device, AResetFreesEverything) {
  void* p = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&p, 4));
  ASSERT_CUDA(cudaSuccess, cudaDeviceReset());
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(p));
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&p, 4));
  kernels::nothing(1, 1);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
}

CUDA_TEST(Device, AForkedChildOfAUserHasNone) {
  void* p = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&p, 4));
  in_child([] {
    void* q = nullptr;
    EXPECT_CUDA(cudaErrorInitializationError, cudaMalloc(&q, 4));
  });
}

CUDA_TEST(Device, SaysThatItIsCuda13) {
  int version = 0;
  EXPECT_CUDA(cudaSuccess, cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version / 1000, 13);
  EXPECT_CUDA(cudaSuccess, cudaDriverGetVersion(&version));
  EXPECT_GE(version, 13000);
}

cudaAccessPolicyWindow window_over(void* memory, std::size_t bytes) {
  cudaAccessPolicyWindow window = {};
  window.base_ptr = memory;
  window.num_bytes = bytes;
  window.hitRatio = 0.5f;
  window.hitProp = cudaAccessPropertyPersisting;
  window.missProp = cudaAccessPropertyStreaming;
  return window;
}

// Calls `set` with a valid window, and with each mistake.
template <class Set>
void expect_windows(void* memory, std::size_t most, Set&& set) {
  const auto call = [&](auto change) {
    cudaLaunchAttributeValue value = {};
    value.accessPolicyWindow = window_over(memory, 256);
    change(value.accessPolicyWindow);
    return set(value);
  };
  EXPECT_CUDA(cudaSuccess, call([](auto&) {}));
  EXPECT_CUDA(cudaSuccess, call([](auto& w) { w.num_bytes = 0; })) << "switched off";
  EXPECT_CUDA(cudaErrorInvalidValue, call([&](auto& w) { w.num_bytes = most + 1; }));
  EXPECT_CUDA(cudaErrorInvalidValue, call([](auto& w) { w.hitRatio = 1.5f; }));
  EXPECT_CUDA(cudaErrorInvalidValue, call([](auto& w) { w.hitRatio = -0.5f; }));
  EXPECT_CUDA(cudaErrorInvalidValue,
              call([](auto& w) { w.missProp = cudaAccessPropertyPersisting; }));
}

CUDA_TEST(AccessPolicy, WindowsAreCheckedKeptAndChangeNoResult) {
  cudaDeviceProp p;
  ASSERT_CUDA(cudaSuccess, cudaGetDeviceProperties(&p, 0));
  int attribute = -1;
  EXPECT_CUDA(cudaSuccess,
              cudaDeviceGetAttribute(&attribute, cudaDevAttrMaxPersistingL2CacheSize, 0));
  EXPECT_EQ(attribute, p.persistingL2CacheMaxSize);
  EXPECT_CUDA(cudaSuccess,
              cudaDeviceGetAttribute(&attribute, cudaDevAttrMaxAccessPolicyWindowSize, 0));
  EXPECT_EQ(attribute, p.accessPolicyMaxWindowSize);
  EXPECT_GT(p.persistingL2CacheMaxSize, 0);
  const std::size_t aside = static_cast<std::size_t>(p.persistingL2CacheMaxSize) / 2;
  std::size_t limit = 0;
  EXPECT_CUDA(cudaSuccess, cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, aside));
  EXPECT_CUDA(cudaSuccess, cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
  EXPECT_GE(limit, aside);
  EXPECT_LE(limit, static_cast<std::size_t>(p.persistingL2CacheMaxSize));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, std::size_t{1} << 40));

  int* memory = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&memory), 256));
  cudaStream_t s = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamCreate(&s));
  const auto most = static_cast<std::size_t>(p.accessPolicyMaxWindowSize);
  constexpr auto kWindow = cudaLaunchAttributeAccessPolicyWindow;
  // The window of a stream.
  expect_windows(memory, most, [&](const cudaLaunchAttributeValue& value) {
    return cudaStreamSetAttribute(s, kWindow, &value);
  });
  cudaLaunchAttributeValue value = {};
  value.accessPolicyWindow = window_over(memory, 256);
  EXPECT_CUDA(cudaSuccess, cudaStreamSetAttribute(s, kWindow, &value));
  value = {};
  EXPECT_CUDA(cudaSuccess, cudaStreamGetAttribute(s, kWindow, &value));
  EXPECT_EQ(value.accessPolicyWindow.hitProp, cudaAccessPropertyPersisting);
  EXPECT_EQ(value.accessPolicyWindow.num_bytes, 256u);
  // The window of a launch.
  long long at = 0;
  int stored = 7;
  void* arguments[] = {&memory, &at, &stored};
  const auto launch = [&](const cudaLaunchAttributeValue& v) {
    cudaLaunchAttribute attribute = {};
    attribute.id = kWindow;
    attribute.val = v;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = s;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, kernels::store_function(), arguments);
  };
  expect_windows(memory, most, launch);
  // The window of a node, set and captured.
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  value.accessPolicyWindow = window_over(memory, 128);
  EXPECT_CUDA(cudaSuccess, launch(value));
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &graph));
  cudaGraphNode_t node = nullptr;
  std::size_t count = 1;
  EXPECT_CUDA(cudaSuccess, cudaGraphGetNodes(graph, &node, &count));
  value = {};
  EXPECT_CUDA(cudaSuccess, cudaGraphKernelNodeGetAttribute(node, kWindow, &value));
  EXPECT_EQ(value.accessPolicyWindow.num_bytes, 128u);
  expect_windows(memory, most, [&](const cudaLaunchAttributeValue& v) {
    return cudaGraphKernelNodeSetAttribute(node, kWindow, &v);
  });
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(exec, s));
  EXPECT_CUDA(cudaSuccess, cudaCtxResetPersistingL2Cache());
  int host = 0;
  EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(&host, memory, 4, cudaMemcpyDeviceToHost, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
  EXPECT_EQ(host, 7);
}

}  // namespace
}  // namespace lockstep::runtime
