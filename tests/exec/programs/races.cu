// Kernels with a race between two threads that the test names; the first argument selects one.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void written_by_a_reader(int* p) {
  const int first = p[0];
  p[threadIdx.x + 32] = first;
  if (threadIdx.x == 0) p[0] = first + 1;
}

__global__ void shared_by_a_reader(int* p) {
  __shared__ int cell;
  if (threadIdx.x == 0) cell = 1;
  __syncthreads();
  const int read = cell;
  if (threadIdx.x == 31) cell = read + 1;
  __syncthreads();
  p[threadIdx.x] = read + cell;
}

__global__ void by_one_instruction(int* p) { p[0] = threadIdx.x; }

__global__ void by_two_blocks(int* p) {
  if (threadIdx.x == 5) p[0] = blockIdx.x;
}

int main(int, char** argv) {
  int* p = nullptr;
  cudaMalloc(&p, 64 * sizeof(int));
  cudaMemset(p, 0, 64 * sizeof(int));
  switch (std::atoi(argv[1])) {
    case 0: written_by_a_reader<<<1, 32>>>(p); break;
    case 1: shared_by_a_reader<<<1, 32>>>(p); break;
    case 2: by_one_instruction<<<1, 32>>>(p); break;
    default: by_two_blocks<<<2, 32>>>(p);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
