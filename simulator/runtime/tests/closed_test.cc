// Closed launches (work/closed.h): races that would be missed if a launch counted as closed
// although something is unordered with it. What is proved is left out from the first launch on
// (LOCKSTEP_CERTIFICATE), and no race ends a kernel (LOCKSTEP_GO_ON).
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "simulator/extension.h"
#include "simulator/runtime/tests/graph_nodes.h"

namespace lockstep::runtime {
namespace {

template <class T>
T extension(const char* name) {
  return reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
}

// The races found so far.
int races() {
  char* text = extension<lockstepTakeFindings_t>("lockstepTakeFindings")();
  const auto all = nlohmann::json::parse(text);
  std::free(text);
  int count = 0;
  for (const auto& f : all) count += f["kind"] == "race" && f["severity"] == "error";
  return count;
}

// Device memory, and streams that nothing orders with one another.
struct Scene {
  int *p = device_ints(16), *q = device_ints(16);
  cudaStream_t first = nullptr, second = nullptr;

  Scene() {
    extension<lockstepSetQuiet_t>("lockstepSetQuiet")(1);
    EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    EXPECT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  }
  // Puts a kernel while another host thread waits, and ends that wait when the kernel is executed.
  void store_second_and_set(int* flag) const {
    constexpr std::chrono::milliseconds kLong(200);
    std::this_thread::sleep_for(kLong);  // the first kernel has been executed, the second one waits
    store_second();
    std::this_thread::sleep_for(kLong);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  }
  void store_first() const { kernels::store(p, 0, 1, first); }
  void store_second() const { kernels::store(p, 0, 2, second); }
};

CUDA_TEST(Closed, WhatTheProgramWaitsForDoesNotRaceWithWhatItPutsThen) {
  const Scene s;
  s.store_first();
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s.first));
  s.store_second();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 0);
}

CUDA_TEST(Closed, AnUnexecutedKernelOfAnotherStreamIsUnordered) {
  const Scene s;
  s.store_first();
  s.store_second();
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s.first));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s.second));
  EXPECT_EQ(races(), 1);
}

CUDA_TEST(Closed, AnExecutedKernelOfAnotherStreamIsUnordered) {
  const Scene s;
  s.store_first();
  s.store_second();
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s.second));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s.first));
  EXPECT_EQ(races(), 1);
}

CUDA_TEST(Closed, AKernelExecutedByAQueryIsNotWaitedFor) {
  const Scene s;
  s.store_first();
  kernels::nothing(1, 1, 0, s.first);
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(s.first));
  s.store_second();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
}

CUDA_TEST(Closed, AKernelExecutedBecauseManyArePutIsNotWaitedFor) {
  const Scene s;
  // The queue is short if operations are (queue/queue_limit.h).
  const auto launch_many = [&] {
    for (int i = 0; i < 200; ++i) kernels::nothing(1, 1, 0, s.first);
  };
  launch_many();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  s.store_first();
  launch_many();
  s.store_second();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
}

CUDA_TEST(Closed, AKernelExecutedForAnAsynchronousCopyIsNotWaitedFor) {
  const Scene s;
  int host = 0;
  s.store_first();
  EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(&host, s.p + 1, 4, cudaMemcpyDeviceToHost, s.first));
  s.store_second();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
}

CUDA_TEST(Closed, ABlockingCopyWaitsForItsStreamOnly) {
  const Scene s;
  int host = 0;
  kernels::store(s.p, 0, 1, s.first);
  kernels::store(s.q, 0, 1);
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(&host, s.q, 4, cudaMemcpyDeviceToHost));
  kernels::store(s.p, 0, 2);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
}

// Some schedules execute kernels of other streams during a wait.
CUDA_TEST(Closed, AKernelExecutedDuringAWaitForAnotherStreamIsNotWaitedFor) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    extension<lockstepSetSchedule_t>("lockstepSetSchedule")(seed);
    const Scene s;
    s.store_first();
    kernels::store(s.q, 0, 1, s.second);
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s.second));
    s.store_second();
    EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(races(), 1) << seed;
  }
}

