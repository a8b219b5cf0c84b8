#include "harness/conform/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <fstream>

namespace lockstep {
namespace {

// The few entry points of the driver API that are needed (CUDA driver API reference), with its
// plain types; CUresult and CUdevice are ints.
constexpr int kSuccess = 0, kNoDevice = 100;
constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR

struct Api {
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*uuid)(unsigned char*, int) = nullptr;
  int (*error_text)(int, const char**) = nullptr;
};

template <class F>
bool resolve(void* library, const char* symbol, F& function) {
  function = reinterpret_cast<F>(dlsym(library, symbol));
  return function != nullptr;
}

bool resolve_all(void* library, Api& api) {
  return resolve(library, "cuInit", api.init) &&
         resolve(library, "cuDriverGetVersion", api.version) &&
         resolve(library, "cuDeviceGetCount", api.count) &&
         resolve(library, "cuDeviceGetName", api.name) &&
         resolve(library, "cuDeviceGetAttribute", api.attribute) &&
         resolve(library, "cuDeviceGetUuid_v2", api.uuid) &&
         resolve(library, "cuGetErrorString", api.error_text);
}

std::string text_of(const Api& api, int error) {
  const char* text = nullptr;
  return api.error_text(error, &text) == kSuccess && text != nullptr
             ? text
             : fmt::format("error {}", error);
}

std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

Driver ask() {
  Driver d;
  if (std::ifstream file("/sys/module/nvidia/version"); file) std::getline(file, d.module_version);
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    d.error = "there is no NVIDIA driver (libcuda.so.1 was not found)";
    return d;
  }
  Api api;
  if (!resolve_all(library, api)) {
    d.error = "the NVIDIA driver's libcuda.so.1 lacks functions of the driver API";
    return d;
  }
  api.version(&d.version);
  int count = 0;
  int status = api.init(0);
  if (status == kSuccess) status = api.count(&count);
  if (status == kNoDevice || (status == kSuccess && count == 0)) {
    d.error = "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES may hide it)";
    return d;
  }
  if (status != kSuccess) {
    d.error = fmt::format("the NVIDIA driver does not start: {}", text_of(api, status));
    return d;
  }
  if (d.version < kNeededDriver) {
    d.error = fmt::format(
        "the NVIDIA driver is for CUDA {}.{}, and these programs need CUDA {}.{} (driver 580 or "
        "later)",
        d.version / 1000, d.version % 1000 / 10, kNeededDriver / 1000, kNeededDriver % 1000 / 10);
    return d;
  }
  for (int i = 0; i < count; ++i) {
    Gpu gpu;
    std::array<char, 256> name{};
    std::array<unsigned char, 16> uuid{};
    if (api.name(name.data(), static_cast<int>(name.size()), i) == kSuccess) gpu.name = name.data();
    api.attribute(&gpu.major, kMajor, i);
    api.attribute(&gpu.minor, kMinor, i);
    if (api.uuid(uuid.data(), i) == kSuccess) gpu.uuid = uuid_text(uuid);
    d.gpus.push_back(std::move(gpu));
  }
  return d;
}

}  // namespace

const Driver& driver() {
  static const Driver kDriver = ask();
  return kDriver;
}

}  // namespace lockstep
