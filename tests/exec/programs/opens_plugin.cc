// A program without CUDA: opens the library of its first argument and calls it with the second.
// With -DLINKED it is linked with the library.
#include <dlfcn.h>

#include <cstdio>

#ifdef LINKED
extern "C" int run_shift(const char* how);
int main(int argc, char** argv) { return argc < 2 ? 2 : run_shift(argv[1]); }
#else
int main(int argc, char** argv) {
  void* library = argc < 3 ? nullptr : dlopen(argv[1], RTLD_NOW);
  void* function = library == nullptr ? nullptr : dlsym(library, "run_shift");
  if (function == nullptr) {
    std::printf("cannot be opened: %s\n", dlerror());
    return 2;
  }
  return reinterpret_cast<int (*)(const char*)>(function)(argv[2]);
}
#endif
