// Launches.
#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_launch {

struct Shape {
  unsigned x = 1, y = 1, z = 1;
};

Shape grid(Rig& rig) {
  if (rig.random.chance(75)) return {1 + static_cast<unsigned>(rig.random.below(3)), 1, 1};
  const Shape shapes[] = {{0, 1, 1},     {1, 0, 1},           {1, 1, 0},           {1, 65536, 1},
                          {1, 1, 65536}, {0x80000000u, 1, 1}, {0xffffffffu, 1, 1}, {2, 2, 2}};
  return rig.random.of(shapes);
}

Shape block(Rig& rig) {
  if (rig.random.chance(65)) return {1 + static_cast<unsigned>(rig.random.below(64)), 1, 1};
  const Shape shapes[] = {{0, 1, 1},   {1, 0, 1},   {1, 1, 0},  {1024, 1, 1}, {1025, 1, 1},
                          {32, 32, 1}, {33, 32, 1}, {1, 1, 64}, {1, 1, 65},   {65, 1, 1}};
  return rig.random.of(shapes);
}

unsigned dynamic_bytes(Rig& rig) {
  if (rig.random.chance(75)) return 0;
  return rig.random.of({1u, 1024u, 44u << 10, 48u << 10, (48u << 10) + 1, 227u << 10, 1u << 30});
}

std::string name(Shape s) { return text("%ux%ux%u", s.x, s.y, s.z); }

void launch(Rig& rig) {
  const Rig::Kernel k = rig.random.chance(3) ? Rig::Kernel{nullptr, "null"} : rig.kernel();
  const Shape g = grid(rig), b = block(rig);
  const unsigned bytes = dynamic_bytes(rig);
  const auto s = rig.stream();
  CUdeviceptr slot = rig.slot();
  unsigned value = static_cast<unsigned>(rig.random.below(1000));
  void* arguments[] = {&slot, &value};
  struct {
    CUdeviceptr slot;
    unsigned value;
  } packed = {slot, value};
  std::size_t size = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  const char* how = "arguments";
  void** one_by_one = arguments;
  void** together = nullptr;
  if (rig.random.chance(25)) {
    how = "buffer";
    one_by_one = nullptr, together = extra;
  } else if (rig.random.chance(3)) {
    how = "both";
    together = extra;
  } else if (rig.random.chance(3)) {
    how = "none";
    one_by_one = nullptr;
  }
  const std::string call =
      text("(%s, %s, %s, %u, %s, %s %u, %s)", k.name.c_str(), name(g).c_str(), name(b).c_str(),
           bytes, s.name.c_str(), rig.slot_name().c_str(), value, how);
  if (rig.random.chance(15) && together == nullptr && one_by_one != nullptr) {
    return rig.answer("cuLaunchCooperativeKernel" + call,
                      DRIVER(cuLaunchCooperativeKernel)(k.handle, g.x, g.y, g.z, b.x, b.y, b.z,
                                                        bytes, s.it, arguments));
  }
  rig.answer("cuLaunchKernel" + call, DRIVER(cuLaunchKernel)(k.handle, g.x, g.y, g.z, b.x, b.y, b.z,
                                                             bytes, s.it, one_by_one, together));
}

void launch_with_attributes(Rig& rig) {
  const Rig::Kernel k = rig.kernel();
  const auto s = rig.stream();
  const Shape g = grid(rig), b = block(rig);
  CUlaunchConfig config = {};
  config.gridDimX = g.x, config.gridDimY = g.y, config.gridDimZ = g.z;
  config.blockDimX = b.x, config.blockDimY = b.y, config.blockDimZ = b.z;
  config.sharedMemBytes = dynamic_bytes(rig);
  config.hStream = s.it;
  CUlaunchAttribute attributes[3] = {};
  std::string names;
  const unsigned count = static_cast<unsigned>(rig.random.below(3));
  for (unsigned i = 0; i < count; ++i) {
    CUlaunchAttribute& a = attributes[i];
    switch (rig.random.below(6)) {
      case 0: {
        a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        const Shape shapes[] = {{1, 1, 1}, {2, 1, 1}, {4, 1, 1}, {8, 1, 1}, {16, 1, 1},
                                {0, 1, 1}, {3, 1, 1}, {1, 2, 1}, {0, 0, 0}};
        const Shape c = rig.random.of(shapes);
        a.value.clusterDim = {c.x, c.y, c.z};
        names += " cluster " + name(c);
        break;
      }
      case 1:
        a.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        a.value.cooperative = static_cast<int>(rig.random.below(2));
        names += text(" cooperative %d", a.value.cooperative);
        break;
      case 2:
        a.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        a.value.priority = rig.random.of({0, -5, 7, -100});
        names += text(" priority %d", a.value.priority);
        break;
      case 3:
        a.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        a.value.programmaticStreamSerializationAllowed = static_cast<int>(rig.random.below(2));
        names += text(" programmatic %d", a.value.programmaticStreamSerializationAllowed);
        break;
      case 4:
        a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
        a.value.clusterSchedulingPolicyPreference =
            static_cast<CUclusterSchedulingPolicy>(rig.random.below(count == 1 ? 4 : 3));
        names += text(" policy %d", a.value.clusterSchedulingPolicyPreference);
        break;
      default: a.id = CU_LAUNCH_ATTRIBUTE_IGNORE; names += " ignore";
    }
  }
  config.attrs = attributes;
  config.numAttrs = count;
  CUdeviceptr slot = rig.slot();
  unsigned value = static_cast<unsigned>(rig.random.below(1000));
  void* arguments[] = {&slot, &value};
  const CUresult result = DRIVER(cuLaunchKernelEx)(&config, k.handle, arguments, nullptr);
  rig.answer(text("cuLaunchKernelEx(%s, %s, %s, %u, %s, %s %u,%s)", k.name.c_str(), name(g).c_str(),
                  name(b).c_str(), config.sharedMemBytes, s.name.c_str(), rig.slot_name().c_str(),
                  value, names.c_str()),
             result);
}

}  // namespace in_launch

std::vector<Call<Rig>> launch_calls() {
  using namespace in_launch;
  return {{12, launch}, {6, launch_with_attributes}};
}

}  // namespace lockstep::calls::driver
