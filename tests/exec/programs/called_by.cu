// Allocates, frees and launches in functions whose lines tests name. The argument names the
// mistake.
#include <cuda_runtime.h>

#include <cstdlib>
#include <string_view>

__global__ void store(float* p, int i) { p[i] = 1; }

namespace buffers {

// The lines that tests name are 15, 20, 26 and 31 to 36.
float* make(std::size_t n) {
  float* p = nullptr;
  cudaMalloc(&p, n * sizeof(float));
  return p;
}

void release(float* p) {
  cudaFree(p);
}

}  // namespace buffers

void run(float* p, int i) {
  store<<<1, 1>>>(p, i);
}

int main(int, char** argv) {
  const std::string_view what = argv[1];
  float* const p = buffers::make(64);
  if (what == "past") run(p, 64);
  buffers::release(p);
  if (what == "freed") run(p, 0);
  if (what == "twice") buffers::release(p);
  if (what == "leak") buffers::make(32);
  cudaDeviceSynchronize();
}
