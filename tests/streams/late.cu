// Programs that show when each operation is executed, and by which thread.
//
//   late --list            NAME <tab> KIND
//   late NAME              NAME <tab> right or wrong
//   late KIND              the same for all programs of the kind, one after another
//
// KIND is the outcome that late_test.cc expects:
//
//   right     the result is right, without a finding
//   race      the result is right, with a race
//   found     the default schedule shows its race
//   answers   the program checks the errors of calls
//   error     the program waits for a kernel's error
//   exit      the program does not wait for a kernel's error
//   deadlock  the program never ends on a GPU
//   hint      the finding names an operation not yet executed
//   left      the program ends before its host functions run
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "late.cuh"

namespace lockstep::streams {
namespace {

// Waits for the value `mine`, then stores the next value for the other side; `times` times.
__global__ void take_turns(int* flag, int mine, int times) {
  for (int i = 0; i < times; ++i, mine += 2) {
    while (*static_cast<volatile int*>(flag) != mine) {
    }
    __threadfence_system();
    *static_cast<volatile int*>(flag) = mine + 1;
  }
}
__global__ void store_beyond(int* x) { x[1 << 28] = 1; }
__global__ void count(int* x) { *x += 1; }

// ---- a stream waits for a value -----------------------------------------------------------------

LATE("right", value_written_by_a_later_operation) {
  Ints flag(0), x(0), y(0);
  Stream a(kFree), b(kFree);
  wait_for_value(a, flag, 5);
  consume<<<1, kN, 0, a>>>(x, y);
  produce<<<1, kN, 0, b>>>(x, 7, 0);
  write_value(b, flag, 5);
  cudaStreamSynchronize(a);
  want(y.holds(7));
}

LATE("right", value_copied_later) {
  Ints flag(0), five(5), x(7), y(0);
  Stream a(kFree), b(kFree);
  wait_for_value(a, flag, 5);
  consume<<<1, kN, 0, a>>>(x, y);
  cudaMemcpyAsync(flag, five, sizeof(int), cudaMemcpyDeviceToDevice, b);
  want(y.holds(7));
}

LATE("right", value_stored_by_the_host) {
  Ints x(7), y(0);
  Pinned flag(0);
  Stream a(kFree);
  wait_for_value(a, flag, 5);
  consume<<<1, kN, 0, a>>>(x, y);
  want(cudaStreamQuery(a) == cudaErrorNotReady);
  __atomic_store_n(static_cast<int*>(flag), 5, __ATOMIC_RELEASE);
  want(y.holds(7));
}

LATE("right", value_set_by_a_kernel) {
  Ints flag(0), x(0), y(0);
  Stream a(kFree), b(kFree);
  wait_for_value(a, flag, 5);
  consume<<<1, kN, 0, a>>>(x, y);
  produce<<<1, kN, 0, b>>>(x, 7, 0);
  set<<<1, 1, 0, b>>>(flag, 5);
  cudaStreamSynchronize(a);
  want(y.holds(7));
}

// Two streams alternate.
LATE("right", values_in_turn) {
  Ints flag(0), x(0);
  Stream a(kFree), b(kFree);
  for (int i = 0; i < 20; i += 2) {
    wait_for_value(b, flag, i + 1);
    count<<<1, 1, 0, b>>>(x);
    write_value(b, flag, i + 2);
  }
  for (int i = 0; i < 20; i += 2) {
    wait_for_value(a, flag, i);
    count<<<1, 1, 0, a>>>(x);
    write_value(a, flag, i + 1);
  }
  want(x.fetch()[0] == 20);
}

LATE("deadlock", value_that_nobody_writes) {
  Ints flag(0), x(7), y(0);
  Stream a(kFree);
  wait_for_value(a, flag, 5);
  consume<<<1, kN, 0, a>>>(x, y);
  cudaDeviceSynchronize();
}

LATE("deadlock", two_values_in_a_circle) {
  Ints flags(0);
  Stream a(kFree), b(kFree);
  wait_for_value(a, flags, 5);
  write_value(a, flags + 1, 6);
  wait_for_value(b, flags + 1, 6);
  write_value(b, flags, 5);
  cudaStreamSynchronize(b);
}

// The host would write the value only after its wait.
LATE("deadlock", value_that_the_host_writes_too_late) {
  Pinned flag(0);
  Stream a(kFree);
  wait_for_value(a, flag, 5);
  cudaStreamSynchronize(a);
  __atomic_store_n(static_cast<int*>(flag), 5, __ATOMIC_RELEASE);
}

// ---- a kernel waits -----------------------------------------------------------------------------

LATE("right", kernel_waits_for_a_later_kernel) {
  Ints flag(0), x(0), y(0);
  Stream a(kFree), b(kFree);
  await_and_consume<<<1, kN, 0, a>>>(flag, 5, x, y);
  produce_and_set<<<1, kN, 0, b>>>(x, 7, flag, 5);
  cudaStreamSynchronize(a);
  want(y.holds(7));
}

LATE("right", kernel_waits_for_the_host) {
  Ints x(7), y(0);
  Pinned flag(0);
  Stream a(kFree);
  await<<<1, 1, 0, a>>>(flag, 5);
  consume<<<1, kN, 0, a>>>(x, y);
  want(cudaStreamQuery(a) == cudaErrorNotReady);
  want(cudaStreamQuery(a) == cudaErrorNotReady);
  __atomic_store_n(static_cast<int*>(flag), 5, __ATOMIC_RELEASE);
  want(y.holds(7));
}

LATE("right", kernel_waits_for_a_value) {
  Ints flag(0), x(7), y(0);
  Stream a(kFree), b(kFree);
  await<<<1, 1, 0, a>>>(flag, 5);
  consume<<<1, kN, 0, a>>>(x, y);
  hold<<<1, 1, 0, b>>>(0);
  write_value(b, flag, 5);
  want(y.holds(7));
}

// The program ends, but a copy is no flag: its bytes race with the kernel's reads.
LATE("race", kernel_waits_for_a_copy) {
  Ints flag(0), five(5), x(7), y(0);
  Stream a(kFree), b(kFree);
  await<<<1, 1, 0, a>>>(flag, 5);
  consume<<<1, kN, 0, a>>>(x, y);
  hold<<<1, 1, 0, b>>>(0);
  cudaMemcpyAsync(flag, five, sizeof(int), cudaMemcpyDeviceToDevice, b);
  want(y.holds(7));
}

// A running kernel races with copies that are executed meanwhile.
LATE("found", copied_beside_a_kernel_that_waits) {
  Ints flag(0), x(7), y(0);
  Pinned source(7);
  Stream a(kFree), b(kFree), c(kFree);
  await_and_consume<<<1, kN, 0, a>>>(flag, 5, x, y);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, b);
  set<<<1, 1, 0, c>>>(flag, 5);
  cudaDeviceSynchronize();
}

LATE("right", copied_before_what_a_kernel_waits_for) {
  Ints flag(0), x(0), y(0);
  Pinned source(7);
  Stream a(kFree), b(kFree);
  await_and_consume<<<1, kN, 0, a>>>(flag, 5, x, y);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, b);
  set<<<1, 1, 0, b>>>(flag, 5);
  want(y.holds(7));
}

