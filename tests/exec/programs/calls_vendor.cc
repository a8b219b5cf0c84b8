// Opens a library of NVIDIA's and calls it.
#include <dlfcn.h>

#include "check.h"

int main() {
  CUDA(cudaFree(nullptr));
  void* const library = dlopen("tests/exec/libcusolver.so.12", RTLD_NOW);
  EXPECT(library != nullptr);
  void* const create = dlsym(library, "cusolverDnCreate");
  EXPECT(create != nullptr);
  for (int i = 0; i < 2; ++i) EXPECT(reinterpret_cast<int (*)()>(create)() == 5);
  std::puts("PASSED");
}
