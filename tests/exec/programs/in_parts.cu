// A program that names its parts. Against the rules, the second part checks the first part's
// result: it would notice mutants of the first part's kernel if it ran.
#include <dlfcn.h>

#include "check.h"

__global__ void first(int* values) { values[threadIdx.x] = 3 * threadIdx.x + 1; }
__global__ void second(int* values) { values[threadIdx.x] = 5 * threadIdx.x + 2; }

// Whether the kernel writes the expected values.
template <class Kernel>
bool is_right(Kernel kernel, int factor, int more) {
  int values[32], *device;
  CUDA(cudaMalloc(&device, sizeof values));
  CUDA(cudaMemset(device, 0, sizeof values));
  kernel<<<1, 32>>>(device);
  CUDA(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
  CUDA(cudaFree(device));
  bool right = true;
  for (int i = 0; i < 32; ++i) right = right && values[i] == factor * i + more;
  return right;
}

int main() {
  const auto begin_part = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "lockstepBeginPart"));
  bool first_was_right = true;
  if (begin_part()) first_was_right = is_right(first, 3, 1);
  if (begin_part()) {
    EXPECT(is_right(second, 5, 2));
    EXPECT(first_was_right);
  }
  std::printf("PASSED\n");
}
