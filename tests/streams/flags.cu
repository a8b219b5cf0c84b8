// Flags by which the host and an operation inform each other (watch.cu).
#include "watch.cuh"

namespace lockstep::streams {
namespace {

__global__ void produce_and_publish(int* x, int value, int* flag) {
  x[threadIdx.x] = value;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *static_cast<volatile int*>(flag) = 1;
}
__global__ void await_and_sum(int* flag, const int* x, int n, int* sum) {
  while (*static_cast<volatile int*>(flag) == 0) {
  }
  __threadfence_system();
  for (int i = 0; i < n; ++i) *sum += x[i];
}
__global__ void await_two_and_sum(int* first, int* seen, int* second, const int* x, int n,
                                  int* sum) {
  while (*static_cast<volatile int*>(first) == 0) {
  }
  *static_cast<volatile int*>(seen) = 1;
  while (*static_cast<volatile int*>(second) == 0) {
  }
  __threadfence_system();
  for (int i = 0; i < n; ++i) *sum += x[i];
}
__global__ void publish_then_await_and_sum(int* ready, int* flag, const int* x, int n, int* sum) {
  __threadfence_system();
  *static_cast<volatile int*>(ready) = 1;
  while (*static_cast<volatile int*>(flag) == 0) {
  }
  __threadfence_system();
  for (int i = 0; i < n; ++i) *sum += x[i];
}
__global__ void await_and_sum_twice(int* flags, const int* x, int n, int* sum) {
  for (int part = 0; part < 2; ++part) {
    while (static_cast<volatile int*>(flags)[part] == 0) {
    }
    __threadfence_system();
    for (int i = 0; i < n; ++i) sum[part] += x[part * n + i];
  }
}
__global__ void count_and_sum(int* counter, const int* x, int n, int* sum) {
  atomicAdd_system(counter, 1);
  for (int i = 0; i < n; ++i) *sum += x[i];
}
// Serves requests 1, 2, ...: doubles the data, then replies. A negative request ends it.
__global__ void serve(int* request, int* reply, int* data, int n) {
  for (int round = 1;; ++round) {
    int wanted;
    while ((wanted = *static_cast<volatile int*>(request)) != round && wanted >= 0) {
    }
    if (wanted < 0) return;
    __threadfence_system();
    for (int i = 0; i < n; ++i) data[i] *= 2;
    __threadfence_system();
    *static_cast<volatile int*>(reply) = round;
  }
}

// Elements of one page, more than the accesses that one page's protection lasts for.
constexpr int kMany = 256;

WATCH("right", flag_that_a_kernel_sets) {
  Managed x(kN), flag(1);
  Stream a;
  produce_and_publish<<<1, kN, 0, a>>>(x, 7, flag);
  while (load_now(flag) == 0) {
  }
  want(sum_now(x, kN) == 7 * kN);
}

WATCH("right", flag_and_data_in_one_page) {
  Managed x(2 * kN);
  Stream a;
  produce_and_publish<<<1, kN, 0, a>>>(x, 7, x + kN);
  while (load_now(x + kN) == 0) {
  }
  want(sum_now(x, kN) == 7 * kN);
}

WATCH("right", flag_that_the_host_sets_before_the_kernel_begins) {
  Managed x(kN), flag(1), sum(1);
  Stream a;
  await_and_sum<<<1, 1, 0, a>>>(flag, x, kN, sum);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  __atomic_store_n(static_cast<int*>(flag), 1, __ATOMIC_RELEASE);
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kN);
}

// The kernel begins between the stores of the data and that of the flag.
WATCH("right", flag_that_the_host_sets_while_the_kernel_polls) {
  Managed x(kN), flag(1), sum(1);
  Stream a;
  await_and_sum<<<1, 1, 0, a>>>(flag, x, kN, sum);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  usleep(kBegun);
  __atomic_store_n(static_cast<int*>(flag), 1, __ATOMIC_RELEASE);
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kN);
}

// The second flag is set before the kernel looks at it for the first time.
WATCH("right", flag_that_the_host_sets_while_the_kernel_polls_another) {
  Managed x(kN), first(1), seen(1), second(1), sum(1);
  Stream a;
  await_two_and_sum<<<1, 1, 0, a>>>(first, seen, second, x, kN, sum);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  usleep(kBegun);
  __atomic_store_n(static_cast<int*>(second), 1, __ATOMIC_RELEASE);
  __atomic_store_n(static_cast<int*>(first), 1, __ATOMIC_RELEASE);
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kN);
}

// The kernel is under way when the host stores the data.
WATCH("right", data_and_flag_that_the_host_sets_while_the_kernel_polls) {
  Managed x(kN), flag(1), sum(1);
  Stream a;
  await_and_sum<<<1, 1, 0, a>>>(flag, x, kN, sum);
  usleep(kBegun);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  __atomic_store_n(static_cast<int*>(flag), 1, __ATOMIC_RELEASE);
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kN);
}

// The page is unprotected after 64 of these stores, so that of the flag is not seen.
WATCH("right", flag_behind_many_stores_to_its_page) {
  Managed x(kMany + 1), sum(1);
  Stream a;
  await_and_sum<<<1, 1, 0, a>>>(x + kMany, x, kMany, sum);
  for (int i = 0; i < kMany; ++i) store_now(x + i, 2);
  __atomic_store_n(x + kMany, 1, __ATOMIC_RELEASE);
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kMany);
}

