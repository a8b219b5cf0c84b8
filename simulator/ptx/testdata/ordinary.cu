// Ordinary code: what any CUDA program makes nvcc emit. Read by corpus_test.
#include <cassert>
#include <cstdio>

#define TILE 16

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius;
  __device__ explicit Disc(float r) : radius(r) {}
  __device__ float area() const override { return 3.14159265f * radius * radius; }
};

struct Pack {
  char c;
  double d;
  int4 v;
  short s[3];
};

typedef float (*Unary)(float);
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float halve(float x) { return x / 2; }
__device__ Unary unary_table[2] = {twice, halve};
__device__ int counters[8] = {1, 2, 3};
__device__ int* counter_pointer = &counters[3];
__constant__ float weights[2][3] = {{0.5f, -0.25f, 1e-8f}, {1.0f / 3, 3e38f, -0.0f}};
__constant__ Pack pack_constant = {'x', 2.5, {1, 2, 3, 4}, {5, 6, 7}};
__managed__ int managed_value = 7;
__device__ const char* messages[] = {"first", "second"};
__device__ double table64[4] = {1.0, 2.0 / 3, 1e300, -0.0};

__global__ void stencil(const float* __restrict__ in, float* out, int n) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = threadIdx.x; k < blockDim.x + 2; k += blockDim.x) {
    int g = blockIdx.x * blockDim.x + k - 1;
    g = g < 0 ? 0 : g >= n ? n - 1 : g;
    tile[k] = in[g];
  }
  __syncthreads();
  if (i < n)
    out[i] = weights[0][0] * tile[threadIdx.x] + weights[0][1] * tile[threadIdx.x + 1] +
             weights[1][0] * tile[threadIdx.x + 2];
}

__global__ void __launch_bounds__(256, 2) matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

