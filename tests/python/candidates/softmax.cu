extern "C" __global__ void softmax(const float* x, float* y, int rows, int columns) {
  __shared__ float part[128];
  const float* in = x + (long)blockIdx.x * columns;
  float* out = y + (long)blockIdx.x * columns;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += 128) most = fmaxf(most, in[i]);
  part[threadIdx.x] = most;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + d]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 128) sum += expf(in[i] - most);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  sum = part[0];
  for (int i = threadIdx.x; i < columns; i += 128) out[i] = expf(in[i] - most) / sum;
}
