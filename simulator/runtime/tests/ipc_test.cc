// Memory and events shared between processes. A process may use CUDA only after its fork.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <vector>

#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime {
namespace {

// One end of a pair of pipes to another process.
struct Channel {
  int from = -1, to = -1;

  template <class T>
  void send(const T& value) const {
    EXPECT_EQ(write(to, &value, sizeof value), static_cast<ssize_t>(sizeof value));
  }
  template <class T = char>
  T receive() const {
    T value{};
    EXPECT_EQ(read(from, &value, sizeof value), static_cast<ssize_t>(sizeof value));
    return value;
  }
  void signal() const { send('.'); }
};

// Runs both functions at once, `other` in another process.
void in_two_processes(const std::function<void(const Channel&)>& one,
                      const std::function<void(const Channel&)>& other) {
  int forth[2], back[2];
  ASSERT_EQ(pipe(forth), 0);
  ASSERT_EQ(pipe(back), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(forth[1]), close(back[0]);
    other({forth[0], back[1]});
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  close(forth[0]), close(back[1]);
  one({back[0], forth[1]});
  close(forth[1]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the other process has failed";
}

int* open_memory(const cudaIpcMemHandle_t& handle) {
  int* p = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaIpcOpenMemHandle(reinterpret_cast<void**>(&p), handle,
                                                cudaIpcMemLazyEnablePeerAccess));
  return p;
}

CUDA_TEST(Ipc, MemoryIsOneForBothProcesses) {
  in_two_processes(
      [](const Channel& other) {
        int* const before = device_ints(100);
        int* const p = device_ints(3000);
        kernels::store(p, 2999, 7);
        EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
        cudaIpcMemHandle_t handle, again;
        ASSERT_CUDA(cudaSuccess, cudaIpcGetMemHandle(&handle, p));
        ASSERT_CUDA(cudaSuccess, cudaIpcGetMemHandle(&again, p));
        EXPECT_EQ(std::memcmp(&handle, &again, sizeof handle), 0);
        EXPECT_EQ(fetch_int(p + 2999), 7) << "it keeps its contents";
        void* own = nullptr;
        EXPECT_NE(cudaIpcOpenMemHandle(&own, handle, cudaIpcMemLazyEnablePeerAccess), cudaSuccess)
            << "in the same process";
        cudaGetLastError();
        other.send(handle);
        other.receive();
        EXPECT_EQ(fetch_int(p), 9);
        kernels::store(p, 1, 11);
        EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
        other.signal();
        other.receive();
        EXPECT_CUDA(cudaSuccess, cudaFree(p));
        EXPECT_EQ(fetch_int(before), 0);
      },
      [](const Channel& other) {
        const auto handle = other.receive<cudaIpcMemHandle_t>();
        int* const p = open_memory(handle);
        EXPECT_EQ(fetch_int(p + 2999), 7);
        EXPECT_EQ(open_memory(handle), p) << "opened again";
        kernels::store(p, 0, 9);
        EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
        other.signal();
        other.receive();
        EXPECT_EQ(fetch_int(p + 1), 11);
        EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(p)) << "it is not this process's";
        EXPECT_CUDA(cudaSuccess, cudaIpcCloseMemHandle(p));
        EXPECT_EQ(fetch_int(p), 9) << "opened twice";
        EXPECT_CUDA(cudaSuccess, cudaIpcCloseMemHandle(p));
        EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcCloseMemHandle(p));
        other.signal();
      });
}

