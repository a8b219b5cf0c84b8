// Texture and surface objects: descriptions of how kernels look at arrays and memory
// (memory/image.h).
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/state/arrays.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/work/executor.h"

using namespace lockstep::runtime;
using lockstep::memory::Address;
using lockstep::memory::AddressMode;
using lockstep::memory::ChannelKind;
using lockstep::memory::Image;
using lockstep::memory::Texture;

namespace {

// What an object was made from, to be asked for. Guarded by the device lock.
struct Description {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
};
std::map<unsigned long long, Description>& textures() {
  static auto* const all = new std::map<unsigned long long, Description>;
  return *all;
}
std::map<unsigned long long, cudaResourceDesc>& surfaces() {
  static auto* const all = new std::map<unsigned long long, cudaResourceDesc>;
  return *all;
}

// cudaDeviceProp::textureAlignment is 512; what cudaMalloc returns is good, and is aligned to no
// more than this here.
constexpr std::uint64_t kAddressAlignment = 256;

// Linear memory that a texture looks at: a live allocation that holds all of it.
cudaError_t look_at_memory(Runtime& r, const void* pointer, std::uint64_t bytes,
                           const cudaChannelFormatDesc& format, Image* image) {
  const Address address = reinterpret_cast<Address>(pointer);
  const auto* a = r.memory->find(address);
  if (!read_format(format, &image->format)) return cudaErrorInvalidChannelDescriptor;
  if (bytes == 0) return cudaErrorInvalidValue;
  if (address % kAddressAlignment != 0) {
    r.explain("cudaCreateTextureObject",
              "the memory of a texture begins at an address that is no multiple of " +
                  std::to_string(kAddressAlignment));
    return cudaErrorInvalidValue;
  }
  if (a == nullptr || a->freed || !r.memory->in_window(address) ||
      bytes > a->base + a->size - address) {
    r.explain("cudaCreateTextureObject", "the memory is not within one allocation: it begins " +
                                             describe_place(*r.memory, address));
    return cudaErrorInvalidValue;
  }
  image->base = address;
  image->allocation = a->base;
  return cudaSuccess;
}

cudaError_t image_of(Runtime& r, const cudaResourceDesc& resource, Texture* texture) {
  Image& image = texture->image;
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const Array* array = arrays().find(resource.res.array.array);
      if (array == nullptr) return cudaErrorInvalidResourceHandle;
      image = array->image;
      return cudaSuccess;
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      if (const cudaError_t error =
              look_at_memory(r, linear.devPtr, linear.sizeInBytes, linear.desc, &image);
          error != cudaSuccess)
        return error;
      if (linear.sizeInBytes / static_cast<std::uint64_t>(image.format.bytes()) >
          ImageLimits::kLinear1D)
        return cudaErrorInvalidValue;
      image.width = static_cast<std::uint32_t>(linear.sizeInBytes /
                                               static_cast<std::uint64_t>(image.format.bytes()));
      image.pitch = image.slice = linear.sizeInBytes;
      texture->linear_memory = true;
      return cudaSuccess;
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = resource.res.pitch2D;
      constexpr std::size_t most[] = {ImageLimits::kPitched2D[0], ImageLimits::kPitched2D[1],
                                      ImageLimits::kPitched2D[2]};
      if (rows.width == 0 || rows.height == 0) return cudaErrorInvalidValue;
      if (rows.width > most[0] || rows.height > most[1] || rows.pitchInBytes > most[2])
        return cudaErrorInvalidValue;
      lockstep::memory::Format format;
      if (!read_format(rows.desc, &format)) return cudaErrorInvalidChannelDescriptor;
      const std::uint64_t row = rows.width * static_cast<std::uint64_t>(format.bytes());
      if (rows.pitchInBytes < row || rows.pitchInBytes % 32 != 0) return cudaErrorInvalidValue;
      if (const cudaError_t error = look_at_memory(
              r, rows.devPtr, (rows.height - 1) * rows.pitchInBytes + row, rows.desc, &image);
          error != cudaSuccess) {
        return error;
      }
      image.width = static_cast<std::uint32_t>(rows.width);
      image.height = static_cast<std::uint32_t>(rows.height);
      image.dimensions = 2;
      image.pitch = rows.pitchInBytes;
      image.slice = rows.pitchInBytes * rows.height;
      return cudaSuccess;
    }
    default:
      if (resource.resType != cudaResourceTypeMipmappedArray) return cudaErrorInvalidValue;
      r.explain("cudaCreateTextureObject",
                "mipmapped arrays are not supported by the simulated GPU");
      return cudaErrorNotSupported;
  }
}

AddressMode mode_of(cudaTextureAddressMode mode) {
  switch (mode) {
    case cudaAddressModeWrap: return AddressMode::kWrap;
    case cudaAddressModeMirror: return AddressMode::kMirror;
    case cudaAddressModeBorder: return AddressMode::kBorder;
    default: return AddressMode::kClamp;
  }
}

