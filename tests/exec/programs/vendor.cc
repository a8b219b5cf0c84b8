// Stands for a library of NVIDIA with machine code only: it queries the driver's private tables and
// fails without them.
#include <dlfcn.h>

extern "C" int cusolverDnCreate() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* const ask = driver == nullptr ? nullptr : dlsym(driver, "cuGetExportTable");
  const void* table = nullptr;
  if (ask == nullptr) return 1;
  return reinterpret_cast<int (*)(const void**, const void*)>(ask)(&table, "") != 0 ? 5 : 0;
}