// The first process never waits: the other's wait for the event must execute its work.
CUDA_TEST(Ipc, EventsOrderStreamsOfBothProcesses) {
  in_two_processes(
      [](const Channel& other) {
        int* const p = device_ints(4);
        cudaEvent_t event = nullptr;
        ASSERT_CUDA(cudaSuccess, cudaEventCreateWithFlags(
                                     &event, cudaEventInterprocess | cudaEventDisableTiming));
        cudaIpcMemHandle_t memory;
        cudaIpcEventHandle_t handle;
        ASSERT_CUDA(cudaSuccess, cudaIpcGetMemHandle(&memory, p));
        ASSERT_CUDA(cudaSuccess, cudaIpcGetEventHandle(&handle, event));
        cudaStream_t s = nullptr;
        ASSERT_CUDA(cudaSuccess, cudaStreamCreate(&s));
        kernels::store(p, 0, 7, s);
        EXPECT_CUDA(cudaSuccess, cudaEventRecord(event, s));
        other.send(memory);
        other.send(handle);
        other.receive();
        // The other process has recorded the event by now.
        EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(s, event, 0));
        int value = 0;
        EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(&value, p + 1, 4, cudaMemcpyDeviceToHost, s));
        EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
        EXPECT_EQ(value, 7);
        other.signal();
      },
      [](const Channel& other) {
        int* const p = open_memory(other.receive<cudaIpcMemHandle_t>());
        const auto handle = other.receive<cudaIpcEventHandle_t>();
        cudaEvent_t event = nullptr;
        ASSERT_CUDA(cudaSuccess, cudaIpcOpenEventHandle(&event, handle));
        cudaStream_t s = nullptr;
        ASSERT_CUDA(cudaSuccess, cudaStreamCreate(&s));
        EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(s, event, 0));
        EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(p + 1, p, 4, cudaMemcpyDeviceToDevice, s));
        EXPECT_CUDA(cudaSuccess, cudaEventRecord(event, s));
        other.signal();
        other.receive();
        EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(event));
        EXPECT_CUDA(cudaSuccess, cudaEventQuery(event));
        EXPECT_CUDA(cudaSuccess, cudaEventDestroy(event));
      });
}

// A kernel of each process waits for a kernel of the other.
CUDA_TEST(Ipc, KernelsOfBothProcessesReachOneAnother) {
  in_two_processes(
      [](const Channel& other) {
        int* const p = device_ints(2);
        cudaIpcMemHandle_t handle;
        ASSERT_CUDA(cudaSuccess, cudaIpcGetMemHandle(&handle, p));
        other.send(handle);
        other.receive();
        kernels::send(p, 42);
        EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
        other.receive();
      },
      [](const Channel& other) {
        int* const p = open_memory(other.receive<cudaIpcMemHandle_t>());
        int* const own = device_ints(1);
        kernels::wait_for(p, own);
        other.signal();
        EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
        EXPECT_EQ(fetch_int(own), 42);
        other.signal();
      });
}

CUDA_TEST(Ipc, HandlesAreOfMemoryOfCudaMallocAndOfEventsThatWereMadeForIt) {
  cudaIpcMemHandle_t handle;
  void *pinned = nullptr, *managed = nullptr;
  int* const p = device_ints(100);
  ASSERT_CUDA(cudaSuccess, cudaMallocHost(&pinned, 64));
  ASSERT_CUDA(cudaSuccess, cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, pinned));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, managed));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, nullptr));
  // NVIDIA's library writes through the null pointer.
  if (on_simulated_gpu()) {
    EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcGetMemHandle(nullptr, p));
  }
  EXPECT_CUDA(cudaErrorInvalidValue, cudaIpcCloseMemHandle(p));
  std::memset(&handle, 0, sizeof handle);
  void* none = nullptr;
  EXPECT_NE(cudaIpcOpenMemHandle(&none, handle, cudaIpcMemLazyEnablePeerAccess), cudaSuccess);
  cudaEvent_t event = nullptr;
  cudaIpcEventHandle_t of_event;
  ASSERT_CUDA(cudaSuccess, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_NE(cudaIpcGetEventHandle(&of_event, event), cudaSuccess);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaEventCreateWithFlags(&event, cudaEventInterprocess));
  cudaGetLastError();
}

}  // namespace
}  // namespace lockstep::runtime
