// lockstep: grid=(cdiv(rows, 64)) block=64
extern "C" __global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  double most = -INFINITY, sum = 0;
  for (int i = 0; i < columns; ++i) {
    const double v = x[row * columns + i], now = fmax(most, v);
    sum = sum * exp(most - now) + exp(v - now);
    most = now;
  }
  for (int i = 0; i < columns; ++i)
    y[row * columns + i] = static_cast<float>(exp(x[row * columns + i] - most) / sum);
}
