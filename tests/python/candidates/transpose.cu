extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns, int stride) {
  __shared__ float tile[32][33];
  for (int k = threadIdx.y; k < 32; k += 8) {
    const int r = blockIdx.y * 32 + k, c = blockIdx.x * 32 + threadIdx.x;
    if (r < rows && c < columns) tile[k][threadIdx.x] = x[r * stride + c];
  }
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) {
    const int c = blockIdx.x * 32 + k, r = blockIdx.y * 32 + threadIdx.x;
    if (r < rows && c < columns) y[c * (rows + 3) + r] = tile[threadIdx.x][k];
  }
}
