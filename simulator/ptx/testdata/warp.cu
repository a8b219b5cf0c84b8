// Warp-wide operations, atomics and barriers. Read by corpus_test.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void shuffles(int* x, float* f, double* d, long long* l) {
  const int i = threadIdx.x;
  const unsigned mask = __activemask();
  x[i] = __shfl_sync(0xffffffffu, x[i], 3) + __shfl_up_sync(mask, x[i], 1) +
         __shfl_down_sync(mask, x[i], 2, 16) + __shfl_xor_sync(mask, x[i], 4);
  f[i] = __shfl_xor_sync(mask, f[i], 1, 8);
  d[i] = __shfl_down_sync(mask, d[i], 1);
  l[i] = __shfl_sync(mask, l[i], 0);
  int p;
  x[i + 1] = __all_sync(mask, x[i] > 0) + __any_sync(mask, x[i] < 0) + __ballot_sync(mask, x[i]) +
             __uni_sync(mask, x[i]) + __match_any_sync(mask, x[i]) +
             __match_all_sync(mask, l[i], &p) + p;
  __syncwarp();
  __syncwarp(mask);
}

__global__ void barriers(int* x) {
  __shared__ int s;
  if (threadIdx.x == 0) s = x[0];
  __syncthreads();
  x[1] = __syncthreads_count(x[threadIdx.x]) + __syncthreads_and(x[2]) + __syncthreads_or(x[3]);
  asm volatile("bar.sync 1, 64;");
  asm volatile("barrier.arrive 2, 96;");
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p bra L1; bar.sync 3; L1: }" ::"r"(s));
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p bra L1; bar.sync 4; L1: }" ::"r"(s));
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* ull, long long* ll, float* f,
                        double* d, unsigned short* h) {
  __shared__ int si;
  __shared__ float sf;
  si = 0;
  sf = 0;
  __syncthreads();
  i[1] = atomicAdd(i, 1) + atomicSub(i, 2) + atomicExch(i, 3) + atomicMin(i, 4) + atomicMax(i, 5) +
         atomicAnd(i, 6) + atomicOr(i, 7) + atomicXor(i, 8) + atomicCAS(i, 9, 10) +
         atomicAdd_block(i, 3) + atomicAdd_system(i, 3);
  u[1] = atomicInc(u, 1) + atomicDec(u, 2) + atomicMin(u, 3) + atomicMax(u, 3) +
         atomicCAS_block(u, 1, 2);
  ull[1] = atomicAdd(ull, 1ull) + atomicExch(ull, 2ull) + atomicCAS(ull, 3ull, 4ull) +
           atomicMin(ull, 5ull) + atomicMax(ull, 6ull) + atomicAnd(ull, 7ull) +
           atomicXor(ull, 7ull);
  ll[1] = atomicMin(ll, 3ll) + atomicMax(ll, 4ll);
  f[1] = atomicAdd(f, 1.5f) + atomicExch(f, 2.0f);
  d[1] = atomicAdd(d, 2.5);
  h[1] = atomicCAS(h, (unsigned short)1, (unsigned short)2);
  atomicAdd(&si, 1);
  atomicAdd(&sf, 1.0f);
  atomicMax(&si, 7);
  __syncthreads();
  i[2] = si + (int)sf;
}

__global__ void groups(int* x) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  auto active = cg::coalesced_threads();
  x[0] = cg::reduce(tile, x[block.thread_rank()], cg::plus<int>());
  x[1] = cg::inclusive_scan(tile, x[1]);
  x[2] = active.shfl(x[2], 0) + active.size();
  x[3] = cg::reduce(active, x[3], cg::greater<int>());
  block.sync();
  tile.sync();
  grid.sync();
  x[4] = grid.thread_rank();
}

__global__ void ptx_forms(unsigned* x, float* f) {
  unsigned r;
  asm volatile("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(r) : "r"(x[0]), "r"(x[1]), "r"(x[2]));
  x[3] = r;
  asm volatile("bfe.u32 %0, %1, 3, 5;" : "=r"(r) : "r"(x[0]));
  asm volatile("bfi.b32 %0, %1, %2, 4, 8;" : "+r"(r) : "r"(x[1]), "r"(x[2]));
  asm volatile(
      "{ .reg .u32 t1, t2; mov.b64 {t1, t2}, %1; add.cc.u32 t1, t1, 1; addc.u32 %0, t2, 0; }"
      : "=r"(r)
      : "l"((unsigned long long)x));
  x[4] = r;
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(f), "f"(1.0f) : "memory");
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(x), "r"(r) : "memory");
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(r) : "l"(x) : "memory");
  asm volatile("{ .reg .pred p, q; setp.lt.and.u32 p|q, %1, 5, !q; selp.u32 %0, 1, 0, p; }"
               : "=r"(r)
               : "r"(x[2]));
  x[5] = r;
  asm volatile("prefetch.global.L2 [%0];" ::"l"(x));
  asm volatile(
      "{ .reg .b32 i; .reg .pred p; mov.u32 i, %1; ts: .branchtargets A, B, C; brx.idx i, ts; A: "
      "add.u32 %0, %0, 1; B: add.u32 %0, %0, 2; C: add.u32 %0, %0, "
      "3; }"
      : "+r"(r)
      : "r"(x[6] % 3));
  x[6] = r;
}