__device__ __noinline__ int many_ways(int x, int y) {
  switch (x) {
    case 0: return y + 7;
    case 1: return y * 3;
    case 2: return y / 3;
    case 3: return y % 7;
    case 4: return y << 3;
    case 5: return y >> 2;
    case 6: return ~y;
    case 7: return y ^ 0x55;
    case 8: return -y;
    case 9: return y & 1;
    case 10: return abs(y);
    default: return x;
  }
}
__global__ void switches(const int* in, int* out) {
  out[threadIdx.x] = many_ways(in[threadIdx.x], in[threadIdx.x + 32]);
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recursion(int* out, int n) { out[threadIdx.x] = fibonacci(n); }

__global__ void function_pointers(float* x, int k) {
  x[threadIdx.x] = unary_table[k & 1](x[threadIdx.x]);
  *counter_pointer += managed_value;
}

__global__ void virtual_calls(float* x, int k) {
  Square square(x[0]);
  Disc disc(x[1]);
  const Shape* s = k ? static_cast<const Shape*>(&square) : &disc;
  x[threadIdx.x] = s->area();
  Shape* heap = k > 1 ? static_cast<Shape*>(new Square(2)) : new Disc(3);
  x[threadIdx.x + 32] += heap->area();
  delete heap;
}

__global__ void prints(const float* x, int n, const char* p) {
  assert(n > 0);
  printf("%d %s %f %c %lld %p\n", n, messages[n & 1], x[threadIdx.x], 'c', 1ll << n, p);
  if (n > 100) __trap();
}

__global__ void integers(long long* a, unsigned long long* b, short* s, unsigned char* u, int n) {
  const int i = threadIdx.x;
  a[i] = a[i] / a[i + 1] + a[i] % (n + 3) + (a[i] >> n);
  b[i] = b[i] / b[i + 1] - b[i] % 10 + (b[i] << n) + __umul64hi(b[i], b[i + 2]);
  s[i] = s[i] * 3 + (s[i] >> 2) + (s[i] < u[i] ? 1 : 2);
  u[i] = u[i] / 3 + u[i] % 5;
  a[i + 1] = __mul64hi(a[i], n) + __popcll(b[i]) + __clzll(a[i]) + __brevll(b[i]) + __ffsll(a[i]);
  b[i + 1] = __popc(n) + __clz(n) + __brev(n) + __byte_perm(n, i, 0x1234) +
             __funnelshift_l(n, i, 3) + __funnelshift_rc(n, i, 5) + __mulhi(n, i) + __umulhi(n, i) +
             __sad(n, i, 3) + __mul24(n, i) + min(n, i) + max(n, i) + __dp4a(n, i, 2) +
             __hadd(n, i) + __vadd4(n, i) + __vabsdiffs4(n, i) + __vcmpgtu2(n, i) + __rhadd(n, i);
}

__global__ void wide128(unsigned __int128* a, __int128* b) {
  a[0] = a[1] * a[2] + a[3];
  a[4] = a[5] / a[6];
  b[0] = (b[1] - b[2]) >> 3;
}

__global__ void floats(float* f, double* d, int n) {
  const int i = threadIdx.x;
  f[i] = sinf(f[i]) + cosf(f[i]) + tanf(f[i]) + expf(f[i]) + logf(f[i]) + powf(f[i], 1.5f) +
         sqrtf(f[i]) + rsqrtf(f[i]) + fmodf(f[i], 3) + f[i] / f[i + 1] + fminf(f[i], 2) +
         fmaxf(f[i], n) + truncf(f[i]) + floorf(f[i]) + ceilf(f[i]) + rintf(f[i]) + roundf(f[i]) +
         copysignf(f[i], n) + fabsf(f[i]) + erff(f[i]) + tgammaf(f[i]) + atan2f(f[i], 2) +
         (isnan(f[i])   ? 1
          : isinf(f[i]) ? 2
                        : 3) +
         ldexpf(f[i], n) + __sinf(f[i]) + __expf(f[i]) + __logf(f[i]) + __fdividef(f[i], 3) +
         __fsqrt_rz(f[i]) + __frcp_ru(f[i]) + __fadd_rd(f[i], 1) + __saturatef(f[i]) +
         __int_as_float(n) + tanhf(f[i]) + (float)n + (float)(unsigned)n + (float)(long long)n;
  d[i] = sin(d[i]) + exp(d[i]) + log(d[i]) + pow(d[i], 3.5) + sqrt(d[i]) + d[i] / d[i + 1] +
         fmod(d[i], 3.0) + fma(d[i], d[i + 1], 2.0) + rsqrt(d[i]) + floor(d[i]) + trunc(d[i]) +
         fmin(d[i], 3.0) + (double)f[i] + n + __drcp_rn(d[i]) + __dadd_rz(d[i], 1) + cbrt(d[i]) +
         erfc(d[i]) + lgamma(d[i]);
  f[i + 1] = (float)d[i];
  const int q = (int)f[i];
  const unsigned u = (unsigned)f[i];
  const long long l = (long long)d[i];
  d[i + 1] = q + u + l + (short)f[i] + (unsigned char)f[i] + __float2int_rn(f[i]) +
             __double2ll_ru(d[i]) + __float_as_uint(f[i]) + __double_as_longlong(d[i]);
}

__global__ void vectors(const float4* a, float4* b, const int2* c, int2* e, const uchar4* u,
                        uchar4* w, const double2* d, double2* g, const short4* s, short4* t) {
  const int i = threadIdx.x;
  float4 x = a[i];
  x.y += x.x;
  b[i] = x;
  e[i] = c[i + 1];
  w[i] = u[i];
  g[i] = d[i];
  t[i] = s[i];
  b[i + 1] = __ldg(a + i);
  e[i + 1] = __ldcg(c);
  __stcs(e + 2, c[1]);
}

struct Big {
  int a[40];
  double b;
};
__device__ __noinline__ Big make_big(int n, Big in) {
  in.a[n & 31] = n;
  in.b += n;
  return in;
}
__global__ void big_parameters(const __grid_constant__ Big big, Big byval, int* out, char c,
                               double d, short s, bool flag) {
  Big local = make_big(threadIdx.x, byval);
  out[threadIdx.x] = big.a[threadIdx.x & 31] + local.a[3] + c + s + (flag ? (int)d : 0) +
                     (int)local.b + pack_constant.v.y;
}

__global__ void local_array(int* out, int n) {
  int a[64];
  for (int i = 0; i < n; ++i) a[i & 63] = out[i];
  int s = 0;
  for (int i = 0; i < n; ++i) s += a[(i * 7) & 63];
  out[n] = s;
  int* dynamic = static_cast<int*>(alloca(n * 4));
  dynamic[n / 2] = s;
  out[n + 1] = dynamic[out[0]];
}

template <class T>
__device__ T static_local(T x) {
  static __device__ T state = 3;
  state += x;
  return state;
}
__global__ void statics(int* i, float* f) {
  *i = static_local(*i);
  *f = static_local(*f);
}

__global__ void volatiles(volatile int* v, int* w) {
  __shared__ volatile int flag;
  flag = v[0];
  while (v[1] == 0) {
  }
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  w[0] = flag;
  w[1] = clock64() + clock();
  __nanosleep(100);
}
