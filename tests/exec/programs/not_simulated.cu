// Two kernels, one with an instruction that the simulated GPU lacks. The host checks an error only
// with the argument "last". Another argument names the one kernel to launch.
#include <cstdio>
#include <cstring>

__global__ void fine(int* p) { *p = 1; }

__global__ void odd(int* p) {
  int x;  // below: the line of the refusal
  asm("{ .reg .pred q; istypep.texref q, %1; selp.s32 %0, 1, 0, q; }" : "=r"(x) : "l"(p));
  *p = x;
}

int main(int argc, char** argv) {
  const auto given = [&](const char* word) {
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], word) == 0) return true;
    }
    return false;
  };
  int* p;
  cudaMalloc(&p, sizeof(int));
  if (!given("odd")) fine<<<1, 1>>>(p);
  if (!given("fine")) odd<<<1, 1>>>(p);
  if (given("last")) std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  cudaDeviceSynchronize();
  std::puts("done");
}