LATE("right", copied_before_a_value_that_a_kernel_waits_for) {
  Ints flag(0), x(0), y(0);
  Pinned source(7);
  Stream a(kFree), b(kFree);
  await_and_consume<<<1, kN, 0, a>>>(flag, 5, x, y);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, b);
  write_value(b, flag, 5);
  want(y.holds(7));
}

LATE("right", kernel_waits_for_a_host_function) {
  Ints x(7), y(0);
  Pinned flag(0);
  Stream a(kFree), b(kFree);
  await<<<1, 1, 0, a>>>(flag, 5);
  consume<<<1, kN, 0, a>>>(x, y);
  cudaLaunchHostFunc(
      b, [](void* at) { __atomic_store_n(static_cast<int*>(at), 5, __ATOMIC_RELEASE); },
      static_cast<int*>(flag));
  want(y.holds(7));
}

LATE("right", kernels_take_turns) {
  Ints flag(0);
  Stream a(kFree), b(kFree);
  take_turns<<<1, 1, 0, a>>>(flag, 0, 20);
  take_turns<<<1, 1, 0, b>>>(flag, 1, 20);
  want(flag.fetch()[0] == 40);
}

// The host makes no CUDA call in between.
LATE("right", kernel_and_host_take_turns) {
  Pinned flag(0);
  Stream a(kFree);
  take_turns<<<1, 1, 0, a>>>(flag, 0, 20);
  for (int i = 1; i < 40; i += 2) {
    while (load_now(flag) != i) {
    }
    __atomic_store_n(static_cast<int*>(flag), i + 1, __ATOMIC_RELEASE);
  }
  want(cudaDeviceSynchronize() == cudaSuccess && load_now(flag) == 40);
}

