extern "C" __global__ void sample(float* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = x[i] * x[i] + 1;
}
