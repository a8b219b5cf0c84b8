extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int columns,
                                  int inner) {
  const int r = blockIdx.y * 16 + threadIdx.y, q = blockIdx.x * 16 + threadIdx.x;
  if (r >= rows || q >= columns) return;
  double sum = 0;
  for (int k = 0; k < inner; ++k) sum += double(a[r * inner + k]) * b[k * columns + q];
  c[r * columns + q] = static_cast<float>(sum);
}
