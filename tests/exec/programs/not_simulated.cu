// Two kernels, one of them with an instruction that the simulated GPU does not have, and host code that looks at no error unless it is told to.
#include <cstdio>
#include <cstring>

__global__ void fine(int* p) { *p = 1; }

__global__ void odd(int* p) {
  int x;
  asm("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];" : "=r"(x) : "l"(p));  // the line of the refusal
  *p = x;
}

int main(int argc, char** argv) {
  int* p;
  cudaMalloc(&p, sizeof(int));
  fine<<<1, 1>>>(p);
  odd<<<1, 1>>>(p);
  if (argc > 1 && std::strcmp(argv[1], "last") == 0) std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  cudaDeviceSynchronize();
  std::puts("done");
}
