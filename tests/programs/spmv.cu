// A sparse matrix (CSR) times a vector, with one thread per row and with one warp per row.
// Integers, so that both results are equal.
#include "program.h"

namespace spmv {

__global__ void scalar(const int* first, const int* column, const float* value, const float* x,
                       float* y, int rows, int mistake) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int i = first[r]; mistake == 1 ? i <= first[r + 1] : i < first[r + 1]; ++i)
    sum += value[i] * x[column[i]];
  y[r] = sum;
}

__global__ void vector(const int* __restrict__ first, const int* __restrict__ column,
                       const float* __restrict__ value, const float* __restrict__ x,
                       float* __restrict__ y, int rows, int mistake) {
  __shared__ volatile float part[128];
  const int lane = threadIdx.x & 31, r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  float sum = 0;
  if (r < rows)
    for (int i = first[r] + lane; i < first[r + 1]; i += 32) sum += value[i] * x[column[i]];
  part[threadIdx.x] = sum;
  for (int d = 16; d > 0; d /= 2) {
    __syncwarp();
    const float other = lane < (mistake == 2 ? 8 : d) ? part[threadIdx.x + d] : 0;
    __syncwarp();
    part[threadIdx.x] = sum += other;
  }
  if (lane == 0 && r < rows) y[r] = sum;
}

PROGRAM(spmv, 2) {
  const int rows = 213, columns = 190;
  std::vector<int> first = {0}, column;
  std::vector<float> value, x(columns);
  Random random(74);
  for (float& v : x) v = static_cast<float>(random.below(201) - 100);
  for (int r = 0; r < rows; ++r) {
    const int length = r % 11 == 0 ? 0 : r % 17 == 0 ? 90 : random.below(12);
    for (int k = 0; k < length; ++k)
      column.push_back(random.below(columns)),
          value.push_back(static_cast<float>(random.below(19) - 9));
    first.push_back(static_cast<int>(column.size()));
  }
  Buffer<int> d_first(first), d_column(column);
  Buffer<float> d_value(value), d_x(x), y(rows), z(rows);
  scalar<<<divide_up(rows, 64), 64>>>(d_first, d_column, d_value, d_x, y, rows, mistake);
  vector<<<divide_up(rows, 4), 128>>>(d_first, d_column, d_value, d_x, z, rows, mistake);
  const std::vector<float> by_threads = y.host(), by_warps = z.host();
  int wrong = 0;
  for (int r = 0; r < rows; ++r) {
    long long sum = 0;
    for (int i = first[r]; i < first[r + 1]; ++i)
      sum += static_cast<long long>(value[i]) * static_cast<long long>(x[column[i]]);
    wrong += (by_threads[r] != static_cast<float>(sum)) + (by_warps[r] != static_cast<float>(sum));
  }
  return verdict(wrong == 0, "%d of %d wrong, %zu elements", wrong, 2 * rows, value.size());
}

}  // namespace spmv
