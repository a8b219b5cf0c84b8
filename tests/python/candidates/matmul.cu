extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int columns,
                                  int inner) {
  __shared__ float left[16][16], right[16][16];
  const int r = blockIdx.y * 16 + threadIdx.y, q = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < inner; k += 16) {
    const int ka = k + threadIdx.x, kb = k + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = r < rows && ka < inner ? a[r * inner + ka] : 0;
    right[threadIdx.y][threadIdx.x] = kb < inner && q < columns ? b[kb * columns + q] : 0;
    __syncthreads();
    for (int t = 0; t < 16; ++t) sum += left[threadIdx.y][t] * right[t][threadIdx.x];
    __syncthreads();
  }
  if (r < rows && q < columns) c[r * columns + q] = sum;
}
