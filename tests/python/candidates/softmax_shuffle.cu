// lockstep: grid=(rows) block=32
extern "C" __global__ void softmax(const float* x, float* y, int rows, int columns) {
  const float* in = x + (long)blockIdx.x * columns;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) most = fmaxf(most, in[i]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  for (int i = threadIdx.x; i < columns; i += 32) sum += expf(in[i] - most);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int i = threadIdx.x; i < columns; i += 32)
    y[(long)blockIdx.x * columns + i] = expf(in[i] - most) / sum;
}
