// Events recorded too early, twice or never, and waits in the wrong place.
#include "kernels.cuh"

namespace lockstep::streams {
namespace {

CASE("events", recorded_too_early, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event produced;
  if (mistake) cudaEventRecord(produced, a);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaEventRecord(produced, a);
  cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// A wait captures the event's state at the time of the wait call.
CASE("events", waited_for_before_it_is_recorded_again, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event produced;
  cudaEventRecord(produced, a);
  if (mistake) cudaStreamWaitEvent(b, produced);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// Recording the event again does not change a wait enqueued before.
CASE("events", recorded_again_after_the_wait, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b, idle;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  cudaEventRecord(produced, idle);
  if (mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// "If cudaEventRecord has not been called on event, this call acts as if the record had completed."
CASE("events", never_recorded, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaEventRecord(produced, a);
  cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("events", wait_in_the_wrong_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  cudaStreamWaitEvent(mistake ? a : b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("events", recorded_in_the_wrong_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, mistake ? b : a);
  cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// By default an event is recorded in the legacy stream, which excludes non-blocking streams.
CASE("events", recorded_in_the_legacy_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault), b(cudaStreamNonBlocking);
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced);
  cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("events", legacy_stream_waits, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  cudaStreamWaitEvent(nullptr, produced);
  hold<<<1, 1>>>(0);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("events", fork_without_a_wait, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Stream main, left(cudaStreamNonBlocking), right_hand(cudaStreamNonBlocking);
  Event forked, joined[2];
  produce<<<1, kN, 0, main>>>(x, 7, spin);
  cudaEventRecord(forked, main);
  cudaStreamWaitEvent(left, forked);
  if (!mistake) cudaStreamWaitEvent(right_hand, forked);
  consume<<<1, kN, 0, left>>>(x, y);
  consume<<<1, kN, 0, right_hand>>>(x, z);
  cudaEventRecord(joined[0], left);
  cudaEventRecord(joined[1], right_hand);
  for (const Event& e : joined) cudaStreamWaitEvent(main, e);
  want(y.holds(7) && z.holds(7));
}

__global__ void sum(const int* x, const int* y, int* z) {
  z[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
}
CASE("events", join_without_a_wait, "produce", "sum") {
  Ints x(0), y(100), z(0);
  Stream main, left(cudaStreamNonBlocking), other(cudaStreamNonBlocking);
  Event joined[2];
  produce<<<1, kN, 0, left>>>(x, 7, 0);
  produce<<<1, kN, 0, other>>>(y, 0, spin);
  cudaEventRecord(joined[0], left);
  cudaEventRecord(joined[1], other);
  cudaStreamWaitEvent(main, joined[0]);
  if (!mistake) cudaStreamWaitEvent(main, joined[1]);
  sum<<<1, kN, 0, main>>>(x, y, z);
  const std::vector<int> sums = z.fetch();
  for (int i = 0; i < int(sums.size()); ++i) want(sums[i] == 7 + 2 * i);
}

// One event serves all steps of a loop.
CASE("events", reused_in_a_loop, "increment", "increment") {
  Ints x(0);
  Stream streams[2] = {Stream(cudaStreamNonBlocking), Stream(cudaStreamNonBlocking)};
  Event step;
  for (int i = 0; i < 4; ++i) {
    const Stream &here = streams[i % 2], &next = streams[(i + 1) % 2];
    if (mistake) cudaEventRecord(step, here);
    increment<<<1, kN, 0, here>>>(x, spin / 4);
    if (!mistake) cudaEventRecord(step, here);
    cudaStreamWaitEvent(next, step);
  }
  want(x.holds(4));
}

// A wait stays in effect after the event is destroyed.
CASE("events", destroyed_after_the_wait, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  produced.destroy();
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("events", host_waits_for_the_wrong_event, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event before, after;
  cudaEventRecord(before, a);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(after, a);
  cudaEventSynchronize(mistake ? before : after);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// A host wait for an event also orders the work that the event's stream had waited for.
CASE("events", host_waits_for_a_later_event, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking), c(cudaStreamNonBlocking);
  Event produced, later;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  cudaEventRecord(later, b);
  cudaEventSynchronize(later);
  consume<<<1, kN, 0, c>>>(x, y);
  want(y.holds(7));
}

// Polling an event until cudaEventQuery returns success is a wait.
CASE("events", polls_the_wrong_event, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event before, after;
  cudaEventRecord(before, a);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(after, a);
  while (cudaEventQuery(mistake ? before : after) == cudaErrorNotReady) {
  }
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("events", polls_the_wrong_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  while (cudaStreamQuery(mistake ? b : a) == cudaErrorNotReady) {
  }
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// An event covers the operations before its record, not those after it.
CASE("events", work_after_the_record, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(z, 7, 0);
  if (mistake) cudaEventRecord(produced, a);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaEventRecord(produced, a);
  cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// A wait orders the operations after it, not those before it.
CASE("events", wait_after_the_kernel, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  if (mistake) cudaStreamWaitEvent(b, produced);
  want(y.holds(7));
}

// Two events of two producers; the consumer waits for one of them twice.
CASE("events", one_event_for_another, "produce", "sum") {
  Ints x(0), y(0), z(0);
  Stream a, b, c;
  Event first, second;
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  cudaEventRecord(first, a);
  produce<<<1, kN, 0, b>>>(y, 7, spin);
  cudaEventRecord(second, b);
  cudaStreamWaitEvent(c, first);
  cudaStreamWaitEvent(c, mistake ? first : second);
  sum<<<1, kN, 0, c>>>(x, y, z);
  const std::vector<int> sums = z.fetch();
  for (int i = 0; i < int(sums.size()); ++i) want(sums[i] == 14 + 2 * i);
}

// Host functions. ---------------------------------------------------------------------------------

void CUDART_CB nothing(void*) {}
void CUDART_CB set_flag(void* flag) {
  __atomic_store_n(static_cast<int*>(flag), 1, __ATOMIC_RELEASE);
}

// A host function is an operation of its stream, ordered after earlier operations.
CASE("host functions", host_function_in_another_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b, c;
  Event done;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaLaunchHostFunc(mistake ? c : a, nothing, nullptr);
  cudaEventRecord(done, mistake ? c : a);
  cudaStreamWaitEvent(b, done);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// The host continues when the host function has been called.
CASE("host functions", flag_set_before_the_kernel, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  int flag = 0;
  if (mistake) cudaLaunchHostFunc(a, set_flag, &flag);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaLaunchHostFunc(a, set_flag, &flag);
  while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0) {
  }
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

void CUDART_CB callback(cudaStream_t, cudaError_t, void*) {}

CASE("host functions", callback_in_another_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b, c;
  Event done;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaStreamAddCallback(mistake ? c : a, callback, nullptr, 0);
  cudaEventRecord(done, mistake ? c : a);
  cudaStreamWaitEvent(b, done);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

}  // namespace
}  // namespace lockstep::streams
