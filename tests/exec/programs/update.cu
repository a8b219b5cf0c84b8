// Threads of one block, or of several, that each add 1 to one element without an atomic.
#include <cstdio>
#include <cstdlib>

__global__ void add_one(int* sum) {
  *sum += 1;
}

// The addition in two lines.
__global__ void add_one_later(int* sum) {
  const int before = *sum;
  *sum = before + 1;
}

int main(int, char** argv) {
  int* sum = nullptr;
  if (cudaMalloc(&sum, sizeof *sum) != cudaSuccess) return 1;
  if (cudaMemset(sum, 0, sizeof *sum) != cudaSuccess) return 1;
  const int blocks = std::atoi(argv[1]), threads = std::atoi(argv[2]);
  const bool in_one_line = argv[3][0] == '1';
  if (in_one_line) add_one<<<blocks, threads>>>(sum);
  if (!in_one_line) add_one_later<<<blocks, threads>>>(sum);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  return cudaFree(sum) == cudaSuccess ? 0 : 1;
}
