// lockstep: grid=(4) block=64
// The last block adds the blocks' sums, and leaves the counter as it found it.
__device__ float parts[4];
__device__ unsigned int done;

extern "C" __global__ void total(const float* x, float* out, int n) {
  __shared__ float part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 256) sum += x[i];
  atomicAdd(&part, sum);
  __syncthreads();
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = part;
  __threadfence();
  if (atomicAdd(&done, 1) != 3) return;
  __threadfence();
  float all = 0;
  for (int k = 0; k < 4; ++k) all += parts[k], parts[k] = 0;
  *out = all;
  done = 0;
}
