// Opens and calls a library of NVIDIA, and queries a private table of the driver, as libnvidia-ml
// does, which works without it.
#include <dlfcn.h>

#include "check.h"

int main() {
  CUDA(cudaFree(nullptr));
  void* const library = dlopen("tests/exec/libcusolver.so.12", RTLD_NOW);
  EXPECT(library != nullptr);
  void* const create = dlsym(library, "cusolverDnCreate");
  EXPECT(create != nullptr);
  for (int i = 0; i < 2; ++i) EXPECT(reinterpret_cast<int (*)()>(create)() == 5);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* const ask = driver == nullptr ? nullptr : dlsym(driver, "cuGetExportTable");
  EXPECT(ask != nullptr);
  const void* table = &table;
  const unsigned char id[16] = {1};
  EXPECT(reinterpret_cast<int (*)(const void**, const void*)>(ask)(&table, id) == 1);
  EXPECT(table == nullptr);
  std::puts("PASSED");
}
