// Launches, attributes of kernels, occupancy.
#include "tests/calls/rig.h"

namespace lockstep::calls {
namespace in_launch {

struct Kernel {
  const void* it;
  const char* name;
};

Kernel kernel(Rig& rig) {
  static char no_kernel = 0;
  if (rig.random.chance(4)) return {&no_kernel, "no_kernel"};
  if (rig.random.chance(30)) return {reinterpret_cast<const void*>(&few_threads), "few_threads"};
  return {reinterpret_cast<const void*>(&add), "add"};
}

// Shapes of a grid and of a block, right and wrong ones.
dim3 grid(Rig& rig) {
  if (rig.random.chance(70)) return {1 + static_cast<unsigned>(rig.random.below(3)), 1, 1};
  const dim3 shapes[] = {{0, 1, 1},           {1, 0, 1}, {1, 1, 0},     {1, 65536, 1},
                         {1, 1, 65536},       {2, 2, 2}, {1, 70000, 0}, {0x80000000u, 1, 1},
                         {0xffffffffu, 1, 1}, {1, 3, 1}, {4, 1, 1},     {8, 1, 1}};
  return rig.random.of(shapes);
}

dim3 block(Rig& rig) {
  if (rig.random.chance(60)) return {1 + static_cast<unsigned>(rig.random.below(64)), 1, 1};
  const dim3 shapes[] = {{0, 1, 1},   {1, 0, 1},   {1, 1, 0},    {1024, 1, 1}, {1025, 1, 1},
                         {32, 32, 1}, {33, 32, 1}, {1, 1024, 1}, {1, 1, 64},   {1, 1, 65},
                         {65, 1, 1},  {64, 1, 1},  {16, 2, 2},   {8, 8, 16}};
  return rig.random.of(shapes);
}

unsigned dynamic_bytes(Rig& rig) {
  if (rig.random.chance(70)) return 0;
  return rig.random.of({1u, 1024u, 48u << 10, (48u << 10) + 1, 100u << 10, 227u << 10,
                        (227u << 10) + 1, 228u << 10, 1u << 30});
}

std::string shape(dim3 d) { return text("%ux%ux%u", d.x, d.y, d.z); }

void launch(Rig& rig) {
  const Kernel k = kernel(rig);
  const dim3 g = grid(rig), b = block(rig);
  const unsigned bytes = dynamic_bytes(rig);
  const auto s = rig.stream();
  unsigned* slot = rig.slot();
  unsigned value = static_cast<unsigned>(rig.random.below(1000));
  void* arguments[] = {&slot, &value};
  const bool cooperative = rig.random.chance(15);
  const cudaError_t error = cooperative
                                ? cudaLaunchCooperativeKernel(k.it, g, b, arguments, bytes, s.it)
                                : cudaLaunchKernel(k.it, g, b, arguments, bytes, s.it);
  rig.answer(text("%s(%s, %s, %s, %u, %s, %u, %s)",
                  cooperative ? "cudaLaunchCooperativeKernel" : "cudaLaunchKernel", k.name,
                  shape(g).c_str(), shape(b).c_str(), bytes, rig.slot_name().c_str(), value,
                  s.name.c_str()),
             error);
}

void launch_with_attributes(Rig& rig) {
  const Kernel k = kernel(rig);
  const auto s = rig.stream();
  cudaLaunchConfig_t config = {};
  config.gridDim = grid(rig);
  config.blockDim = block(rig);
  config.stream = s.it;
  cudaLaunchAttribute attributes[3] = {};
  std::string names;
  unsigned count = static_cast<unsigned>(rig.random.below(3));
  for (unsigned i = 0; i < count; ++i) {
    cudaLaunchAttribute& a = attributes[i];
    switch (rig.random.below(5)) {
      case 0: {
        a.id = cudaLaunchAttributeClusterDimension;
        const dim3 shapes[] = {{1, 1, 1}, {2, 1, 1}, {4, 1, 1}, {8, 1, 1}, {16, 1, 1},
                               {0, 1, 1}, {3, 1, 1}, {1, 2, 1}, {1, 1, 2}, {0, 0, 0}};
        const dim3 c = rig.random.of(shapes);
        a.val.clusterDim = {c.x, c.y, c.z};
        names += " cluster " + shape(c);
        break;
      }
      case 1:
        a.id = cudaLaunchAttributeCooperative;
        a.val.cooperative = static_cast<int>(rig.random.below(2));
        names += text(" cooperative %d", a.val.cooperative);
        break;
      case 2:
        a.id = cudaLaunchAttributePriority;
        a.val.priority = rig.random.of({0, -5, 7, -100});
        names += text(" priority %d", a.val.priority);
        break;
      case 3:
        a.id = cudaLaunchAttributeMemSyncDomain;
        a.val.memSyncDomain =
            rig.random.chance(50) ? cudaLaunchMemSyncDomainDefault : cudaLaunchMemSyncDomainRemote;
        names += text(" domain %d", a.val.memSyncDomain);
        break;
      default: a.id = cudaLaunchAttributeIgnore; names += " ignore";
    }
  }
  config.attrs = attributes;
  config.numAttrs = count;
  unsigned* slot = rig.slot();
  unsigned value = static_cast<unsigned>(rig.random.below(1000));
  void* arguments[] = {&slot, &value};
  const cudaError_t error = cudaLaunchKernelExC(&config, k.it, arguments);
  rig.answer(text("cudaLaunchKernelExC(%s, %s, %s, %s,%s)", k.name, shape(config.gridDim).c_str(),
                  shape(config.blockDim).c_str(), s.name.c_str(), names.c_str()),
             error);
}

void set_attribute(Rig& rig) {
  const Kernel k = kernel(rig);
  const int which = rig.random.of({8, 8, 8, 9, 9, 10, 11, 12, 13, 14, 15, 0, 99});
  const int value = rig.random.of(
      {0, 1, 2, 1024, 49152, 100 << 10, 227 << 10, (227 << 10) + 1, -1, -2, 50, 100, 101});
  // Nodes of kernels that need a cluster are checked in other places.
  if (which >= cudaFuncAttributeRequiredClusterWidth &&
      which <= cudaFuncAttributeRequiredClusterDepth && value > 0)
    return;
  // What is preferred decides the occupancy on silicon, which is not modelled.
  if (which == cudaFuncAttributePreferredSharedMemoryCarveout && value >= 0 && value <= 100) return;
  rig.answer(text("cudaFuncSetAttribute(%s, %d, %d)", k.name, which, value),
             cudaFuncSetAttribute(k.it, static_cast<cudaFuncAttribute>(which), value));
}

void ask_attributes(Rig& rig) {
  const Kernel k = kernel(rig);
  cudaFuncAttributes a = {};
  const cudaError_t error = cudaFuncGetAttributes(&a, k.it);
  rig.answer(
      text("cudaFuncGetAttributes(%s)", k.name), error,
      text("threads %d, shared %zu, dynamic %d, carveout %d, cluster %d %d", a.maxThreadsPerBlock,
           a.sharedSizeBytes, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout,
           a.clusterDimMustBeSet, a.nonPortableClusterSizeAllowed));
}

void ask_occupancy(Rig& rig) {
  const Kernel k = kernel(rig);
  const int threads = rig.random.of({0, 1, 32, 64, 65, 256, 1024, 1025, -1});
  const std::size_t bytes = dynamic_bytes(rig);
  int blocks = -1;
  std::size_t room = 0;
  switch (rig.random.below(3)) {
    case 0: {
      const cudaError_t error =
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k.it, threads, bytes);
      return rig.answer(text("cudaOccupancyMaxActiveBlocksPerMultiprocessor(%s, %d, %zu)", k.name,
                             threads, bytes),
                        error, text("%d", blocks));
    }
    case 1: {
      const unsigned flags = rig.random.of({0u, 1u, 2u});
      const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
          &blocks, k.it, threads, bytes, flags);
      return rig.answer(
          text("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(%s, %d, %zu, %u)", k.name,
               threads, bytes, flags),
          error, text("%d", blocks));
    }
    default: {
      const int wanted = rig.random.of({1, 2, 16, 32, 33, 0, -1});
      const cudaError_t error =
          cudaOccupancyAvailableDynamicSMemPerBlock(&room, k.it, wanted, threads);
      return rig.answer(
          text("cudaOccupancyAvailableDynamicSMemPerBlock(%s, %d, %d)", k.name, wanted, threads),
          error, text("%zu", room));
    }
  }
}

void set_cache(Rig& rig) {
  const Kernel k = kernel(rig);
  const int which = static_cast<int>(rig.random.below(6));
  rig.answer(text("cudaFuncSetCacheConfig(%s, %d)", k.name, which),
             cudaFuncSetCacheConfig(k.it, static_cast<cudaFuncCache>(which)));
}

}  // namespace in_launch

std::vector<Call<Rig>> launch_calls() {
  using namespace in_launch;
  return {{14, launch},        {6, launch_with_attributes}, {5, set_attribute},
          {4, ask_attributes}, {4, ask_occupancy},          {1, set_cache}};
}

}  // namespace lockstep::calls
