// The program's other code beside protected pages: functions of the C library, signal handlers,
// threads and processes (watch.cu).
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <thread>

#include "watch.cuh"

namespace lockstep::streams {
namespace {

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
