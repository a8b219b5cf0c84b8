// Pairs that use uninitialised values. A finding is reported if behaviour depends on such a value,
// and if the host reads a result computed from one.
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

template <bool faulty>
__global__ void branch_on_global(const int* x, int* y) {
  if (x[threadIdx.x] > 0) y[threadIdx.x] = 1;  // FAULT branch_on_global
}
PAIR(branch_on_global, "uninitialised") {
  Buffer<int> x(32), y(32);
  if (!faulty) cudaMemset(x, 1, 128);
  branch_on_global<faulty><<<1, 32>>>(x, y);
}

template <bool faulty>
__global__ void sum_of_global(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;  // FAULT sum_of_global
}
PAIR(sum_of_global, "uninitialised") {
  Buffer<int> x(32), y(32);
  cudaMemset(x, 1, faulty ? 124 : 128);
  sum_of_global<faulty><<<1, 32>>>(x, y);
}

template <bool faulty>
__global__ void index_from_global(const int* x, int* y) {
  y[x[threadIdx.x] & 31] = 1;  // FAULT index_from_global
}
PAIR(index_from_global, "uninitialised") {
  Buffer<int> x(1), y(32);
  if (!faulty) cudaMemset(x, 0, 4);
  index_from_global<faulty><<<1, 1>>>(x, y);
}

template <bool faulty>
__global__ void atomic_on_global(int* y) {
  atomicAdd(y, 1);  // FAULT atomic_on_global
}
PAIR(atomic_on_global, "uninitialised") {
  Buffer<int> y(1);
  if (!faulty) cudaMemset(y, 0, 4);
  atomic_on_global<faulty><<<1, 32>>>(y);
}

template <bool faulty>
__global__ void sum_of_shared(int* y) {
  __shared__ int s[32];
  if (threadIdx.x < 32 - faulty) s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[31 - threadIdx.x] * 2;  // FAULT sum_of_shared
}
PAIR_ON(sum_of_shared, "uninitialised", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void sum_of_local(int* y, int turn) {
  int a[8];
  for (int k = faulty; k < 8; ++k) a[(k + turn) & 7] = k;
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += a[(k * turn) & 7];  // FAULT sum_of_local
  y[threadIdx.x] = sum;                                  // FAULT sum_of_local
}
PAIR_ON(sum_of_local, "uninitialised", (1, 32), Buffer<int>(32), 3)

template <bool faulty>
__global__ void register_on_one_path(const int* x, int* y) {
  int v;
  asm volatile(
      "{ .reg .u32 t; .reg .pred p; setp.ne.s32 p, %1, 0; @p bra ASSIGN; bra.uni DONE; ASSIGN: "
      "mov.u32 t, 5; DONE: mov.u32 %0, t; }"
      : "=r"(v)
      : "r"(x[threadIdx.x]));
  y[threadIdx.x] = v + 1;  // FAULT register_on_one_path
}
PAIR_ON_TWO(register_on_one_path, "uninitialised", (1, 32), Buffer<int>(32, faulty ? 0 : 1),
            Buffer<int>(32))

// The host reads what a kernel copied from uninitialised memory.
template <bool faulty>
__global__ void copied_to_the_host(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // FAULT copied_to_the_host
}
PAIR(copied_to_the_host, "uninitialised") {
  Buffer<int> x(32), y(32);
  cudaMemset(x, 1, faulty ? 64 : 128);
  copied_to_the_host<faulty><<<1, 32>>>(x, y);
  y.fetch();
}

template <bool faulty>
__global__ void shared_copied_to_the_host(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x + faulty];  // FAULT shared_copied_to_the_host
}
PAIR(shared_copied_to_the_host, "uninitialised") {
  Buffer<int> y(32);
  shared_copied_to_the_host<faulty><<<1, 32>>>(y);
  y.fetch();
}