LATE("right", branches_of_a_graph_take_turns) {
  Ints flag(0);
  Stream a(kFree), b(kFree);
  Event fork, join;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
  cudaEventRecord(fork, a);
  cudaStreamWaitEvent(b, fork);
  take_turns<<<1, 1, 0, a>>>(flag, 0, 5);
  take_turns<<<1, 1, 0, b>>>(flag, 1, 5);
  cudaEventRecord(join, b);
  cudaStreamWaitEvent(a, join);
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, a);
  want(flag.fetch()[0] == 10);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

// A kernel runs all the time in one stream while another stream makes progress.
LATE("right", others_go_on_beside_a_kernel_that_waits) {
  Ints x(0);
  Pinned stop(0);
  Stream a(kFree), b(kFree);
  await<<<1, 1, 0, a>>>(stop, 1);
  for (int i = 0; i < 10; ++i) {
    count<<<1, 1, 0, b>>>(x);
    want(cudaStreamSynchronize(b) == cudaSuccess);
  }
  __atomic_store_n(static_cast<int*>(stop), 1, __ATOMIC_RELEASE);
  want(x.fetch()[0] == 10);
}

LATE("deadlock", kernel_that_nobody_helps) {
  Ints flag(0);
  Stream a(kFree);
  await<<<1, 1, 0, a>>>(flag, 5);
  cudaStreamSynchronize(a);
}

LATE("deadlock", kernel_waits_for_one_behind_it) {
  Ints flag(0);
  Stream a(kFree);
  await<<<1, 1, 0, a>>>(flag, 5);
  set<<<1, 1, 0, a>>>(flag, 5);
  cudaStreamSynchronize(a);
}

LATE("deadlock", kernels_wait_for_one_another) {
  Ints flags(0);
  Stream a(kFree), b(kFree);
  await<<<1, 1, 0, a>>>(flags, 5);
  set<<<1, 1, 0, a>>>(flags + 1, 6);
  await<<<1, 1, 0, b>>>(flags + 1, 6);
  set<<<1, 1, 0, b>>>(flags, 5);
  cudaDeviceSynchronize();
}

LATE("deadlock", kernel_and_value_wait_for_one_another) {
  Ints flags(0);
  Stream a(kFree), b(kFree);
  await<<<1, 1, 0, a>>>(flags, 5);
  write_value(a, flags + 1, 6);
  wait_for_value(b, flags + 1, 6);
  set<<<1, 1, 0, b>>>(flags, 5);
  cudaDeviceSynchronize();
}

LATE("deadlock", kernel_and_host_wait_for_one_another) {
  Pinned flag(0);
  Stream a(kFree);
  await<<<1, 1, 0, a>>>(flag, 5);
  cudaStreamSynchronize(a);
  __atomic_store_n(static_cast<int*>(flag), 5, __ATOMIC_RELEASE);
}

// ---- errors -------------------------------------------------------------------------------------

