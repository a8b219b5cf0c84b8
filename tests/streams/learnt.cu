// Kernels that poll a flag for the end of an operation in another stream. The host, or a host
// function, waits for that operation and then sets the flag.
#include <cstdlib>

#include "late.cuh"

namespace lockstep::streams {
namespace {

void store_five(int* flag) { __atomic_store_n(flag, 5, __ATOMIC_RELEASE); }
void CUDART_CB set_five(void* flag) { store_five(static_cast<int*>(flag)); }

// Reads x before it waits for the flag.
__global__ void consume_and_await(int* flag, int value, const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  while (*static_cast<volatile int*>(flag) != value) {
  }
}
// One thread of each block reads the flag, by an atomic operation.
__global__ void await_in_blocks(int* flag, int value, const int* x, int* y) {
  if (threadIdx.x == 0) {
    while (atomicAdd_system(flag, 0) != value) {
    }
    __threadfence_system();
  }
  __syncthreads();
  if (blockIdx.x == 0) y[threadIdx.x] = x[threadIdx.x];
}

// Host memory registered by the program, in whole pages.
class Registered {
 public:
  Registered() : data_(static_cast<int*>(std::aligned_alloc(kPage, kPage))) {
    data_[0] = 0;
    cudaHostRegister(data_, kPage, cudaHostRegisterMapped);
  }
  ~Registered() {
    cudaHostUnregister(data_);
    std::free(data_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  operator int*() const { return data_; }

 private:
  static constexpr size_t kPage = 4096;
  int* data_;
};

class Managed {
 public:
  Managed() {
    cudaMallocManaged(&data_, sizeof(int));
    *data_ = 0;
  }
  ~Managed() { cudaFree(data_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  operator int*() const { return data_; }

 private:
  int* data_ = nullptr;
};

struct Streams {
  Stream a{kFree}, b{kFree};
};

// ---- a host function sets the flag --------------------------------------------------------------

template <class Flag>
void set_behind_a_copy() {
  Ints x(0), y(0);
  Pinned source(7);
  Flag flag;
  Streams s;
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  want(y.holds(7));
}
struct PinnedFlag : Pinned {
  PinnedFlag() : Pinned(0) {}
};
LATE("right", flag_set_behind_a_copy) { set_behind_a_copy<PinnedFlag>(); }
LATE("right", managed_flag_set_behind_a_copy) { set_behind_a_copy<Managed>(); }
LATE("right", registered_flag_set_behind_a_copy) { set_behind_a_copy<Registered>(); }

LATE("right", flag_set_behind_a_fill) {
  Ints x(0), y(0);
  Pinned flag(0);
  Streams s;
  cudaMemsetAsync(x, 0, kBytes, s.b);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  want(y.fetch() == std::vector<int>(kN));
}

LATE("right", flag_set_behind_a_kernel) {
  Ints x(0), y(0);
  Pinned flag(0);
  Streams s;
  produce<<<1, kN, 0, s.b>>>(x, 7, 0);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  want(y.holds(7));
}

LATE("right", kernel_put_before_the_copy) {
  Ints x(0), y(0);
  Pinned source(7), flag(0);
  Streams s;
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  want(y.holds(7));
}

LATE("right", kernel_put_before_the_kernel) {
  Ints x(0), y(0);
  Pinned flag(0);
  Streams s;
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  produce<<<1, kN, 0, s.b>>>(x, 7, 0);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  want(y.holds(7));
}

LATE("right", blocks_that_poll) {
  Ints x(0), y(0);
  Pinned source(7), flag(0);
  Streams s;
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  await_in_blocks<<<4, kN, 0, s.a>>>(flag, 5, x, y);
  want(y.holds(7));
}

// The operation after the polling kernel is ordered after the copy too.
LATE("right", next_kernel_reads_what_was_copied) {
  Ints x(0), y(0);
  Pinned source(7), flag(0);
  Streams s;
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  await<<<1, 1, 0, s.a>>>(flag, 5);
  consume<<<1, kN, 0, s.a>>>(x, y);
  want(y.holds(7));
}

LATE("right", next_copy_reads_what_was_produced) {
  Ints x(0), y(0);
  Pinned flag(0);
  Streams s;
  Stream c(kFree);
  Event polled;
  produce<<<1, kN, 0, s.b>>>(x, 7, 0);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  await<<<1, 1, 0, s.a>>>(flag, 5);
  cudaEventRecord(polled, s.a);
  cudaStreamWaitEvent(c, polled);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, c);
  want(y.holds(7));
}

LATE("right", flag_set_by_a_node_of_a_graph) {
  Ints x(0), y(0);
  Pinned source(7), flag(0);
  Streams s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s.b, cudaStreamCaptureModeThreadLocal);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  cudaStreamEndCapture(s.b, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, s.b);
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  want(y.holds(7));
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

// ---- the host itself sets it --------------------------------------------------------------------

template <class Wait>
void set_by_the_host(Wait wait) {
  Ints x(0), y(0);
  Pinned source(7), flag(0);
  Streams s;
  Event copied;
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  cudaEventRecord(copied, s.b);
  wait(static_cast<cudaStream_t>(s.b), static_cast<cudaEvent_t>(copied));
  store_five(flag);
  want(y.holds(7));
}
LATE("right", host_waits_for_the_stream) {
  set_by_the_host([](cudaStream_t b, cudaEvent_t) { cudaStreamSynchronize(b); });
}
LATE("right", host_waits_for_the_event) {
  set_by_the_host([](cudaStream_t, cudaEvent_t copied) { cudaEventSynchronize(copied); });
}
LATE("right", host_asks_the_stream) {
  set_by_the_host([](cudaStream_t b, cudaEvent_t) {
    while (cudaStreamQuery(b) == cudaErrorNotReady) {
    }
  });
}
LATE("right", host_asks_the_event) {
  set_by_the_host([](cudaStream_t, cudaEvent_t copied) {
    while (cudaEventQuery(copied) == cudaErrorNotReady) {
    }
  });
}

// ---- a stream writes the value ------------------------------------------------------------------

LATE("right", value_written_behind_a_copy) {
  Ints x(0), y(0);
  Pinned source(7), flag(0);
  Streams s;
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  write_value(s.b, flag, 5);
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  want(y.holds(7));
}

// ---- mistakes -----------------------------------------------------------------------------------

// The flag does not cover operations after the host function.
LATE("found", flag_set_before_the_copy) {
  Ints x(0), y(0);
  Pinned source(7), flag(0);
  Streams s;
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  cudaDeviceSynchronize();
}

LATE("found", flag_set_before_the_kernel) {
  Ints x(0), y(0);
  Pinned flag(0);
  Streams s;
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  produce<<<1, kN, 0, s.b>>>(x, 7, 0);
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  cudaDeviceSynchronize();
}

LATE("found", copied_value_read_before_the_flag) {
  Ints x(0), y(0);
  Pinned source(7), flag(0);
  Streams s;
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  consume_and_await<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  cudaDeviceSynchronize();
}

LATE("found", produced_value_read_before_the_flag) {
  Ints x(0), y(0);
  Pinned flag(0);
  Streams s;
  produce<<<1, kN, 0, s.b>>>(x, 7, 0);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  consume_and_await<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  cudaDeviceSynchronize();
}

// A flag in device memory, not written by the host.
LATE("found", flag_in_device_memory) {
  Ints x(0), y(0), flag(5);
  Pinned source(7);
  Streams s;
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, s.b);
  cudaLaunchHostFunc(
      s.b, [](void*) {}, nullptr);
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  cudaDeviceSynchronize();
}

// A copy of another stream that the host has not waited for.
LATE("found", flag_set_behind_another_copy) {
  Ints x(0), y(0), z(0);
  Pinned source(7), other(8), flag(0);
  Streams s;
  Stream c(kFree);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, c);
  cudaMemcpyAsync(z, other, kBytes, cudaMemcpyHostToDevice, s.b);
  cudaLaunchHostFunc(s.b, set_five, static_cast<int*>(flag));
  await_and_consume<<<1, kN, 0, s.a>>>(flag, 5, x, y);
  cudaDeviceSynchronize();
}

}  // namespace
}  // namespace lockstep::streams