// The kernel computes a whole tile in shared memory, although rows past the edge are never loaded.
// Not storing those rows is correct.
template <bool faulty>
__global__ void rows_past_the_edge(const int* x, int* y, int rows) {
  __shared__ int tile[8][32], product[8][32];
  for (int r = 0; r < rows; ++r) tile[r][threadIdx.x] = x[r * 32 + threadIdx.x];
  for (int r = 0; r < 8; ++r) product[r][threadIdx.x] = 3 * tile[r][threadIdx.x];
  __syncthreads();
  for (int r = 0; r < 8; ++r) {
    if (r >= rows + faulty) continue;
    y[r * 32 + threadIdx.x] = product[r][31 - threadIdx.x];  // FAULT rows_past_the_edge
  }
}
PAIR_ON_TWO(rows_past_the_edge, "uninitialised", (1, 32), Buffer<int>(5 * 32, 1),
            Buffer<int>(6 * 32), 5)

// Copying uninitialised words is legal if nobody uses them. Here a second kernel uses them.
template <bool faulty>
__global__ void copy_words(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];
}
template <bool faulty>
__global__ void use_words(const int* y, int* z) {
  z[threadIdx.x] = y[threadIdx.x] * 3;  // FAULT used_by_the_next_kernel
}
PAIR(used_by_the_next_kernel, "uninitialised") {
  Buffer<int> x(32), y(32), z(32);
  copy_words<faulty><<<1, 32>>>(x, y);
  if (!faulty) cudaMemset(y, 1, 128);
  use_words<faulty><<<1, 32>>>(y, z);
}

struct Padded {
  double value;
  int count;  // followed by four bytes of padding, never written
};
template <bool faulty>
__global__ void make_padded(Padded* p) {
  p[threadIdx.x].value = 1.5;
  if (!faulty) p[threadIdx.x].count = 3;
}
template <bool faulty>
__global__ void copy_padded(const Padded* p, Padded* q) {
  q[threadIdx.x] = p[threadIdx.x];
}
template <bool faulty>
__global__ void use_padded(const Padded* q, int* y) {
  y[threadIdx.x] = q[threadIdx.x].count + 1;  // FAULT padding_copied_but_not_used
}
PAIR_WITH_INFORMATION(padding_copied_but_not_used, "uninitialised") {
  Buffer<Padded> p(32), q(32);
  Buffer<int> y(32);
  make_padded<faulty><<<1, 32>>>(p);
  copy_padded<faulty><<<1, 32>>>(p, q);
  use_padded<faulty><<<1, 32>>>(q, y);
  q.fetch();
}

// Copies whole words, including the padding, as a memory copy does.
template <bool faulty>
__global__ void copy_words_of_padded(const uint4* p, uint4* q) {
  q[threadIdx.x] = p[threadIdx.x];  // FAULT whole_words_of_padding
}
PAIR_WITH_INFORMATION(whole_words_of_padding, "uninitialised") {
  Buffer<Padded> p(32), q(32);
  if (!faulty) make_padded<false><<<1, 32>>>(p);
  copy_words_of_padded<faulty><<<1, 32>>>(reinterpret_cast<const uint4*>(static_cast<Padded*>(p)),
                                          reinterpret_cast<uint4*>(static_cast<Padded*>(q)));
  q.fetch();
}

// One word, some of whose bytes were never written.
template <bool faulty>
__global__ void byte_of_a_word(const unsigned char* x, int* y) {
  y[threadIdx.x] = x[4 * threadIdx.x + (faulty ? 3 : 2)] + 1;  // FAULT byte_of_a_word
}
PAIR(byte_of_a_word, "uninitialised") {
  Buffer<unsigned char> x(128);
  Buffer<int> y(32);
  for (int i = 0; i < 32; ++i) cudaMemset(x + 4 * i, 7, 3);
  byte_of_a_word<faulty><<<1, 32>>>(x, y);
}

template <bool faulty>
__global__ void atomic_on_shared(int* y) {
  __shared__ int bins[32];
  if (!faulty || threadIdx.x > 0) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(bins + (threadIdx.x & 7), 1);  // FAULT atomic_on_shared
  __syncthreads();
  y[threadIdx.x] = threadIdx.x;
}
PAIR_ON(atomic_on_shared, "uninitialised", (1, 32), Buffer<int>(32))

