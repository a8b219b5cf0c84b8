// Kernels that change memory while they wait: progress counters, rings, queues of work (watch.cu).
// Such a kernel never stands still, and the host or another kernel must go on beside it.
#include <chrono>
#include <thread>

#include "watch.cuh"

namespace lockstep::streams {
namespace {

__device__ int look(const int* at) { return *static_cast<const volatile int*>(at); }
__device__ void publish(int* at, int value) { *static_cast<volatile int*>(at) = value; }
__device__ void keep_in_memory() { asm volatile("" ::: "memory"); }

__global__ void beat_until(const int* stop, int* beat) {
  for (int n = 1; look(stop) == 0; ++n) publish(beat, n);
}
__global__ void count_until(int* stop, int* beat) {
  while (atomicAdd_system(stop, 0) == 0) atomicAdd_system(beat, 1);
}
__global__ void beat_then_sum(const int* stop, int* beat, const int* x, int n, int* sum) {
  for (int turn = 1; look(stop) == 0; ++turn) publish(beat, turn);
  __threadfence_system();
  for (int i = 0; i < n; ++i) *sum += x[i];
}

int acquire(const int* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
void release(int* at, int value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
void await_beats(const int* beat, int count = 3) {
  while (acquire(beat) < count) {
  }
}

// ---- the host stops a kernel --------------------------------------------------------------------

WATCH("right", heartbeat_until_the_host_stops_it) {
  Managed stop(1), beat(1);
  Stream a;
  beat_until<<<1, 1, 0, a>>>(stop, beat);
  await_beats(beat);
  release(stop, 1);
  want(cudaStreamSynchronize(a) == cudaSuccess && acquire(beat) >= 3);
}

WATCH("right", heartbeat_in_mapped_memory) {
  Pinned words(0);
  release(words + 1, 0);
  int* mapped = nullptr;
  want(cudaHostGetDevicePointer(&mapped, words, 0) == cudaSuccess);
  Stream a;
  beat_until<<<1, 1, 0, a>>>(mapped, mapped + 1);
  await_beats(words + 1);
  release(words, 1);
  want(cudaStreamSynchronize(a) == cudaSuccess && acquire(words + 1) >= 3);
}

// The host does not look at the kernel before it stores.
WATCH("right", heartbeat_that_the_host_does_not_watch) {
  Managed stop(1), x(kN), sum(1);
  Ints beat(0);
  Stream a;
  beat_then_sum<<<1, 1, 0, a>>>(stop, beat, x, kN, sum);
  usleep(kBegun);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  release(stop, 1);
  want(cudaStreamSynchronize(a) == cudaSuccess && load_now(sum) == 2 * kN);
}

WATCH("right", heartbeat_by_atomics) {
  Managed words(2);
  Stream a;
  count_until<<<2, kN, 0, a>>>(words, words + 1);
  await_beats(words + 1, 1000);
  release(words, 1);
  want(cudaStreamSynchronize(a) == cudaSuccess && acquire(words + 1) >= 1000);
}

WATCH("right", heartbeats_in_two_streams) {
  Managed stops(2), beats(2);
  Stream a, b;
  beat_until<<<1, 1, 0, a>>>(stops, beats);
  beat_until<<<1, 1, 0, b>>>(stops + 1, beats + 1);
  await_beats(beats);
  await_beats(beats + 1);
  release(stops + 1, 1);
  want(cudaStreamSynchronize(b) == cudaSuccess);
  release(stops, 1);
  want(cudaStreamSynchronize(a) == cudaSuccess);
}

WATCH("right", heartbeat_beside_queries) {
  Managed stop(1), beat(1);
  Stream a;
  beat_until<<<1, 1, 0, a>>>(stop, beat);
  cudaError_t answer = cudaSuccess;
  while ((answer = cudaStreamQuery(a)) == cudaErrorNotReady)
    if (acquire(beat) >= 3) release(stop, 1);
  want(answer == cudaSuccess && acquire(beat) >= 3);
}

// Other streams make progress beside it.
WATCH("right", others_go_on_beside_a_heartbeat) {
  Managed stop(1), beat(1), x(kN);
  Stream a, b;
  beat_until<<<1, 1, 0, a>>>(stop, beat);
  for (int round = 1; round <= 5; ++round) {
    fill_with<<<1, kN, 0, b>>>(x, kN, round);
    want(cudaStreamSynchronize(b) == cudaSuccess && sum_now(x, kN) == round * kN);
  }
  release(stop, 1);
  want(cudaStreamSynchronize(a) == cudaSuccess);
}

// What follows the kernel in its stream is ordered after what the host has done until then.
// `looks`: the host looks before the kernel has begun.
void copy_behind_a_heartbeat_in(cudaStream_t stream, bool looks) {
  Managed stop(1), beat(1);
  Pinned source(0);
  Ints x(0);
  beat_until<<<1, 1, 0, stream>>>(stop, beat);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, stream);
  looks ? await_beats(beat) : static_cast<void>(usleep(kBegun));
  for (int i = 0; i < kN; ++i) store_now(source + i, 7 + i);
  release(stop, 1);
  want(x.holds(7));
}
WATCH("right", copy_behind_a_heartbeat) {
  Stream a(cudaStreamNonBlocking);
  copy_behind_a_heartbeat_in(a, true);
}
WATCH("right", copy_behind_a_heartbeat_in_the_default_stream) {
  copy_behind_a_heartbeat_in(nullptr, false);
}

// The kernel ends by itself. The host looks at its results while it runs.
__global__ void fill_parts(int* x, int n, int parts, int* progress) {
  for (int part = 0; part < parts; ++part) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[part * n + i] = part + 1;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) publish(progress, part + 1);
  }
}
WATCH("right", progress_that_the_host_reads) {
  constexpr int kParts = 8;
  Managed x(kParts * kN), progress(1);
  Stream a;
  fill_parts<<<1, kN, 0, a>>>(x, kN, kParts, progress);
  for (int part = 0; part < kParts; ++part) {
    await_beats(progress, part + 1);
    want(sum_now(x + part * kN, kN) == (part + 1) * kN);
  }
}

// ---- rings and queues ---------------------------------------------------------------------------

constexpr int kSlots = 8, kItems = 40;

// words: the number of items put, the number taken, a heartbeat.
__global__ void take_items(const int* slots, int* words, int items, int* sum) {
  int turns = 0;
  for (int taken = 0; taken < items; ++taken) {
    while (look(words) == taken) publish(words + 2, ++turns);
    __threadfence_system();
    *sum += slots[taken % kSlots];
    __threadfence_system();
    publish(words + 1, taken + 1);
  }
}
__global__ void put_items(int* slots, int* words, int items) {
  int turns = 0;
  for (int put = 0; put < items; ++put) {
    while (look(words + 1) + kSlots == put) publish(words + 2, ++turns);
    __threadfence_system();
    slots[put % kSlots] = put;
    __threadfence_system();
    publish(words, put + 1);
  }
}
constexpr int kSumOfItems = kItems * (kItems - 1) / 2;

WATCH("right", ring_that_the_host_fills) {
  Managed slots(kSlots), words(3), sum(1);
  Stream a;
  take_items<<<1, 1, 0, a>>>(slots, words, kItems, sum);
  for (int put = 0; put < kItems; ++put) {
    while (acquire(words + 1) + kSlots == put) {
    }
    store_now(slots + put % kSlots, put);
    release(words, put + 1);
  }
  want(cudaStreamSynchronize(a) == cudaSuccess && load_now(sum) == kSumOfItems);
}

WATCH("right", ring_that_a_kernel_fills) {
  Pinned slots(0), words(0);
  for (int i = 0; i < 3; ++i) release(words + i, 0);
  Stream a;
  put_items<<<1, 1, 0, a>>>(slots, words, kItems);
  int sum = 0;
  for (int taken = 0; taken < kItems; ++taken) {
    while (acquire(words) == taken) {
    }
    sum += load_now(slots + taken % kSlots);
    release(words + 1, taken + 1);
  }
  want(cudaStreamSynchronize(a) == cudaSuccess && sum == kSumOfItems);
}

WATCH("right", ring_between_two_kernels) {
  Ints slots(0), words(0);
  Managed sum(1);
  want(cudaMemset(words, 0, 3 * sizeof(int)) == cudaSuccess);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  take_items<<<1, 1, 0, a>>>(slots, words, kItems, sum);
  put_items<<<1, 1, 0, b>>>(slots, words, kItems);
  want(cudaDeviceSynchronize() == cudaSuccess && load_now(sum) == kSumOfItems);
}

// Blocks of a persistent kernel take tasks from a list that grows. words: the number of tasks, or
// its complement when there will be no more; the number of tasks done. Each block has a heartbeat.
__global__ void serve_tasks(int* words, int* next, int* beats, int* results) {
  __shared__ int task, end;
  for (;;) {
    if (threadIdx.x == 0) {
      task = atomicAdd(next, 1);
      int count = look(words);
      for (int n = 1; count >= 0 && count <= task; count = look(words))
        publish(beats + blockIdx.x, n++);
      end = task >= (count < 0 ? ~count : count);
      __threadfence_system();
    }
    __syncthreads();
    if (end) return;
    results[task * blockDim.x + threadIdx.x] = task + threadIdx.x;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd_system(words + 1, 1);
  }
}
void use_tasks(int* words) {
  constexpr int kTasks = 12, kBlocks = 3;
  Ints next(0), beats(0);
  Managed results(kTasks * kN);
  Stream a;
  serve_tasks<<<kBlocks, kN, 0, a>>>(words, next, beats, results);
  for (int task = 1; task <= kTasks; ++task) {
    release(words, task);
    if (task % 4 == 0) await_beats(words + 1, task);
  }
  release(words, ~kTasks);
  want(cudaStreamSynchronize(a) == cudaSuccess && acquire(words + 1) == kTasks);
  for (int i = 0; i < kTasks * kN; ++i) want(load_now(results + i) == i / kN + i % kN);
}
WATCH("right", tasks_in_managed_memory) {
  Managed words(2);
  use_tasks(words);
}
WATCH("right", tasks_in_pinned_memory) {
  Pinned words(0);
  release(words + 1, 0);
  use_tasks(words);
}

// ---- others stop a kernel while the host waits --------------------------------------------------

WATCH("right", heartbeat_until_a_kernel_stops_it) {
  Ints words(0);
  cudaMemset(words, 0, 2 * sizeof(int));
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  beat_until<<<1, 1, 0, a>>>(words, words + 1);
  set_now<<<1, 1, 0, b>>>(words);
  want(cudaStreamSynchronize(a) == cudaSuccess);
}

WATCH("right", heartbeat_until_a_host_function_stops_it) {
  Managed stop(1), beat(1);
  Stream a, b;
  beat_until<<<1, 1, 0, a>>>(stop, beat);
  cudaLaunchHostFunc(
      b, [](void* at) { release(static_cast<int*>(at), 1); }, static_cast<int*>(stop));
  want(cudaDeviceSynchronize() == cudaSuccess);
}

// The thread's accesses to protected pages are let through after 10 s, whatever the kernel does.
WATCH("right", heartbeat_until_another_thread_stops_it) {
  const auto begin = std::chrono::steady_clock::now();
  Managed stop(1), beat(1);
  Stream a;
  beat_until<<<1, 1, 0, a>>>(stop, beat);
  std::thread other([&] {
    await_beats(beat);
    release(stop, 1);
  });
  want(cudaStreamSynchronize(a) == cudaSuccess);
  other.join();
  want(std::chrono::steady_clock::now() - begin < std::chrono::seconds(9));
}

// ---- mistakes -----------------------------------------------------------------------------------

__global__ void beat_until_a_plain_flag(const int* stop, int* beat) {
  for (int n = 1; *stop == 0; ++n) {
    publish(beat, n);
    keep_in_memory();
  }
}
WATCH("race", plain_flag_beside_a_heartbeat) {
  Managed stop(1), beat(1);
  Stream a;
  beat_until_a_plain_flag<<<1, 1, 0, a>>>(stop, beat);
  usleep(kBegun);
  release(stop, 1);
  cudaStreamSynchronize(a);
}

__global__ void beat_plainly_until(const int* stop, int* beat) {
  while (look(stop) == 0) {
    *beat += 1;
    keep_in_memory();
  }
}
WATCH("race", plain_heartbeat) {
  Managed stop(1), beat(1);
  Stream a;
  beat_plainly_until<<<1, 1, 0, a>>>(stop, beat);
  usleep(kBegun);
  want(acquire(beat) != 0);
  release(stop, 1);
  cudaStreamSynchronize(a);
}

// The kernel polls the two words apart.
__global__ void beat_until_both(const int* stops, int* beat) {
  for (int n = 1; look(stops) == 0 || look(stops + 1) == 0; ++n) publish(beat, n);
}
WATCH("race", flag_of_two_words) {
  using Words = long long __attribute__((aligned(4)));
  Managed stops(3), beat(1);
  Stream a;
  beat_until_both<<<1, 1, 0, a>>>(stops + 1, beat);
  usleep(kBegun);
  *reinterpret_cast<volatile Words*>(stops + 1) = 0x1'0000'0001;
  cudaStreamSynchronize(a);
}

// The data come after the flag that the kernel has read, and it waits for something else. That the
// host looks at the heartbeat afterwards informs the host, and not the kernel.
__global__ void await_then_beat_and_sum(const int* go, const int* stop, int* beat, const int* x,
                                        int n, int* sum) {
  while (look(go) == 0) {
  }
  for (int turn = 1; look(stop) == 0; ++turn) publish(beat, turn);
  __threadfence_system();
  for (int i = 0; i < n; ++i) *sum += x[i];
}
WATCH("race", data_stored_during_a_heartbeat) {
  Managed go(1), x(kN), sum(1), beat(1);
  Ints stop(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  await_then_beat_and_sum<<<1, 1, 0, a>>>(go, stop, beat, x, kN, sum);
  release(go, 1);
  usleep(kBegun);
  set_now<<<1, 1, 0, b>>>(stop);  // executed when the host waits
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  want(acquire(beat) != 0);
  cudaDeviceSynchronize();
}

// Nothing orders the item before the number of items.
__global__ void put_items_without_a_fence(int* slots, int* words, int items) {
  int turns = 0;
  for (int put = 0; put < items; ++put) {
    while (look(words + 1) + kSlots == put) publish(words + 2, ++turns);
    slots[put % kSlots] = put;
    keep_in_memory();
    publish(words, put + 1);
  }
}
WATCH("kernels", ring_without_a_fence) {
  Ints slots(0), words(0);
  Managed sum(1);
  cudaMemset(words, 0, 3 * sizeof(int));
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  take_items<<<1, 1, 0, a>>>(slots, words, kItems, sum);
  put_items_without_a_fence<<<1, 1, 0, b>>>(slots, words, kItems);
  cudaDeviceSynchronize();
}

WATCH("kernels", heartbeat_of_two_kernels) {
  Managed stop(1);
  Ints beat(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  beat_plainly_until<<<1, 1, 0, a>>>(stop, beat);
  beat_plainly_until<<<1, 1, 0, b>>>(stop, beat);
  usleep(kBegun);
  release(stop, 1);
  cudaDeviceSynchronize();
}

WATCH("kernels", copy_onto_the_flag_of_a_heartbeat) {
  Ints words(0), one(1);
  cudaMemset(words, 0, 2 * sizeof(int));
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  beat_until<<<1, 1, 0, a>>>(words, words + 1);
  cudaMemcpyAsync(words, one, sizeof(int), cudaMemcpyDeviceToDevice, b);
  cudaDeviceSynchronize();
}

// The kernel stops its heartbeat, and nobody sets the flag.
__global__ void beat_then_await(int turns, int* beat, const int* flag) {
  for (int n = 1; n <= turns; ++n)
    if (look(flag) == 0) publish(beat, n);
  while (look(flag) == 0) {
  }
}
WATCH("deadlock", heartbeat_that_ends_in_a_deadlock) {
  Ints words(0);
  cudaMemset(words, 0, 2 * sizeof(int));
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  beat_then_await<<<1, 1, 0, a>>>(100'000, words + 1, words);
  beat_then_await<<<1, 1, 0, b>>>(10, words + 2, words + 3);
  cudaDeviceSynchronize();
}

// Two kernels interrupt each other, and nobody stops either.
WATCH("time-limit", heartbeats_that_nobody_stops) {
  Ints words(0);
  cudaMemset(words, 0, 4 * sizeof(int));
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  beat_until<<<1, 1, 0, a>>>(words, words + 1);
  beat_until<<<1, 1, 0, b>>>(words + 2, words + 3);
  cudaDeviceSynchronize();
}

}  // namespace
}  // namespace lockstep::streams
