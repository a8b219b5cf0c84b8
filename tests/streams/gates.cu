// Gates: operations that wait until the host has prepared what later ones use (watch.cu).
#include "watch.cuh"

namespace lockstep::streams {
namespace {

__global__ void sum_up(const int* x, int n, int* sum) {
  for (int i = 0; i < n; ++i) *sum += x[i];
}
__global__ void await(int* flag) {
  while (*static_cast<volatile int*>(flag) == 0) {
  }
  __threadfence_system();
}

// A copy whose source the host fills before it opens the gate.
struct Held {
  Pinned flag{0}, source{0};
  Ints x{0};
  Stream a{cudaStreamNonBlocking};

  void copy(cudaStream_t stream) {
    cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, stream);
  }
  void open(unsigned pause = 0) {
    usleep(pause);
    for (int i = 0; i < kN; ++i) store_now(source + i, 7 + i);
    __atomic_store_n(static_cast<int*>(flag), 1, __ATOMIC_RELEASE);
    want(x.holds(7));
  }
};

WATCH("right", copy_behind_a_kernel_that_waits) {
  for (const unsigned pause : {0u, kBegun}) {
    Held held;
    await<<<1, 1, 0, held.a>>>(held.flag);
    held.copy(held.a);
    held.open(pause);
  }
}

WATCH("right", copy_behind_a_value) {
  for (const unsigned pause : {0u, kBegun}) {
    Held held;
    wait_for_value(held.a, held.flag, 1);
    held.copy(held.a);
    held.open(pause);
  }
}

WATCH("right", kernel_behind_a_value) {
  Managed x(kN), sum(1);
  Pinned flag(0);
  Stream a;
  wait_for_value(a, flag, 1);
  sum_up<<<1, 1, 0, a>>>(x, kN, sum);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  __atomic_store_n(static_cast<int*>(flag), 1, __ATOMIC_RELEASE);
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kN);
}

void CUDART_CB await_on_the_host(void* flag) {
  while (__atomic_load_n(static_cast<int*>(flag), __ATOMIC_ACQUIRE) == 0) {
  }
}

WATCH("late", copy_behind_a_host_function_that_waits) {
  Held held;
  cudaLaunchHostFunc(held.a, await_on_the_host, static_cast<int*>(held.flag));
  held.copy(held.a);
  held.open();
}

WATCH("right", copy_in_a_stream_behind_the_gate) {
  Held held;
  Stream b(cudaStreamNonBlocking);
  Event event;
  await<<<1, 1, 0, held.a>>>(held.flag);
  cudaEventRecord(event, held.a);
  cudaStreamWaitEvent(b, event);
  held.copy(b);
  held.open();
}

WATCH("race", copy_beside_the_gate) {
  Held held;
  Stream b(cudaStreamNonBlocking);
  await<<<1, 1, 0, held.a>>>(held.flag);
  held.copy(b);
  held.open();
}

// The kernel before the copy has no flag to wait for.
WATCH("race", copy_behind_a_kernel_that_does_not_wait) {
  Held held;
  fill_with<<<1, kN, 0, held.a>>>(held.x, kN, 7);
  held.copy(held.a);
  held.open();
}

// A kernel may wait for a flag, and does not: the copy is compared when it is executed.
WATCH("race", copy_behind_a_kernel_that_sets_a_flag) {
  Held held;
  Ints flag(0);
  set_now<<<1, 1, 0, held.a>>>(flag);
  held.copy(held.a);
  held.open();
}

}  // namespace
}  // namespace lockstep::streams
