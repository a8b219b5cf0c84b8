// A block a row. The row's largest value and its sum come by way of 128 cells of shared memory.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int columns) {
  __shared__ float cells[128];
  const int t = threadIdx.x;
  x += static_cast<long>(blockIdx.x) * columns;
  y += static_cast<long>(blockIdx.x) * columns;
  float largest = -INFINITY;
  for (int i = t; i < columns; i += 128) largest = fmaxf(largest, x[i]);
  cells[t] = largest;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) cells[t] = fmaxf(cells[t], cells[t + half]);
  }
  __syncthreads();
  largest = cells[0];
  __syncthreads();  // every thread has read the largest before the sums come
  float sum = 0;
  for (int i = t; i < columns; i += 128) sum += expf(x[i] - largest);
  cells[t] = sum;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) cells[t] += cells[t + half];
  }
  __syncthreads();
  for (int i = t; i < columns; i += 128) y[i] = expf(x[i] - largest) / cells[0];
}