// A later launch protects that page again.
WATCH("right", flag_on_a_page_that_is_protected_again) {
  Managed x(kMany + 1), sum(1), other(1);
  Stream a, b;
  await_and_sum<<<1, 1, 0, a>>>(x + kMany, x, kMany, sum);
  for (int i = 0; i < kMany; ++i) store_now(x + i, 2);
  __atomic_store_n(x + kMany, 1, __ATOMIC_RELEASE);
  await_and_sum<<<1, 1, 0, b>>>(x + kMany, x, 1, other);
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kMany && load_now(other) == 2);
}

// The host knows the kernel's first part when it sets the flag, and stored the data before.
WATCH("right", flag_in_return_for_a_flag) {
  Managed x(kN), ready(1), flag(1), sum(1);
  Stream a;
  publish_then_await_and_sum<<<1, 1, 0, a>>>(ready, flag, x, kN, sum);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  while (__atomic_load_n(static_cast<int*>(ready), __ATOMIC_ACQUIRE) == 0) {
  }
  __atomic_store_n(static_cast<int*>(flag), 1, __ATOMIC_RELEASE);
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kN);
}

// The host prepares the second part while the kernel reads the first.
WATCH("right", two_parts_and_two_flags) {
  Managed x(2 * kN), flags(2), sum(2);
  Stream a;
  await_and_sum_twice<<<1, 1, 0, a>>>(flags, x, kN, sum);
  for (int part = 0; part < 2; ++part) {
    for (int i = 0; i < kN; ++i) store_now(x + part * kN + i, 2);
    __atomic_store_n(flags + part, 1, __ATOMIC_RELEASE);
    usleep(kBegun);
  }
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kN && load_now(sum + 1) == 2 * kN);
}

// The flag is set by an operation that is put behind the stores.
WATCH("right", flag_that_an_operation_writes) {
  Managed x(kN), sum(1);
  Ints flag(0);
  Stream a, b;
  await_and_sum<<<1, 1, 0, a>>>(flag, x, kN, sum);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  usleep(kBegun);
  set_now<<<1, 1, 0, b>>>(flag);
  cudaDeviceSynchronize();
  want(load_now(sum) == 2 * kN);
}

WATCH("right", requests_and_replies) {
  Managed request(1), reply(1), data(kN);
  for (int i = 0; i < kN; ++i) data[i] = 1;
  Stream a;
  serve<<<1, 1, 0, a>>>(request, reply, data, kN);
  for (int round = 1, expected = kN; round <= 4; ++round) {
    __atomic_store_n(static_cast<int*>(request), round, __ATOMIC_RELEASE);
    while (__atomic_load_n(static_cast<int*>(reply), __ATOMIC_ACQUIRE) != round) {
    }
    expected *= 2;
    want(sum_now(data, kN) == expected);
    for (int i = 0; i < kN; ++i) store_now(data + i, load_now(data + i) + 1);
    expected += kN;
  }
  __atomic_store_n(static_cast<int*>(request), -1, __ATOMIC_RELEASE);
}

WATCH("right", flag_that_a_copy_brings) {
  Ints one(1);
  Pinned flag(0);
  Stream a;
  cudaMemcpyAsync(flag, one, sizeof(int), cudaMemcpyDeviceToHost, a);
  while (load_now(flag) == 0) {
  }
  want(load_now(flag) == 1);
}

// A read between queries is no wait.
WATCH("right", flag_looked_at_between_queries) {
  Ints one(1);
  Pinned flag(0);
  Stream a;
  cudaMemcpyAsync(flag, one, sizeof(int), cudaMemcpyDeviceToHost, a);
  while (load_now(flag) == 0) cudaStreamQuery(a);
  want(load_now(flag) == 1);
}

// The kernel is under way when the host stores the data, and waits for something else.
WATCH("race", data_stored_while_a_kernel_waits) {
  Managed x(kN), sum(1);
  Ints flag(0);
  Stream a, b;
  await_and_sum<<<1, 1, 0, a>>>(flag, x, kN, sum);
  usleep(kBegun);
  set_now<<<1, 1, 0, b>>>(flag);  // executed when the host waits
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  cudaDeviceSynchronize();
  want(true);
}

// An atomic in memory that the host does not access is no flag.
WATCH("race", data_stored_beside_a_counter) {
  Managed x(kN), counter(1), sum(1);
  Stream a;
  count_and_sum<<<1, 1, 0, a>>>(counter, x, kN, sum);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  cudaDeviceSynchronize();
  want(true);
}

// The data come after the flag, which the kernel has read.
WATCH("race", data_stored_after_the_flag) {
  Managed x(kN), go(1), seen(1), sum(1);
  Ints flag(0);
  Stream a, b;
  await_two_and_sum<<<1, 1, 0, a>>>(go, seen, flag, x, kN, sum);
  __atomic_store_n(static_cast<int*>(go), 1, __ATOMIC_RELEASE);
  while (load_now(seen) == 0) {
  }
  set_now<<<1, 1, 0, b>>>(flag);
  for (int i = 0; i < kN; ++i) store_now(x + i, 2);
  cudaDeviceSynchronize();
  want(true);
}

WATCH("race", scalar_read_early) {
  Ints one(1);
  Pinned result(0);
  Stream a;
  cudaMemcpyAsync(result, one, sizeof(int), cudaMemcpyDeviceToHost, a);
  want(load_now(result) == 0);
  cudaStreamSynchronize(a);
}

}  // namespace
}  // namespace lockstep::streams
