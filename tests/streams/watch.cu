// Programs in which the host accesses memory next to operations that may access it
// too.
//
//   watch --list            NAME <tab> KIND
//   watch NAME              NAME <tab> right or wrong
//
// watch_test.cc expects of the kind `right`: the right result under every seed, and if each
// operation is executed in its call. Of the kind `late`: the right result by default. Of the kind
// `race`: a mistake that the default schedule shows.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "driver.cuh"
#include "kernels.cuh"

namespace lockstep::streams {
namespace {

struct Watched {
  const char* kind;
  const char* name;
  void (*run)();
};
std::vector<Watched>& programs() {
  static std::vector<Watched> all;
  return all;
}

#define WATCH(kind, name)                                                      \
  void name();                                                                 \
  const bool added_##name = (programs().push_back({kind, #name, name}), true); \
  void name()

int load_now(const int* x) { return *static_cast<const volatile int*>(x); }
void store_now(int* x, int value) { *static_cast<volatile int*>(x) = value; }
int sum_now(const int* x, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += load_now(x + i);
  return sum;
}

// Zeroed managed memory; the destructor waits for the device.
class Managed {
 public:
  explicit Managed(size_t n) {
    cudaMallocManaged(&data_, n * sizeof(int));
    std::memset(data_, 0, n * sizeof(int));
  }
  ~Managed() {
    cudaDeviceSynchronize();
    cudaFree(data_);
  }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  operator int*() const { return data_; }

