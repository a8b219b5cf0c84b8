// Devices, errors, and the table of functions.
#include <cstring>

#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_device {

void get(Rig& rig) {
  const int device = rig.random.of({0, 0, 0, 99, -1});
  switch (rig.random.below(9)) {
    case 0: {
      CUdevice d = -1;
      const CUresult result = DRIVER(cuDeviceGet)(&d, device);
      return rig.answer(text("cuDeviceGet(%d)", device), result, text("%d", d));
    }
    case 1: {
      char name[64] = "none";
      const int length = rig.random.of({1, 4, 64});  // an H200's driver dies of 0
      const CUresult result = DRIVER(cuDeviceGetName)(name, length, device);
      return rig.answer(
          text("cuDeviceGetName(%d, %d)", length, device), result,
          text("%d bytes", static_cast<int>(std::min<std::size_t>(std::strlen(name), 4))));
    }
    case 2: {
      std::size_t bytes = 0;
      return rig.answer(text("cuDeviceTotalMem(%d)", device),
                        DRIVER(cuDeviceTotalMem)(&bytes, device));
    }
    case 3: {
      const int which = static_cast<int>(rig.random.below(160)) - 2;
      int value = 0;
      // Values are the device's; which attributes there are is the API's.
      return rig.answer(
          text("cuDeviceGetAttribute(%d, %d)", which, device),
          DRIVER(cuDeviceGetAttribute)(&value, static_cast<CUdevice_attribute>(which), device));
    }
    case 4: {
      const int peer = rig.random.of({0, 0, 99});
      int can = -1;
      const CUresult result = DRIVER(cuDeviceCanAccessPeer)(&can, device, peer);
      return rig.answer(text("cuDeviceCanAccessPeer(%d, %d)", device, peer), result,
                        text("%d", can));
    }
    case 5: {
      CUmemoryPool pool = nullptr;
      const bool first = rig.random.chance(50);
      const CUresult result = first ? DRIVER(cuDeviceGetDefaultMemPool)(&pool, device)
                                    : DRIVER(cuDeviceGetMemPool)(&pool, device);
      return rig.answer(
          text("%s(%d)", first ? "cuDeviceGetDefaultMemPool" : "cuDeviceGetMemPool", device),
          result);
    }
    case 6: {
      CUuuid id = {};
      return rig.answer(text("cuDeviceGetUuid(%d)", device), DRIVER(cuDeviceGetUuid)(&id, device));
    }
    case 7: {
      const int type = rig.random.of({0, 1, 99});
      int can = -1;
      const CUresult result = DRIVER(cuDeviceGetExecAffinitySupport)(
          &can, static_cast<CUexecAffinityType>(type), device);
      return rig.answer(text("cuDeviceGetExecAffinitySupport(%d, %d)", type, device), result);
    }
    default: {
      int count = -1;
      const CUresult result = DRIVER(cuDeviceGetCount)(rig.random.chance(80) ? &count : nullptr);
      return rig.answer("cuDeviceGetCount()", result);
    }
  }
}

void nulls(Rig& rig) {
  switch (rig.random.below(8)) {
    case 0: return rig.answer("cuDeviceGet(null)", DRIVER(cuDeviceGet)(nullptr, 0));
    case 1: return rig.answer("cuDeviceGetName(null)", DRIVER(cuDeviceGetName)(nullptr, 8, 0));
    case 2: return rig.answer("cuDeviceTotalMem(null)", DRIVER(cuDeviceTotalMem)(nullptr, 0));
    case 3:
      return rig.answer("cuDeviceGetAttribute(null)",
                        DRIVER(cuDeviceGetAttribute)(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    case 4: return rig.answer("cuDriverGetVersion(null)", DRIVER(cuDriverGetVersion)(nullptr));
    case 5: return rig.answer("cuInit(1)", DRIVER(cuInit)(1));
    case 6: return rig.answer("cuCtxGetCurrent(null)", DRIVER(cuCtxGetCurrent)(nullptr));
    default: return rig.answer("cuCtxGetDevice(null)", DRIVER(cuCtxGetDevice)(nullptr));
  }
}

void errors(Rig& rig) {
  const int number = rig.random.of(
      {0,   1,   2,   3,   4,   5,   34,   46,  100, 101, 102, 200, 201, 202, 205, 206, 209,
       210, 214, 215, 218, 219, 222, 300,  301, 302, 400, 401, 500, 600, 700, 701, 702, 704,
       708, 712, 713, 715, 716, 719, 720,  800, 801, 802, 900, 901, 906, 908, 909, 910, 911,
       912, 914, 999, 6,   7,   150, 1000, -1,  223, 224, 225, 226, 807, 808});
  const char* name = "unchanged";
  const bool wants_name = rig.random.chance(60);
  const CUresult result = wants_name
                              ? DRIVER(cuGetErrorName)(static_cast<CUresult>(number), &name)
                              : DRIVER(cuGetErrorString)(static_cast<CUresult>(number), &name);
  rig.answer(text("%s(%d)", wants_name ? "cuGetErrorName" : "cuGetErrorString", number), result,
             name == nullptr ? "null" : name);
}

void look_up(Rig& rig) {
  static const char* const kNames[] = {"cuMemAlloc",         "cuMemAlloc_v2",  "cuInit",
                                       "cuCtxCreate",        "cuStreamQuery",  "cuLaunchKernel",
                                       "cuEventElapsedTime", "nothing",        "",
                                       "cudaMalloc",         "cuGraphAddNode", "cuGetProcAddress",
                                       "cuMemcpy",           "cuMemcpyHtoD",   "cuDeviceGetUuid",
                                       "cuLaunchKernelEx",   "cuStreamGetCtx", "cuGraphLaunch",
                                       "cuMemAdvise"};
  const char* const name = rig.random.of(kNames);
  const int version = rig.random.of({0, 1, 3020, 4000, 10000, 11000, 12000, 13000, 99000, -1});
  // Which functions have a variant for per-thread streams is left out.
  const std::uint64_t flags = rig.random.of({0u, 0u, 0u, 1u, 4u, 99u});
  void* at = nullptr;
  auto status = static_cast<CUdriverProcAddressQueryResult>(99);
  const CUresult result = DRIVER(cuGetProcAddress)(name, &at, version, flags, &status);
  rig.answer(text("cuGetProcAddress(\"%s\", %d, %d)", name, version, static_cast<int>(flags)),
             result, text("%s, status %d", at == nullptr ? "null" : "not null", status));
}

}  // namespace in_device

std::vector<Call<Rig>> device_calls() {
  using namespace in_device;
  return {{5, get}, {2, nulls}, {3, errors}, {4, look_up}};
}

}  // namespace lockstep::calls::driver
