// Opens a library of NVIDIA's and calls it.
#include <dlfcn.h>

#include "check.h"

int main() {
  CUDA(cudaFree(nullptr));
  void* const library = dlopen("tests/exec/libcufft.so.12", RTLD_NOW);
  EXPECT(library != nullptr);
  void* const plan = dlsym(library, "cufftPlan1d");
  EXPECT(plan != nullptr);
  for (int i = 0; i < 2; ++i) EXPECT(reinterpret_cast<int (*)()>(plan)() == 5);
  std::puts("PASSED");
}