 private:
  int* data_ = nullptr;
};

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
__global__ void sum_up(const int* x, int n, int* sum) {
  for (int i = 0; i < n; ++i) *sum += x[i];
}
__global__ void set_now(int* flag) {
  __threadfence();
  atomicExch(flag, 1);
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
__global__ void fill_with(int* x, int n, int value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}

// Microseconds after which a kernel that polls has begun (the attendant's first look comes after
// 20 ms without a call).
constexpr unsigned kBegun = 100'000;
// Elements of one page, more than the accesses that one page's protection lasts for.
constexpr int kMany = 256;

// ---- flags --------------------------------------------------------------------------------------

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

// ---- gates: operations that wait until the host has prepared what later ones use ----------------

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

// ---- parts of an allocation ---------------------------------------------------------------------

WATCH("right", other_half_of_managed_memory) {
  Managed x(2 * kN);
  Stream a;
  fill_with<<<1, kN, 0, a>>>(x, kN, 7);
  for (int i = 0; i < kN; ++i) store_now(x + kN + i, 5);
  want(sum_now(x + kN, kN) == 5 * kN);
  cudaDeviceSynchronize();
  want(sum_now(x, kN) == 7 * kN);
}

WATCH("race", last_element_of_the_kernels_half) {
  Managed x(2 * kN);
  Stream a;
  fill_with<<<1, kN, 0, a>>>(x, kN, 7);
  store_now(x + kN - 1, 5);
}

// The kernel's parameter points to a table, and the table to a list of two: no parameter points to
// what the kernel changes.
struct Node {
  Node* next;
  int* words;
};
__global__ void fill_last(Node* const* table, int value) {
  const Node* node = table[-1];
  while (node->next != nullptr) node = node->next;
  node->words[threadIdx.x] = value;
}
template <bool kWaits>
void fill_the_end_of_a_list() {
  Managed words(kN);
  Node **table, *nodes;
  cudaMallocManaged(&table, 2 * sizeof(Node*));
  cudaMallocHost(&nodes, 2 * sizeof(Node));
  nodes[0] = {nodes + 1, nullptr};
  nodes[1] = {nullptr, words};
  table[0] = nodes;
  Stream a;
  fill_last<<<1, kN, 0, a>>>(table + 1, 7);
  if (kWaits) cudaStreamSynchronize(a);
  want(load_now(words + kN - 1) == (kWaits ? 7 : 0));
  cudaStreamSynchronize(a);
  cudaFreeHost(nodes);
  cudaFree(table);
}
WATCH("right", end_of_a_list) { fill_the_end_of_a_list<true>(); }
WATCH("race", end_of_a_list_early) { fill_the_end_of_a_list<false>(); }

// A list of more allocations than are followed: the kernel has all of them nevertheless.
WATCH("right", list_of_many_allocations) {
  std::vector<Node*> nodes(200);
  Managed words(kN);
  for (size_t i = nodes.size(); i-- > 0;) {
    cudaMallocManaged(&nodes[i], sizeof(Node));
    *nodes[i] = {i + 1 < nodes.size() ? nodes[i + 1] : nullptr, words};
  }
  Node** table;
  cudaMallocManaged(&table, sizeof(Node*));
  table[0] = nodes[0];
  Stream a;
  fill_last<<<1, kN, 0, a>>>(table + 1, 7);
  for (Node* const node : nodes) want(node->words == words);
  cudaStreamSynchronize(a);
  want(sum_now(words, kN) == 7 * kN);
  for (Node* const node : nodes) cudaFree(node);
  cudaFree(table);
}

WATCH("right", other_rows_of_a_copy) {
  Ints x(7);
  Pinned y(0);
  Stream a;
  cudaMemcpyAsync(y, x, kBytes / 2, cudaMemcpyDeviceToHost, a);
  for (int i = kN / 2; i < kN; ++i) store_now(y + i, 5);
  cudaStreamSynchronize(a);
  want(load_now(y) == 7 && load_now(y + kN - 1) == 5);
}

WATCH("right", source_read_while_it_is_copied) {
  Ints x(0);
  Pinned source(7);
  Stream a;
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, a);
  want(load_now(source) == 7 && load_now(source + kN - 1) == 7 + kN - 1);
  want(x.holds(7));
}

// Larger than the limit for checks of single accesses.
WATCH("right", megabytes_beside_a_kernel) {
  constexpr int kMany = 4 << 20;
  Managed x(kMany);
  Stream a;
  for (int round = 1; round <= 3; ++round) {
    fill_with<<<1, kN, 0, a>>>(x, kN, round);
    for (int i = kN; i < kMany; i += 64) store_now(x + i, round);
    cudaDeviceSynchronize();
    want(load_now(x) == round && load_now(x + kMany - 64) == round);
  }
}

// ---- other code that accesses it ----------------------------------------------------------------

WATCH("race", memcpy_too_early) {
  Ints x(7);
  Pinned y(0);
  std::vector<int> copy(kN);
  Stream a;
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  std::memcpy(copy.data(), y, kBytes);
  want(copy != from(7));
  cudaStreamSynchronize(a);
}

WATCH("race", node_of_a_graph) {
  Ints x(7);
  Pinned y(0);
  Stream a;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, a);
  want(load_now(y + 3) == 3);
  cudaStreamSynchronize(a);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

// An operation uses another part of the page: the system call must not fail.
WATCH("right", read_and_write_beside_a_kernel) {
  Managed x(2 * kN);
  Stream a;
  int ends[2];
  want(pipe(ends) == 0);
  const std::vector<int> data = from(5);
  for (int round = 0; round < 2; ++round) {
    fill_with<<<1, kN, 0, a>>>(x, kN, 7);
    want(write(ends[1], data.data(), kBytes) == static_cast<ssize_t>(kBytes));
    want(read(ends[0], x + kN, kBytes) == static_cast<ssize_t>(kBytes));
    fill_with<<<1, kN, 0, a>>>(x, kN, 7);
    want(write(ends[1], x + kN, kBytes) == static_cast<ssize_t>(kBytes));
    std::vector<int> back(kN);
    want(read(ends[0], back.data(), kBytes) == static_cast<ssize_t>(kBytes));
    want(back == data);
  }
  close(ends[0]);
  close(ends[1]);
}

WATCH("right", files_beside_a_kernel) {
  constexpr int kMany = 1 << 16;
  Managed x(2 * kMany);
  Stream a;
  std::FILE* const file = std::tmpfile();
  std::vector<int> data(kMany, 3);
  want(std::fwrite(data.data(), sizeof(int), kMany, file) == kMany);
  std::rewind(file);
  fill_with<<<1, kN, 0, a>>>(x, kMany, 7);
  want(std::fread(x + kMany, sizeof(int), kMany, file) == kMany);
  fill_with<<<1, kN, 0, a>>>(x, kMany, 7);
  want(std::fwrite(x + kMany, sizeof(int), kMany, file) == kMany);
  std::fclose(file);
  cudaDeviceSynchronize();
  want(load_now(x + kMany) == 3 && load_now(x + 2 * kMany - 1) == 3);
}

WATCH("race", read_over_a_source) {
  Ints x(0);
  Pinned source(7);
  Stream a;
  int ends[2];
  want(pipe(ends) == 0);
  const std::vector<int> data = from(5);
  want(write(ends[1], data.data(), kBytes) == static_cast<ssize_t>(kBytes));
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, a);
  want(read(ends[0], source, kBytes) == static_cast<ssize_t>(kBytes));
  cudaStreamSynchronize(a);
  close(ends[0]);
  close(ends[1]);
}

// ---- handlers, threads, processes ---------------------------------------------------------------

sigjmp_buf behind_the_fault;
volatile int faults = 0;
void on_fault(int, siginfo_t*, void*) {
  faults = faults + 1;
  siglongjmp(behind_the_fault, 1);
}
bool faults_at_null() {
  const int before = faults;
  if (sigsetjmp(behind_the_fault, 1) == 0) {
    int* volatile nowhere = nullptr;
    *static_cast<volatile int*>(nowhere) = 1;
  }
  return faults == before + 1;
}
void install() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  want(sigaction(SIGSEGV, &action, nullptr) == 0);
}
void use_both(int* x, Stream& a) {
  fill_with<<<1, kN, 0, a>>>(x, kN, 7);
  for (int i = 0; i < kN; ++i) {
    store_now(x + kN + i, 5);
    if (i % 16 == 0) want(faults_at_null());
  }
  cudaDeviceSynchronize();
  want(sum_now(x, 2 * kN) == 12 * kN);
}