CUDA_TEST(Closed, AnEventCoversWhatComesBeforeItsRecord) {
  const Scene s;
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaEventCreate(&event));
  kernels::store(s.q, 0, 1, s.first);
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(event, s.first));
  s.store_first();
  EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(event));
  kernels::store(s.q, 0, 2, s.second);
  s.store_second();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1) << "of the stores behind the record";
}

CUDA_TEST(Closed, ACopyOfAnotherStreamIsUnordered) {
  for (const bool copy_first : {false, true}) {
    const Scene s;
    s.store_first();
    EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(s.q, s.p, 4, cudaMemcpyDeviceToDevice, s.second));
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(copy_first ? s.second : s.first));
    EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(races(), 1) << copy_first;
  }
}

CUDA_TEST(Closed, AFillAndAFreeOfAnotherStreamAreUnordered) {
  const Scene s;
  s.store_first();
  EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(s.p, 0, 4, s.second));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
  int* pool = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMallocAsync(reinterpret_cast<void**>(&pool), 64, s.first));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s.first));
  kernels::store(pool, 0, 1, s.first);
  EXPECT_CUDA(cudaSuccess, cudaFreeAsync(pool, s.second));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
}

CUDA_TEST(Closed, AKernelOfAnotherDeviceIsUnordered) {
  const Scene s;
  int* far = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaSetDevice(1));
  EXPECT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&far), 4));
  EXPECT_CUDA(cudaSuccess, cudaSetDevice(0));
  EXPECT_CUDA(cudaSuccess, cudaDeviceEnablePeerAccess(1, 0));
  kernels::store(far, 0, 1);
  EXPECT_CUDA(cudaSuccess, cudaSetDevice(1));
  kernels::store(far, 0, 2);
  EXPECT_CUDA(cudaSuccess, cudaSetDevice(0));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_CUDA(cudaSuccess, cudaSetDevice(1));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
}

CUDA_TEST(Closed, NodesOfAGraphAreOrderedByItsEdges) {
  for (const bool edge : {false, true}) {
    const Scene s;
    const cudaGraph_t g = new_graph();
    const cudaGraphNode_t a = store_node(g, s.p, 0, 1);
    edge ? store_node(g, s.p, 0, 2, a) : store_node(g, s.p, 0, 2);
    EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(new_exec(g), s.first));
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s.first));
    EXPECT_EQ(races(), edge ? 0 : 1);
  }
}

CUDA_TEST(Closed, AGraphThatIsNotWaitedForIsUnordered) {
  const Scene s;
  const cudaGraph_t g = new_graph();
  store_node(g, s.p, 0, 1);
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(new_exec(g), s.first));
  s.store_second();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
}

CUDA_TEST(Closed, AnotherHostThreadPutsOperationsWhileThisOneWaits) {
  const Scene s;
  int* flag = nullptr;  // of wait_for(): the host sets it
  EXPECT_CUDA(cudaSuccess, cudaMallocHost(reinterpret_cast<void**>(&flag), 2 * sizeof(int)));
  flag[0] = flag[1] = 0;
  s.store_first();
  kernels::wait_for(flag, s.q, s.first);
  std::thread other([&] { s.store_second_and_set(flag); });
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s.first));
  other.join();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
}

CUDA_TEST(Closed, AHostFunctionMayStartAThread) {
  static Scene* s = nullptr;
  static std::thread other;
  static int* flag = nullptr;
  s = new Scene;
  EXPECT_CUDA(cudaSuccess, cudaMallocHost(reinterpret_cast<void**>(&flag), 2 * sizeof(int)));
  flag[0] = flag[1] = 0;
  kernels::store(s->q, 1, 1, s->first);  // counts the threads
  EXPECT_CUDA(
      cudaSuccess,
      cudaLaunchHostFunc(
          s->first, [](void*) { other = std::thread([] { s->store_second_and_set(flag); }); },
          nullptr));
  s->store_first();
  kernels::wait_for(flag, s->q, s->first);
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s->first));
  other.join();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(races(), 1);
}

}  // namespace
}  // namespace lockstep::runtime
