// Functions and kernels: attributes, names, parameters, occupancy.
#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_function {

// Without the number of registers, which is the compiler's affair.
constexpr int kAttributes[] = {0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 99};
constexpr int kValues[] = {0,         1,  2,  1024, 49152, 100 << 10, 227 << 10, (227 << 10) + 1,
                           228 << 10, -1, -2, 50,   100,   101};

// A function of a module, or none.
Named<CUfunction> function(Rig& rig) {
  if (rig.random.chance(5)) return {nullptr, "null"};
  Code* const code = rig.pick(rig.codes);
  if (Named<CUfunction>* const f = rig.pick(code->functions)) return *f;
  return rig.codes.front().functions[rig.random.below(3)];
}

Named<CUkernel>* kernel(Rig& rig) {
  for (int i = 0; i < 4; ++i) {
    if (Named<CUkernel>* const k = rig.pick(rig.pick(rig.codes)->kernels)) return k;
  }
  return nullptr;
}

void ask(Rig& rig) {
  const auto f = function(rig);
  const int which = rig.random.of(kAttributes);
  int value = -99;
  const CUresult result =
      DRIVER(cuFuncGetAttribute)(&value, static_cast<CUfunction_attribute>(which), f.it);
  rig.answer(text("cuFuncGetAttribute(%d, %s)", which, f.name.c_str()), result, text("%d", value));
}

void set(Rig& rig) {
  const auto f = function(rig);
  const int which = rig.random.of(kAttributes), value = rig.random.of(kValues);
  // Nodes of kernels that need a cluster, and what a preference does to the occupancy, are left
  // out.
  if (which >= 11 && which <= 13 && value > 0) return;
  if (which == 9 && value >= 0 && value <= 100) return;
  rig.answer(text("cuFuncSetAttribute(%s, %d, %d)", f.name.c_str(), which, value),
             DRIVER(cuFuncSetAttribute)(f.it, static_cast<CUfunction_attribute>(which), value));
}

void name(Rig& rig) {
  const auto f = function(rig);
  switch (rig.random.below(6)) {
    case 0: {
      const char* n = "unchanged";
      const CUresult result = DRIVER(cuFuncGetName)(&n, f.it);
      return rig.answer(text("cuFuncGetName(%s)", f.name.c_str()), result, n);
    }
    case 1: {
      CUmodule m = nullptr;
      const CUresult result = DRIVER(cuFuncGetModule)(&m, f.it);
      return rig.answer(text("cuFuncGetModule(%s)", f.name.c_str()), result,
                        m == rig.own_code().module ? "own" : "another");
    }
    case 2: {
      const std::size_t index = rig.random.of({0u, 1u, 2u, 99u});
      std::size_t offset = 99, size = 99;
      const CUresult result = DRIVER(cuFuncGetParamInfo)(f.it, index, &offset, &size);
      return rig.answer(text("cuFuncGetParamInfo(%s, %zu)", f.name.c_str(), index), result,
                        text("%zu %zu", offset, size));
    }
    case 3: {
      CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_MAX;
      return rig.answer(text("cuFuncIsLoaded(%s)", f.name.c_str()),
                        DRIVER(cuFuncIsLoaded)(&state, f.it));
    }
    case 4: return rig.answer(text("cuFuncLoad(%s)", f.name.c_str()), DRIVER(cuFuncLoad)(f.it));
    default: {
      const int config = rig.random.of({0, 1, 4, 99});  // no preference for less shared memory
      return rig.answer(text("cuFuncSetCacheConfig(%s, %d)", f.name.c_str(), config),
                        DRIVER(cuFuncSetCacheConfig)(f.it, static_cast<CUfunc_cache>(config)));
    }
  }
}