WATCH("right", handler_of_the_program_before) {
  install();
  Managed x(2 * kN);
  Stream a;
  use_both(x, a);
  use_both(x, a);
}

WATCH("right", handler_of_the_program_after) {
  Managed x(2 * kN);
  Stream a;
  fill_with<<<1, kN, 0, a>>>(x, kN, 7);
  install();
  struct sigaction there {};
  want(sigaction(SIGSEGV, nullptr, &there) == 0 && there.sa_sigaction == on_fault);
  store_now(x + kN, 5);
  want(faults_at_null());
  use_both(x, a);
}

WATCH("right", handler_on_a_small_stack) {
  std::vector<char> stack(16 << 10);
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  want(sigaltstack(&own, nullptr) == 0);
  Managed x(2 * kN);
  Stream a;
  fill_with<<<1, kN, 0, a>>>(x, kN, 7);
  store_now(x + kN, 5);
  want(load_now(x + kN) == 5);
  cudaDeviceSynchronize();
  own.ss_flags = SS_DISABLE;
  sigaltstack(&own, nullptr);
}

WATCH("race", reported_from_a_small_stack) {
  std::vector<char> stack(16 << 10);
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  want(sigaltstack(&own, nullptr) == 0);
  Ints x(7);
  Pinned y(0);
  Stream a;
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  want(load_now(y + 3) == 3);
  cudaStreamSynchronize(a);
  own.ss_flags = SS_DISABLE;
  sigaltstack(&own, nullptr);
}

WATCH("right", threads_that_block_all_signals) {
  Managed x(5 * kN);
  Stream a;
  fill_with<<<1, kN, 0, a>>>(x, kN, 7);
  std::vector<std::thread> threads;
  for (int t = 1; t < 5; ++t) {
    threads.emplace_back([&x, t] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      for (int i = 0; i < kN; ++i) store_now(x + t * kN + i, 5);
    });
  }
  for (std::thread& t : threads) t.join();
  cudaDeviceSynchronize();
  want(sum_now(x, 5 * kN) == (7 + 4 * 5) * kN);
}

// A kernel that runs longer than the attendant waits before it executes one, and than an access of
// the host waits for other threads of the host.
__global__ void compute_long(int* x, unsigned rounds) {
  unsigned value = threadIdx.x;
  for (unsigned i = 0; i < rounds; ++i) value = value * 1664525 + (value >> 3 ^ i);
  x[threadIdx.x] = static_cast<int>(value | 1);
}

WATCH("race", read_while_a_kernel_runs) {
  Managed x(kN);
  Stream a;
  compute_long<<<1, kN, 0, a>>>(x, 1 << 18);
  usleep(60'000);  // the attendant is executing the kernel
  want(load_now(x) != 0);
}

WATCH("right", child_that_reads) {
  Managed x(2 * kN);
  store_now(x + kN, 5);
  Stream a;
  fill_with<<<1, kN, 0, a>>>(x, kN, 7);
  const pid_t child = fork();
  if (child == 0) _exit(load_now(x + kN) == 5 ? 7 : 1);
  int status = 0;
  want(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  cudaDeviceSynchronize();
  want(sum_now(x, kN) == 7 * kN);
}

WATCH("right", copied_out_after_the_wait) {
  Ints x(7);
  Pinned y(0);
  Stream a, b;
  for (int i = 0; i < 100; ++i) {
    store_now(y, -1);
    cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
    hold<<<1, 1, 0, b>>>(0);
    cudaStreamSynchronize(a);
    want(y.holds_now(7));
  }
}

}  // namespace
}  // namespace lockstep::streams

int main(int argc, char** argv) {
  using lockstep::streams::programs;
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "--list") == 0) {
    for (const auto& p : programs()) std::printf("%s\t%s\n", p.name, p.kind);
    return 0;
  }
  bool found = false;
  for (const auto& p : programs()) {
    if (std::strcmp(argv[1], p.name) != 0 && std::strcmp(argv[1], p.kind) != 0) continue;
    found = true;
    lockstep::streams::right = true;
    p.run();
    cudaDeviceSynchronize();
    std::printf("%s\t%s\n", p.name, lockstep::streams::right ? "right" : "wrong");
  }
  return found ? 0 : 2;
}
