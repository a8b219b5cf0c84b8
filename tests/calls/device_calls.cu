// The device, its limits, and errors.
#include "tests/calls/rig.h"

namespace lockstep::calls {
namespace in_device {

void take_error(Rig& rig) { rig.answer("cudaGetLastError()", cudaGetLastError()); }

void wait(Rig& rig) { rig.answer("cudaDeviceSynchronize()", cudaDeviceSynchronize()); }

void select(Rig& rig) {
  const int device = rig.random.of({0, 0, -1, 99, 1 << 20});
  rig.answer(text("cudaSetDevice(%d)", device), cudaSetDevice(device));
}

void attribute(Rig& rig) {
  const int which = static_cast<int>(rig.random.below(160)) - 2,
            device = rig.random.of({0, 0, 0, 99});
  int value = 0;
  rig.answer(text("cudaDeviceGetAttribute(%d, %d)", which, device),
             cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(which), device));
}

void limit(Rig& rig) {
  const int which = rig.random.of({0, 1, 2, 3, 4, 5, 6, 7, 99});
  std::size_t value = 0;
  if (rig.random.chance(50)) {
    const cudaError_t error = cudaDeviceGetLimit(&value, static_cast<cudaLimit>(which));
    return rig.answer(text("cudaDeviceGetLimit(%d)", which), error,
                      which == 0 || which == 2 || which == 7 ? text("%zu", value) : "");
  }
  value = rig.random.of({1024, 2048, 16, 128, 8 << 20, 0});
  if (which == 0) return;  // an H200 fails in graphs that were made with another stack
  rig.answer(text("cudaDeviceSetLimit(%d, %zu)", which, value),
             cudaDeviceSetLimit(static_cast<cudaLimit>(which), value));
}

void ask(Rig& rig) {
  int a = -1, b = -1;
  switch (rig.random.below(7)) {
    case 0: {
      const cudaError_t error = cudaDeviceGetStreamPriorityRange(&a, &b);
      return rig.answer("cudaDeviceGetStreamPriorityRange()", error, text("%d %d", a, b));
    }
    case 1: {
      const int peer = rig.random.of({0, 99, -1});
      const cudaError_t error = cudaDeviceCanAccessPeer(&a, 0, peer);
      return rig.answer(text("cudaDeviceCanAccessPeer(0, %d)", peer), error, text("%d", a));
    }
    case 2: {
      const int peer = rig.random.of({0, 99, -1});
      const unsigned flags = rig.random.of({0u, 1u});
      return rig.answer(text("cudaDeviceEnablePeerAccess(%d, %u)", peer, flags),
                        cudaDeviceEnablePeerAccess(peer, flags));
    }
    case 3: {
      const int peer = rig.random.of({0, 99});
      return rig.answer(text("cudaDeviceDisablePeerAccess(%d)", peer),
                        cudaDeviceDisablePeerAccess(peer));
    }
    case 4: {
      unsigned flags = 0;
      const cudaError_t error = cudaGetDeviceFlags(&flags);
      return rig.answer("cudaGetDeviceFlags()", error, text("%#x", flags));
    }
    case 5: {
      const unsigned flags = rig.random.of({0u, 1u, 2u, 4u, 8u, 3u, 16u, 64u, 128u});
      return rig.answer(text("cudaSetDeviceFlags(%#x)", flags), cudaSetDeviceFlags(flags));
    }
    default: {
      auto config = cudaFuncCachePreferNone;
      const cudaError_t error = cudaDeviceGetCacheConfig(&config);
      return rig.answer("cudaDeviceGetCacheConfig()", error, text("%d", config));
    }
  }
}

// Arguments that are missing.
void nothing(Rig& rig) {
  switch (rig.random.below(12)) {
    case 0: return rig.answer("cudaMalloc(null, 4)", cudaMalloc(nullptr, 4));
    case 1: return rig.answer("cudaStreamCreate(null)", cudaStreamCreate(nullptr));
    case 2: return rig.answer("cudaEventCreate(null)", cudaEventCreate(nullptr));
    case 3: return rig.answer("cudaGetDeviceCount(null)", cudaGetDeviceCount(nullptr));
    case 4: return rig.answer("cudaEventRecord(null, 0)", cudaEventRecord(nullptr, nullptr));
    case 5: return rig.answer("cudaEventSynchronize(null)", cudaEventSynchronize(nullptr));
    case 6:
      return rig.answer("cudaStreamWaitEvent(0, null, 0)",
                        cudaStreamWaitEvent(nullptr, nullptr, 0));
    case 7: return rig.answer("cudaGraphCreate(null, 0)", cudaGraphCreate(nullptr, 0));
    case 8: return rig.answer("cudaGraphLaunch(null, 0)", cudaGraphLaunch(nullptr, nullptr));
    case 9:
      return rig.answer("cudaGetDeviceProperties(null, 0)", cudaGetDeviceProperties(nullptr, 0));
    case 10:
      return rig.answer("cudaPointerGetAttributes(null, null)",
                        cudaPointerGetAttributes(nullptr, nullptr));
    default: return rig.answer("cudaEventDestroy(null)", cudaEventDestroy(nullptr));
  }
}

}  // namespace in_device

std::vector<Call<Rig>> device_calls() {
  using namespace in_device;
  return {{16, take_error}, {3, wait}, {2, select}, {2, attribute},
          {3, limit},       {4, ask},  {3, nothing}};
}

}  // namespace lockstep::calls