void ask_kernel(Rig& rig) {
  Named<CUkernel>* const k = kernel(rig);
  if (k == nullptr) return;
  switch (rig.random.below(8)) {
    case 0:
    case 1: {
      const int which = rig.random.of(kAttributes), device = rig.random.of({0, 0, 0, 99});
      int value = -99;
      const CUresult result = DRIVER(cuKernelGetAttribute)(
          &value, static_cast<CUfunction_attribute>(which), k->it, device);
      return rig.answer(text("cuKernelGetAttribute(%d, %s, %d)", which, k->name.c_str(), device),
                        result, text("%d", value));
    }
    case 2: {
      const int which = rig.random.of(kAttributes), value = rig.random.of(kValues);
      if (which >= 11 && which <= 13 && value > 0) return;
      if (which == 9 && value >= 0 && value <= 100) return;
      return rig.answer(
          text("cuKernelSetAttribute(%d, %d, %s)", which, value, k->name.c_str()),
          DRIVER(cuKernelSetAttribute)(static_cast<CUfunction_attribute>(which), value, k->it, 0));
    }
    case 3: {
      CUfunction f = nullptr;
      const CUresult result = DRIVER(cuKernelGetFunction)(&f, k->it);
      return rig.answer(text("cuKernelGetFunction(%s)", k->name.c_str()), result);
    }
    case 4: {
      const char* n = "unchanged";
      const CUresult result = DRIVER(cuKernelGetName)(&n, k->it);
      return rig.answer(text("cuKernelGetName(%s)", k->name.c_str()), result, n);
    }
    case 5: {
      const std::size_t index = rig.random.of({0u, 1u, 2u});
      std::size_t offset = 99, size = 99;
      const CUresult result = DRIVER(cuKernelGetParamInfo)(k->it, index, &offset, &size);
      return rig.answer(text("cuKernelGetParamInfo(%s, %zu)", k->name.c_str(), index), result,
                        text("%zu %zu", offset, size));
    }
    case 6: {
      CUlibrary l = nullptr;
      const CUresult result = DRIVER(cuKernelGetLibrary)(&l, k->it);
      return rig.answer(text("cuKernelGetLibrary(%s)", k->name.c_str()), result,
                        l == nullptr ? "null" : "not null");
    }
    default: {
      const int config = rig.random.of({0, 1, 4});
      return rig.answer(
          text("cuKernelSetCacheConfig(%s, %d)", k->name.c_str(), config),
          DRIVER(cuKernelSetCacheConfig)(k->it, static_cast<CUfunc_cache>(config), 0));
    }
  }
}

void ask_occupancy(Rig& rig) {
  const auto k = rig.kernel();
  const int threads = rig.random.of({0, 1, 32, 64, 65, 256, 1024, 1025, -1});
  const std::size_t bytes =
      rig.random.of({std::size_t{0}, std::size_t{0}, std::size_t{1024}, std::size_t{48} << 10,
                     std::size_t{100} << 10, std::size_t{227} << 10, std::size_t{1} << 30});
  int blocks = -1;
  std::size_t room = 0;
  switch (rig.random.below(4)) {
    case 0: {
      const CUresult result =
          DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, k.handle, threads, bytes);
      return rig.answer(text("cuOccupancyMaxActiveBlocksPerMultiprocessor(%s, %d, %zu)",
                             k.name.c_str(), threads, bytes),
                        result, text("%d", blocks));
    }
    case 1: {
      const unsigned flags = rig.random.of({0u, 1u, 2u});
      const CUresult result = DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(
          &blocks, k.handle, threads, bytes, flags);
      return rig.answer(
          text("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(%s, %d, %zu, %u)",
               k.name.c_str(), threads, bytes, flags),
          result, text("%d", blocks));
    }
    case 2: {
      const int wanted = rig.random.of({1, 2, 16, 32, 33, 0, -1});
      const CUresult result =
          DRIVER(cuOccupancyAvailableDynamicSMemPerBlock)(&room, k.handle, wanted, threads);
      return rig.answer(text("cuOccupancyAvailableDynamicSMemPerBlock(%s, %d, %d)", k.name.c_str(),
                             wanted, threads),
                        result, text("%zu", room));
    }
    default: {
      int grid = -1, block = -1;
      const int limit = rig.random.of({0, 64, 2048});
      // The grid depends on the number of multiprocessors.
      const CUresult result =
          DRIVER(cuOccupancyMaxPotentialBlockSize)(&grid, &block, k.handle, nullptr, bytes, limit);
      return rig.answer(
          text("cuOccupancyMaxPotentialBlockSize(%s, %zu, %d)", k.name.c_str(), bytes, limit),
          result, text("%d", block));
    }
  }
}

}  // namespace in_function

std::vector<Call<Rig>> function_calls() {
  using namespace in_function;
  return {{5, ask}, {3, set}, {5, name}, {6, ask_kernel}, {4, ask_occupancy}};
}

}  // namespace lockstep::calls::driver
