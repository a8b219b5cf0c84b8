// Half, bfloat16 and 8-bit floating point through NVIDIA's headers. Read by corpus_test.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void halves(__half* h, __half2* h2, float* f, int n) {
  const int i = threadIdx.x;
  h[i] = __hadd(h[i], h[i + 1]) * h[i + 2] - h[i + 3] / h[i + 4];
  h[i] = __hfma(h[i], h[i], h[i]) + __hneg(h[i]) + __habs(h[i]) + hsqrt(h[i]) + hexp(h[i]) +
         hlog(h[i]) + hsin(h[i]) + hrcp(h[i]) + htrunc(h[i]) + hrint(h[i]) + hfloor(h[i]);
  h2[i] = __hfma2(h2[i], h2[i + 1], h2[i + 2]) + __hadd2_sat(h2[i], h2[i]) + h2exp2(h2[i]) +
          __hmul2(h2[i], h2[i]) + h2rsqrt(h2[i]);
  f[i] = __half2float(h[i]) + __low2float(h2[i]) + __high2float(h2[i]);
  h[i + 1] = __float2half(f[i]);
  h2[i + 1] = __floats2half2_rn(f[i], f[i + 1]);
  h[i + 2] = __int2half_rn(n) + __uint2half_rz(n) + __ll2half_rn(n) + __short2half_rn(n);
  f[i + 1] =
      __half2int_rn(h[i]) + __half2uint_rz(h[i]) + __half2ll_rd(h[i]) + __half2short_rn(h[i]);
  f[i + 2] = __hlt(h[i], h[i + 1]) + __heq(h[i], h[i + 2]) + __hisnan(h[i]) +
             __hbeq2(h2[i], h2[i + 1]) + __hgtu(h[i], h[i + 2]);
  h2[i + 2] = __hgt2(h2[i], h2[i + 1]);
  h[i + 5] = __hmax(h[i], h[i + 1]) + __hmin(h[i], h[i + 1]);
  atomicAdd(h, h[i]);
  atomicAdd(h2, h2[i]);
  h[i + 6] = __shfl_xor_sync(0xffffffffu, h[i], 1);
}

__global__ void bfloats(__nv_bfloat16* b, __nv_bfloat162* b2, float* f, int n) {
  const int i = threadIdx.x;
  b[i] = __hadd(b[i], b[i + 1]) * b[i + 2] - b[i + 3] / b[i + 4];
#if __CUDA_ARCH__ >= 800
  b[i] = __hfma(b[i], b[i], b[i]) + __hneg(b[i]) + __habs(b[i]) + hsqrt(b[i]) + hexp(b[i]);
  b2[i] = __hfma2(b2[i], b2[i + 1], b2[i + 2]) + __hmul2(b2[i], b2[i]);
#endif
  f[i] = __bfloat162float(b[i]) + (__hlt(b[i], b[i + 1]) ? 1 : 2);
  b[i + 1] = __float2bfloat16(f[i]);
  b2[i + 1] = __floats2bfloat162_rn(f[i], f[i + 1]);
  b[i + 2] = __int2bfloat16_rn(n);
  f[i + 1] = __bfloat162int_rn(b[i]);
  b[i + 5] = __hmax(b[i], b[i + 1]);
  b2[i + 3] = __hmin2(b2[i], b2[i + 1]);
  atomicAdd(b, b[i]);
  atomicAdd(b2, b2[i]);
}

__global__ void eights(__nv_fp8_e4m3* a, __nv_fp8_e5m2* b, __nv_fp8x2_e4m3* a2, __nv_fp8x4_e5m2* b4,
                       float* f) {
  const int i = threadIdx.x;
  a[i] = __nv_fp8_e4m3(f[i]);
  b[i] = __nv_fp8_e5m2(f[i]);
  f[i + 1] = float(a[i]) + float(b[i]);
  a2[i] = __nv_fp8x2_e4m3(make_float2(f[i], f[i + 1]));
  b4[i] = __nv_fp8x4_e5m2(make_float4(f[i], f[i + 1], 0, 1));
  const float2 pair = a2[i].operator float2();
  const float4 four = b4[i].operator float4();
  f[i + 2] = pair.x + four.w;
}