template <bool faulty>
__global__ void dynamic_shared_read_first(int* y) {
  extern __shared__ int dynamic[];
  if (!faulty) dynamic[threadIdx.x] = 1;
  dynamic[threadIdx.x] += threadIdx.x;
  y[threadIdx.x] = dynamic[threadIdx.x];  // FAULT dynamic_shared_read_first
}
PAIR_ON(dynamic_shared_read_first, "uninitialised", (1, 32, 128), Buffer<int>(32))

// An uninitialised value passes through a shuffle; another lane uses it.
template <bool faulty>
__global__ void shuffled_and_used(const int* x, int* y) {
  const int v = __shfl_xor_sync(~0u, x[threadIdx.x], 1);
  y[threadIdx.x] = v * 2;  // FAULT shuffled_and_used
}
PAIR(shuffled_and_used, "uninitialised") {
  Buffer<int> x(32), y(32);
  cudaMemset(x, 1, faulty ? 100 : 128);
  shuffled_and_used<faulty><<<1, 32>>>(x, y);
}

template <bool faulty>
__global__ void voted_on(const int* x, int* y) {
  const bool any = __any_sync(~0u, x[threadIdx.x] > 3);  // FAULT voted_on
  y[threadIdx.x] = any;                                  // FAULT voted_on
}
PAIR(voted_on, "uninitialised") {
  Buffer<int> x(32), y(32);
  cudaMemset(x, 1, faulty ? 124 : 128);
  voted_on<faulty><<<1, 32>>>(x, y);
}

template <bool faulty>
__global__ void one_of_a_vector(const float4* x, float* y) {
  const float4 v = x[threadIdx.x];
  y[threadIdx.x] = v.x + (faulty ? v.w : v.z);  // FAULT one_of_a_vector
}
PAIR(one_of_a_vector, "uninitialised") {
  Buffer<float> x(128), y(32);
  cudaMemset2D(x, 16, 0, 12, 32);
  one_of_a_vector<faulty><<<1, 32>>>(reinterpret_cast<const float4*>(static_cast<float*>(x)), y);
}

// A new allocation is uninitialised, whatever the freed one held.
template <bool faulty>
__global__ void allocated_anew(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;  // FAULT allocated_anew
}
PAIR(allocated_anew, "uninitialised") {
  Buffer<int> y(32);
  {
    Buffer<int> x(32, 1);
    allocated_anew<faulty><<<1, 32>>>(x, y);
  }
  Buffer<int> x(32);
  if (!faulty) cudaMemset(x, 0, 128);
  allocated_anew<faulty><<<1, 32>>>(x, y);
}

// The upper half of a pitched row is padding.
template <bool faulty>
__global__ void reads_the_pitch(const char* x, int pitch, int width, int* y) {
  const char* const row = x + threadIdx.x * pitch;
  y[threadIdx.x] = row[width - 1 + faulty] + 1;  // FAULT reads_the_pitch
}
PAIR(reads_the_pitch, "uninitialised") {
  char* x = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&x, &pitch, 100, 8);
  cudaMemset2D(x, pitch, 1, 100, 8);
  Buffer<int> y(8);
  reads_the_pitch<faulty><<<1, 8>>>(x, static_cast<int>(pitch), 100, y);
  cudaDeviceSynchronize();
  cudaFree(x);
}

template <bool faulty>
__global__ void chosen_by_what_nobody_wrote(const int* x, const int* which, int* y) {
  y[threadIdx.x] = x[threadIdx.x] > 2 ? which[0] : which[1];  // FAULT chosen_by_what_nobody_wrote
}
PAIR(chosen_by_what_nobody_wrote, "uninitialised") {
  Buffer<int> x(32), which(2, 1), y(32);
  cudaMemset(x, 1, faulty ? 64 : 128);
  chosen_by_what_nobody_wrote<faulty><<<1, 32>>>(x, which, y);
}