LATE("error", error_surfaces_at_the_wait) {
  Ints x(0);
  Stream a;
  store_beyond<<<1, 1, 0, a>>>(x);
  want(cudaGetLastError() == cudaSuccess);
  consume<<<1, kN, 0, a>>>(x, x);
  want(cudaGetLastError() == cudaSuccess);
  want(cudaStreamSynchronize(a) == cudaErrorIllegalAddress);
  want(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

LATE("error", error_surfaces_at_the_blocking_copy) {
  Ints x(0);
  store_beyond<<<1, 1>>>(x);
  int first = 0;
  want(cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
}

// Arguments are checked at the call.
LATE("answers", arguments_are_judged_at_the_call) {
  Ints x(0);
  Pinned y(0);
  Stream a;
  hold<<<1, 1, 0, a>>>(0);
  want(cudaMemcpyAsync(x, y, 1 << 20, cudaMemcpyHostToDevice, a) == cudaErrorInvalidValue);
  want(cudaMemsetAsync(x, 0, 1 << 20, a) == cudaErrorInvalidValue);
  want(cudaStreamSynchronize(a) == cudaSuccess);
  int* p = nullptr;
  cudaMallocAsync(&p, 64, a);
  want(cudaFreeAsync(p, a) == cudaSuccess);
  want(cudaFreeAsync(p, a) == cudaErrorInvalidValue);
  want(cudaMemsetAsync(p, 0, 64, a) == cudaErrorInvalidValue);
  cudaGetLastError();
}

// After an error callbacks are called with it; host functions are not called.
int status_of_callback = -1;
bool was_called = false;
void CUDART_CB keep_status(cudaStream_t, cudaError_t status, void*) { status_of_callback = status; }
void CUDART_CB note_call(void*) { was_called = true; }
LATE("error", callback_with_the_error) {
  Ints x(0);
  Stream a;
  store_beyond<<<1, 1, 0, a>>>(x);
  cudaStreamAddCallback(a, keep_status, nullptr, 0);
  cudaLaunchHostFunc(a, note_call, nullptr);
  want(cudaStreamSynchronize(a) == cudaErrorIllegalAddress);
  want(status_of_callback == cudaErrorIllegalAddress);
  want(!was_called);
}

// ---- the host looks
// ------------------------------------------------------------------------------

LATE("right", stream_queries_end) {
  Ints x(0);
  Stream a, b;
  for (int i = 0; i < 10; ++i) {
    produce<<<1, kN, 0, a>>>(x, i, 0);
    hold<<<1, 1, 0, b>>>(0);
  }
  cudaError_t answer;
  while ((answer = cudaStreamQuery(a)) == cudaErrorNotReady) {
  }
  want(answer == cudaSuccess && cudaStreamQuery(a) == cudaSuccess);
  want(x.holds(9));
}

LATE("right", event_queries_end) {
  Ints x(0);
  Stream a;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, a);
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  cudaEventRecord(end, a);
  cudaError_t answer;
  while ((answer = cudaEventQuery(end)) == cudaErrorNotReady) {
  }
  want(answer == cudaSuccess);
  float milliseconds = -1;
  want(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess && milliseconds >= 0);
  want(x.holds(7));
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

LATE("right", flag_in_pinned_memory_is_looked_at) {
  Pinned flag(0);
  Ints x(0);
  Stream a(kFree);
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  set<<<1, 1, 0, a>>>(flag, 5);
  while (load_now(flag) != 5) {
  }
  want(x.holds(7));
}

LATE("right", result_of_a_copy_is_looked_at) {
  Pinned flag(0);
  Ints five(5);
  Stream a(kFree);
  cudaMemcpyAsync(flag, five, sizeof(int), cudaMemcpyDeviceToHost, a);
  while (load_now(flag) != 5) usleep(1000);
}

// ---- functions of the host
// -----------------------------------------------------------------------

std::string called;
void CUDART_CB call_letter(void* letter) { called += *static_cast<const char*>(letter); }
LATE("right", functions_come_in_their_order) {
  called.clear();
  static const char letters[] = "abcdefgh";
  Stream a, b;
  Event e;
  cudaLaunchHostFunc(a, call_letter, const_cast<char*>(&letters[0]));
  hold<<<1, 1, 0, a>>>(0);
  cudaLaunchHostFunc(a, call_letter, const_cast<char*>(&letters[1]));
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e);
  cudaLaunchHostFunc(b, call_letter, const_cast<char*>(&letters[2]));
  cudaStreamSynchronize(b);
  want(called == "abc");
  cudaLaunchHostFunc(nullptr, call_letter, const_cast<char*>(&letters[3]));
  cudaLaunchHostFunc(a, call_letter, const_cast<char*>(&letters[4]));
  cudaDeviceSynchronize();
  want(called == "abcde");
}

// Reads the result of the operation before it.
struct Reading {
  const int* from;
  int first;
};
void CUDART_CB read_first(void* reading) {
  static_cast<Reading*>(reading)->first = *static_cast<Reading*>(reading)->from;
}
LATE("right", function_between_two_copies) {
  Ints x(7), z(9);
  Pinned y(0);
  Stream a;
  Reading reading{y, -1};
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  cudaLaunchHostFunc(a, read_first, &reading);
  cudaMemcpyAsync(y, z, kBytes, cudaMemcpyDeviceToHost, a);
  want(y.holds(9) && reading.first == 7);
}

// ---- what lives until it has been executed
// --------------------------------------------------------

LATE("right", pageable_source_used_again) {
  Ints x(0), y(0);
  Stream a;
  std::vector<int> source = from(7);
  hold<<<1, 1, 0, a>>>(0);
  cudaMemcpyAsync(x, source.data(), kBytes, cudaMemcpyHostToDevice, a);
  source = from(8);
  cudaMemcpyAsync(y, source.data(), kBytes, cudaMemcpyHostToDevice, a);
  source = from(9);
  want(x.holds(7) && y.holds(8));
}

// No wait is guaranteed by the API, but the simulated GPU must not write to a dead stack frame.
LATE("right", pageable_destination_is_not_written_later) {
  Ints x(7);
  Stream a;
  const auto copy = [&] {
    std::vector<int> y(kN);
    cudaMemcpyAsync(y.data(), x, kBytes, cudaMemcpyDeviceToHost, a);
  };
  copy();
  std::vector<int> other = from(3);
  cudaDeviceSynchronize();
  want(other == from(3));
}

LATE("right", parameters_are_those_of_the_call) {
  Ints x(0);
  Stream a;
  for (int i = 0; i < 5; ++i) produce<<<1, kN, 0, a>>>(x, i, 0);
  want(x.holds(4));
}

LATE("right", stream_destroyed_with_work) {
  Ints x(0);
  Stream a;
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  a.destroy();
  want(x.holds(7));
}

LATE("right", freed_in_the_stream) {
  Ints y(0);
  Stream a;
  for (int i = 0; i < 20; ++i) {
    int* x = nullptr;
    cudaMallocAsync(reinterpret_cast<void**>(&x), kBytes, a);
    produce<<<1, kN, 0, a>>>(x, i, 0);
    consume<<<1, kN, 0, a>>>(x, y);
    cudaFreeAsync(x, a);
  }
  want(y.holds(19));
}

LATE("right", freed_while_kernels_use_it) {
  Ints y(0);
  Stream a(kFree);
  int* x = nullptr;
  cudaMalloc(&x, kBytes);
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  consume<<<1, kN, 0, a>>>(x, y);
  cudaFree(x);
  want(y.holds(7));
}

LATE("right", graph_changed_and_destroyed_after_its_launch) {
  Ints x(0), y(0);
  Stream a;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  consume<<<1, kN, 0, a>>>(x, y);
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, a);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  want(y.holds(7));
}

LATE("right", event_recorded_again_while_it_is_pending) {
  Ints x(0), y(0);
  Stream a, b;
  Event e;
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e);
  hold<<<1, 1, 0, a>>>(0);
  cudaEventRecord(e, a);
  e.destroy();
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

LATE("right", many_launches_in_two_streams) {
  Ints x(0), y(0);
  Stream a(kFree), b(kFree);
  for (int i = 0; i < 5000; ++i) {
    count<<<1, 1, 0, a>>>(x);
    count<<<1, 1, 0, b>>>(y);
  }
  want(x.fetch()[0] == 5000 && y.fetch()[0] == 5000);
}

// The input is written late, and the two kernels are unordered.
LATE("hint", input_that_is_not_executed_yet) {
  int *x = nullptr, *y = nullptr;
  cudaMalloc(&x, kBytes);
  cudaMalloc(&y, kBytes);
  Stream a(kFree), b(kFree);
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  increment<<<1, kN, 0, b>>>(x, 0);
  cudaStreamSynchronize(b);
}

LATE("left", function_that_nobody_waits_for) {
  Stream a(kFree);
  cudaLaunchHostFunc(
      a, [](void*) {}, nullptr);
  hold<<<1, 1, 0, a>>>(0);
}

// A launched kernel is executed even if the program never waits for it.
LATE("exit", error_found_at_the_end) {
  int* x = nullptr;
  cudaMalloc(&x, kBytes);
  store_beyond<<<1, 1>>>(x);
}

}  // namespace
}  // namespace lockstep::streams

#include "learnt.cu"  // behind this file's programs: both would be compiled with the same headers

int main(int argc, char** argv) {
  using lockstep::streams::programs;
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const auto& p : programs()) std::printf("%s\t%s\n", p.name, p.kind);
    return 0;
  }
  bool found = false;
  for (const auto& p : programs()) {
    if (argc != 2 || (std::strcmp(argv[1], p.name) != 0 && std::strcmp(argv[1], p.kind) != 0))
      continue;
    if (found) cudaDeviceSynchronize();
    found = true;
    lockstep::streams::right = true;
    p.run();
    std::printf("%s\t%s\n", p.name, lockstep::streams::right ? "right" : "wrong");
  }
  if (!found) std::fprintf(stderr, "usage: %s --list | NAME | KIND\n", argv[0]);
  return found ? 0 : 2;
}
