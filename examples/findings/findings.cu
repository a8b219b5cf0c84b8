// A small wrong kernel for each kind of finding, and its repair: docs/guide/findings.md quotes
// them.
//
//   nvcc -arch=sm_90 -lineinfo -o findings examples/findings/findings.cu
//   lockstep exec -- ./findings race            reports the finding
//   lockstep exec -- ./findings race repaired   reports nothing
#include <cstdio>
#include <cstring>
#include <cuda/barrier>

// Arrays on the device, each element with the given value; the end of the process frees them.
template <class T>
T* device(std::size_t n, const T& value) {
  T* p = nullptr;
  cudaMalloc(&p, n * sizeof(T));
  for (std::size_t i = 0; i < n; ++i) cudaMemcpy(p + i, &value, sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

// out-of-bounds

__global__ void scale(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = 2 * x[i];
}

__global__ void scale_repaired(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

void out_of_bounds(bool repaired) {
  (repaired ? scale_repaired : scale)<<<4, 32>>>(device(100, 0.f), device(100, 1.f), 100);
}

// misaligned

__global__ void neighbours(float2* y, const float* x) {
  y[threadIdx.x] = *reinterpret_cast<const float2*>(x + 1 + 2 * threadIdx.x);
}

__global__ void neighbours_repaired(float2* y, const float* x) {
  const float* const pair = x + 1 + 2 * threadIdx.x;
  y[threadIdx.x] = make_float2(pair[0], pair[1]);
}

void misaligned(bool repaired) {
  (repaired ? neighbours_repaired : neighbours)<<<1, 32>>>(device(32, float2()), device(65, 1.f));
}

// use-after-free

__global__ void increment(int* counter) { atomicAdd(counter, 1); }

void use_after_free(bool repaired) {
  int* const counter = device(1, 0);
  if (!repaired) cudaFree(counter);
  increment<<<1, 32>>>(counter);
  if (repaired) cudaFree(counter);
}

// read-only-write

__constant__ float factor;
__global__ void set(float* p, float value) { *p = value; }

void read_only_write(bool repaired) {
  const float two = 2;
  if (repaired) {
    cudaMemcpyToSymbol(factor, &two, sizeof two);
  } else {
    void* p = nullptr;
    cudaGetSymbolAddress(&p, factor);
    set<<<1, 1>>>(static_cast<float*>(p), two);
  }
}

// uninitialised

__global__ void sum(float* result, const float* x, int n) {
  __shared__ float cells[64];
  if (threadIdx.x < n) cells[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) cells[threadIdx.x] += cells[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *result = cells[0];
}

__global__ void sum_repaired(float* result, const float* x, int n) {
  __shared__ float cells[64];
  cells[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) cells[threadIdx.x] += cells[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *result = cells[0];
}

void uninitialised(bool repaired) {
  (repaired ? sum_repaired : sum)<<<1, 64>>>(device(1, 0.f), device(60, 1.f), 60);
}

// race

__global__ void reverse(float* y, const float* x) {
  __shared__ float cells[256];
  cells[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = cells[255 - threadIdx.x];
}

__global__ void reverse_repaired(float* y, const float* x) {
  __shared__ float cells[256];
  cells[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = cells[255 - threadIdx.x];
}

void race(bool repaired) {
  (repaired ? reverse_repaired : reverse)<<<1, 256>>>(device(256, 0.f), device(256, 1.f));
}

// barrier-divergence

__global__ void rotate(int* x) {
  if (threadIdx.x % 2 == 0) {
    const int next = x[threadIdx.x + 1];
    __syncthreads();
    x[threadIdx.x] = next;
  } else {
    __syncthreads();
  }
}

__global__ void rotate_repaired(int* x) {
  const int next = threadIdx.x % 2 == 0 ? x[threadIdx.x + 1] : 0;
  __syncthreads();
  if (threadIdx.x % 2 == 0) x[threadIdx.x] = next;
}

void barrier_divergence(bool repaired) {
  (repaired ? rotate_repaired : rotate)<<<1, 64>>>(device(65, 1));
}

// invalid-mask

__global__ void sum_of_odd(unsigned* y) {
  if (threadIdx.x % 2 == 1) y[threadIdx.x] = __reduce_add_sync(0x55555555, threadIdx.x);
}

__global__ void sum_of_odd_repaired(unsigned* y) {
  if (threadIdx.x % 2 == 1) y[threadIdx.x] = __reduce_add_sync(0xaaaaaaaa, threadIdx.x);
}

void invalid_mask(bool repaired) {
  (repaired ? sum_of_odd_repaired : sum_of_odd)<<<1, 32>>>(device(32, 0u));
}

// inactive-lane

__global__ void differences(int* y, const int* x, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = __shfl_down_sync(__activemask(), x[i], 1) - x[i];
}

__global__ void differences_repaired(int* y, const int* x, int n) {
  const int i = threadIdx.x;
  const int own = i <= n ? x[i] : 0;
  const int next = __shfl_down_sync(0xffffffff, own, 1);
  if (i < n) y[i] = next - own;
}

void inactive_lane(bool repaired) {
  (repaired ? differences_repaired : differences)<<<1, 32>>>(device(20, 0), device(21, 1), 20);
}

// deadlock

__global__ void wait_for_another(volatile int* flag) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 32) *flag = 1;
}

__global__ void wait_for_another_repaired(volatile int* flag) {
  if (threadIdx.x == 32) *flag = 1;
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
  }
  __syncthreads();
}

void deadlock(bool repaired) {
  (repaired ? wait_for_another_repaired : wait_for_another)<<<1, 64>>>(device(1, 0));
}

// time-limit

__global__ void count(unsigned* steps, unsigned n) {
  for (unsigned i = 0; i != n; i += 2) atomicAdd(steps, 1);
}

__global__ void count_repaired(unsigned* steps, unsigned n) {
  for (unsigned i = 0; i < n; i += 2) atomicAdd(steps, 1);
}

void time_limit(bool repaired) { (repaired ? count_repaired : count)<<<1, 1>>>(device(1, 0u), 99); }

// unsupported

__global__ void wait_for_host(volatile int* ready, int* y) {
  while (*ready == 0) {
  }
  *y = 1;
}

void unsupported(bool repaired) {
  int* ready = nullptr;
  cudaMallocHost(&ready, sizeof(int));
  *ready = repaired;
  wait_for_host<<<1, 1>>>(ready, device(1, 0));
  *ready = 1;
  cudaDeviceSynchronize();
}

// trap

__global__ void halve(int* x) {
  if (x[threadIdx.x] % 2 != 0) __trap();
  x[threadIdx.x] /= 2;
}

void trap(bool repaired) { halve<<<1, 32>>>(device(32, repaired ? 4 : 3)); }

// invalid-instruction

__global__ void meet_some(int* y, int n) {
  if (threadIdx.x < n) asm volatile("barrier.sync 1, %0;" ::"r"(n));
  y[threadIdx.x] = 1;
}

__global__ void meet_some_repaired(int* y, int n) {
  const int whole_warps = (n + 31) / 32 * 32;
  if (threadIdx.x < whole_warps) asm volatile("barrier.sync 1, %0;" ::"r"(whole_warps));
  y[threadIdx.x] = 1;
}

void invalid_instruction(bool repaired) {
  (repaired ? meet_some_repaired : meet_some)<<<1, 96>>>(device(96, 0), 48);
}

// stack-overflow

__device__ int depth(const int* next, int i) {
  return next[i] < 0 ? 1 : 1 + depth(next, next[i]) * (i + 1);
}
__global__ void measure(int* y, const int* next) { *y = depth(next, 0); }

__global__ void measure_repaired(int* y, const int* next, int limit) {
  int links = 0;
  for (int i = 0; i >= 0 && links < limit; i = next[i]) ++links;
  *y = links;
}

void stack_overflow(bool repaired) {
  int* const ring = device(1, 0);  // a list whose last element links to the first
  if (repaired) {
    measure_repaired<<<1, 1>>>(device(1, 0), ring, 1000);
  } else {
    measure<<<1, 1>>>(device(1, 0), ring);
  }
}

// invalid-program-counter

using Function = float (*)(float);
__device__ float square(float x) { return x * x; }
__global__ void choose(Function* f) { *f = square; }
__global__ void apply(float* x, Function* f) { x[threadIdx.x] = (*f)(x[threadIdx.x]); }

void invalid_program_counter(bool repaired) {
  Function* const f = device(1, Function());
  if (repaired) choose<<<1, 1>>>(f);
  apply<<<1, 32>>>(device(32, 1.f), f);
}

// missing-proxy-fence

__device__ unsigned in_shared(void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__global__ void bulk_store(int* y) {
  __shared__ alignas(16) int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  __syncwarp();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(y),
                 "r"(in_shared(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

__global__ void bulk_store_repaired(int* y) {
  __shared__ alignas(16) int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(y),
                 "r"(in_shared(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

void missing_proxy_fence(bool repaired) {
  (repaired ? bulk_store_repaired : bulk_store)<<<1, 32>>>(device(32, 0));
}

// mbarrier-misuse

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void meet(int* y) {
  __shared__ alignas(Barrier) char room[sizeof(Barrier)];
  Barrier* const barrier = reinterpret_cast<Barrier*>(room);
  barrier->arrive_and_wait();
  y[threadIdx.x] = 1;
}

__global__ void meet_repaired(int* y) {
  __shared__ alignas(Barrier) char room[sizeof(Barrier)];
  Barrier* const barrier = reinterpret_cast<Barrier*>(room);
  if (threadIdx.x == 0) init(barrier, blockDim.x);
  __syncthreads();
  barrier->arrive_and_wait();
  y[threadIdx.x] = 1;
}

void mbarrier_misuse(bool repaired) { (repaired ? meet_repaired : meet)<<<1, 32>>>(device(32, 0)); }

// host-access

void host_access(bool repaired) {
  int* const counter = device(1, 0);
  increment<<<1, 32>>>(counter);
  int result = 0;
  if (repaired) {
    cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost);
  } else {
    result = *counter;
  }
  std::printf("%d\n", result);
}

// leak

void leak(bool repaired) {
  int* counter = nullptr;
  cudaMalloc(&counter, sizeof(int));
  if (repaired) cudaFree(counter);
}

// refused

void refused(bool repaired) { increment<<<1, repaired ? 1024 : 2048>>>(device(1, 0)); }

// api-error

void api_error(bool repaired) {
  int x[4] = {};
  cudaMemcpy(device(4, 0), x, sizeof x, repaired ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
}

const struct {
  const char* kind;
  void (*run)(bool repaired);
} kKinds[] = {
    {"out-of-bounds", out_of_bounds},
    {"misaligned", misaligned},
    {"use-after-free", use_after_free},
    {"read-only-write", read_only_write},
    {"uninitialised", uninitialised},
    {"race", race},
    {"barrier-divergence", barrier_divergence},
    {"invalid-mask", invalid_mask},
    {"inactive-lane", inactive_lane},
    {"deadlock", deadlock},
    {"time-limit", time_limit},
    {"unsupported", unsupported},
    {"trap", trap},
    {"invalid-instruction", invalid_instruction},
    {"stack-overflow", stack_overflow},
    {"invalid-program-counter", invalid_program_counter},
    {"missing-proxy-fence", missing_proxy_fence},
    {"mbarrier-misuse", mbarrier_misuse},
    {"host-access", host_access},
    {"leak", leak},
    {"refused", refused},
    {"api-error", api_error},
};

int main(int argc, char** argv) {
  for (const auto& [kind, run] : kKinds) {
    if (argc > 1 && std::strcmp(argv[1], kind) == 0) {
      run(argc > 2);
      cudaDeviceSynchronize();
      return 0;
    }
    if (argc == 1) std::puts(kind);
  }
  return argc > 1 ? 2 : 0;
}