cudaError_t describe_texture(Runtime& r, const cudaTextureDesc& d, Texture* texture) {
  const auto& format = texture->image.format;
  const bool integers = format.kind != ChannelKind::kFloat;
  for (int i = 0; i < 3; ++i) {
    if (d.addressMode[i] < cudaAddressModeWrap || d.addressMode[i] > cudaAddressModeBorder)
      return cudaErrorInvalidValue;
    texture->address[static_cast<std::size_t>(i)] = mode_of(d.addressMode[i]);
  }
  if ((d.filterMode != cudaFilterModePoint && d.filterMode != cudaFilterModeLinear) ||
      (d.seamlessCubemap != 0 && !texture->image.cube))
    return cudaErrorInvalidValue;
  texture->linear = d.filterMode == cudaFilterModeLinear;
  if (d.seamlessCubemap != 0) {
    if (texture->linear) {
      r.explain("cudaCreateTextureObject",
                "linear filters across the edges of a cube (seamlessCubemap) are not supported by "
                "the simulated GPU");
      return cudaErrorNotSupported;
    }
    texture->address.fill(AddressMode::kClamp);  // cudaTextureDesc::seamlessCubemap
  }
  texture->normalized_read = d.readMode == cudaReadModeNormalizedFloat;
  texture->normalized_coordinates = d.normalizedCoords != 0;
  std::copy_n(d.borderColor, 4, texture->border);
  const bool may_normalize = integers && format.bits != 32;
  if (texture->linear && integers && !(texture->normalized_read && may_normalize))
    return cudaErrorInvalidFilterSetting;
  if (texture->normalized_read && !may_normalize) return cudaErrorInvalidNormSetting;
  if (d.sRGB != 0 && format.bits == 8) {  // it concerns bytes alone
    r.explain("cudaCreateTextureObject", "sRGB conversion is not supported by the simulated GPU");
    return cudaErrorNotSupported;
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (object == nullptr || resource == nullptr || description == nullptr)
      return cudaErrorInvalidValue;
    if (view != nullptr) {
      r.explain("cudaCreateTextureObject", "resource views are not supported by the simulated GPU");
      return cudaErrorNotSupported;
    }
    Texture texture;
    if (const cudaError_t error = image_of(r, *resource, &texture); error != cudaSuccess)
      return error;
    if (const cudaError_t error = describe_texture(r, *description, &texture); error != cudaSuccess)
      return error;
    if (const cudaError_t error = check_unsafe(r, "cudaCreateTextureObject"); error != cudaSuccess)
      return error;
    *object = r.images.add(texture);
    textures()[*object] = {*resource, *description};
    return cudaSuccess;
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (const cudaError_t error = check_unsafe(r, "cudaDestroyTextureObject"); error != cudaSuccess)
      return error;
    if (object == 0) return cudaSuccess;
    run_all(r);  // kernels may use it
    textures().erase(object);
    r.repeats.forget();
    return r.images.remove_texture(object) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device&) -> cudaError_t {
    const auto it = textures().find(object);
    if (resource == nullptr || it == textures().end()) return cudaErrorInvalidValue;
    *resource = it->second.resource;
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t object) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device&) -> cudaError_t {
    const auto it = textures().find(object);
    if (description == nullptr || it == textures().end()) return cudaErrorInvalidValue;
    *description = it->second.texture;
    return cudaSuccess;
  });
}

// No object here has a view of its own.
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                 cudaTextureObject_t object) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device&) -> cudaError_t {
    if (view == nullptr || !textures().contains(object)) return cudaErrorInvalidValue;
    *view = {};
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (object == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    if (resource->resType != cudaResourceTypeArray) {
      r.explain("cudaCreateSurfaceObject", "a surface looks at an array");
      lockstep::memory::Format format;
      const bool has_format = resource->resType != cudaResourceTypeLinear ||
                              read_format(resource->res.linear.desc, &format);
      return has_format ? cudaErrorInvalidValue : cudaErrorInvalidChannelDescriptor;
    }
    const Array* array = arrays().find(resource->res.array.array);
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = check_unsafe(r, "cudaCreateSurfaceObject"); error != cudaSuccess)
      return error;
    Image image = array->image;
    // surfCubemapread and its kin name a face as a layer.
    image.layered |= std::exchange(image.cube, false);
    *object = r.images.add(image);
    surfaces()[*object] = *resource;
    return cudaSuccess;
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return api(__func__, Reach::kDevice, [&](Runtime& r, Device&) -> cudaError_t {
    if (object == 0) return cudaSuccess;
    run_all(r);  // kernels may use it
    surfaces().erase(object);
    r.repeats.forget();
    return r.images.remove_surface(object) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return api(__func__, Reach::kDevice, [&](Runtime&, Device&) -> cudaError_t {
    const auto it = surfaces().find(object);
    if (resource == nullptr || it == surfaces().end()) return cudaErrorInvalidValue;
    *resource = it->second;
    return cudaSuccess;
  });
}

}  // extern "C"
