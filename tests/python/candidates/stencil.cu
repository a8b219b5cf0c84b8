// y[i] = c[0] (x[i+1] - x[i-1]) + … + c[3] (x[i+4] - x[i-4]); past the ends x is 0.
__device__ float at(const float* x, int n, int i) { return i < 0 || i >= n ? 0.0f : x[i]; }

extern "C" __global__ void stencil(const float* x, const float* c, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 1; k <= 4; ++k)
    sum = __fmaf_rn(c[k - 1], __fsub_rn(at(x, n, i + k), at(x, n, i - k)), sum);
  y[i] = sum;
}