// Fills part of an array on the stack.
__device__ __noinline__ void fill_part(int* a, int n) {
  for (int k = 0; k < n; ++k) a[k] = k;
}
template <bool faulty>
__global__ void filled_in_part(int* y) {
  int a[4];
  fill_part(a, faulty ? 3 : 4);
  y[threadIdx.x] = a[threadIdx.x & 3] + 1;  // FAULT filled_in_part
}
PAIR_ON(filled_in_part, "uninitialised", (1, 8), Buffer<int>(8))

template <bool faulty>
__global__ void copied_on_the_device(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;  // FAULT copied_on_the_device
}
PAIR(copied_on_the_device, "uninitialised") {
  Buffer<int> a(32), b(32), y(32);
  if (!faulty) cudaMemset(a, 0, 128);
  cudaMemcpy(b, a, 128, cudaMemcpyDeviceToDevice);
  copied_on_the_device<faulty><<<1, 32>>>(b, y);
}

// Two fields read as one word: only the half that was written may be used.
struct Two { int low, high; };
template <bool faulty>
__global__ void half_of_a_wide_word(Two* s, int* y) {
  s[threadIdx.x].high = threadIdx.x;
  unsigned long long both;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(both) : "l"(s + threadIdx.x) : "memory");
  y[threadIdx.x] = 1 + static_cast<int>(faulty ? both : both >> 32);  // FAULT half_of_a_wide_word
}
PAIR_ON_TWO(half_of_a_wide_word, "uninitialised", (1, 32), Buffer<Two>(32), Buffer<int>(32))

// Words assembled from halves: the uninitialised half must be shifted or masked out.
template <bool faulty>
__global__ void bytes_masked_away(unsigned* x, int* y) {
  reinterpret_cast<unsigned char*>(x + threadIdx.x)[1] = 7;
  unsigned word;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(x + threadIdx.x) : "memory");
  y[threadIdx.x] = (word & (faulty ? 0xffff : 0xff00)) + 1;  // FAULT bytes_masked_away
  y[threadIdx.x + 32] = ((word << 16) >> 24) + 1;
  y[threadIdx.x + 64] = static_cast<unsigned char>(word >> 8) * 3;
}
PAIR_ON_TWO(bytes_masked_away, "uninitialised", (1, 32), Buffer<unsigned>(32), Buffer<int>(96))

// The value is used after a call has returned it.
__device__ __noinline__ int twice(int v) { return 2 * v; }
template <bool faulty>
__global__ void passed_through_a_call(const int* x, int* y) {
  int v = faulty ? x[threadIdx.x] : 1;
  y[threadIdx.x] = twice(v) + 1;  // FAULT passed_through_a_call
}
PAIR_ON_TWO(passed_through_a_call, "uninitialised", (1, 32), Buffer<int>(32), Buffer<int>(32))

// Bit fields in fresh memory: the word is read, changed in part and written back. A branch on a
// field that was never assigned is the mistake.
struct Fields {
  unsigned low : 3, high : 5, rest : 24;
};
template <bool faulty>
__global__ void field_beside_another(int* y) {
  __shared__ Fields s[32];
  Fields& f = s[threadIdx.x];
  f.high = threadIdx.x;
  if (!faulty) f.low = 5;
  y[threadIdx.x] = f.high;
  if (f.low == 5) y[threadIdx.x] = 1;  // FAULT field_beside_another
}
PAIR_ON(field_beside_another, "uninitialised", (1, 32), Buffer<int>(32))

// Setting a flag initialises its own bit only.
struct Marks {
  unsigned seen : 1, done : 1;
};
template <bool faulty>
__global__ void flag_of_another_launch(const Marks* m, int* y) {
  if (faulty ? m->done : m->seen) *y = 1;  // FAULT flag_of_another_launch
}
__global__ void mark_seen(Marks* m) { m->seen = 1; }
PAIR(flag_of_another_launch, "uninitialised") {
  Buffer<Marks> m(1);
  Buffer<int> y(1);
  mark_seen<<<1, 1>>>(m);
  flag_of_another_launch<faulty><<<1, 1>>>(m, y);
}

}  // namespace
