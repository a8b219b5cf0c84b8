// Arrays, texture objects and surface objects.
#include "simulator/driver/call.h"
#include "simulator/runtime/state/arrays.h"

using namespace lockstep::driver;
using lockstep::runtime::Array;
using lockstep::runtime::arrays;

namespace {

struct FormatRow {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};
constexpr FormatRow kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

bool read_format(CUarray_format format, unsigned channels, cudaChannelFormatDesc* result) {
  for (const FormatRow& row : kFormats) {
    if (row.format != format || channels == 0 || channels > 4) continue;
    *result = {row.bits, channels > 1 ? row.bits : 0, channels > 2 ? row.bits : 0,
               channels > 3 ? row.bits : 0, row.kind};
    return true;
  }
  return false;
}

void write_format(const cudaChannelFormatDesc& d, CUarray_format* format, unsigned* channels) {
  for (const FormatRow& row : kFormats) {
    if (row.bits == d.x && row.kind == d.f) *format = row.format;
  }
  *channels = static_cast<unsigned>((d.x != 0) + (d.y != 0) + (d.z != 0) + (d.w != 0));
}

CUresult create(const char* function, const void* caller, CUarray* array,
                const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return locked(function, Needs::kContext, [&](Runtime& r, Device&) {
    cudaChannelFormatDesc format;
    if (array == nullptr || d == nullptr || !read_format(d->Format, d->NumChannels, &format))
      return CUDA_ERROR_INVALID_VALUE;
    // Flags have the same numbers in both APIs.
    auto* const result = reinterpret_cast<cudaArray_t*>(array);
    if (const cudaError_t error =
            cudaMalloc3DArray(result, &format, {d->Width, d->Height, d->Depth}, d->Flags);
        error != cudaSuccess)
      return result_of(error);
    const Array* const made = arrays().find(*result);
    r.note_allocated(*r.memory->find(made->image.allocation), function, caller);
    return CUDA_SUCCESS;
  });
}

template <class Body>
CUresult about(const char* function, CUarray array, Body&& body) {
  return locked(function, Needs::kContext, [&](Runtime&, Device&) {
    const Array* const found = arrays().find(reinterpret_cast<cudaArray_const_t>(array));
    return found == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(*found);
  });
}

bool read_resource(const CUDA_RESOURCE_DESC& from, cudaResourceDesc* to) {
  *to = {};
  to->resType = static_cast<cudaResourceType>(from.resType);
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to->res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray);
      return true;
    case CU_RESOURCE_TYPE_LINEAR:
      to->res.linear.devPtr = pointer(from.res.linear.devPtr);
      to->res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      return read_format(from.res.linear.format, from.res.linear.numChannels, &to->res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
      to->res.pitch2D.devPtr = pointer(from.res.pitch2D.devPtr);
      to->res.pitch2D.width = from.res.pitch2D.width;
      to->res.pitch2D.height = from.res.pitch2D.height;
      to->res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      return read_format(from.res.pitch2D.format, from.res.pitch2D.numChannels,
                         &to->res.pitch2D.desc);
    default: return false;
  }
}

void write_resource(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  *to = {};
  to->resType = static_cast<CUresourcetype>(from.resType);
  switch (from.resType) {
    case cudaResourceTypeArray:
      to->res.array.hArray = reinterpret_cast<CUarray>(from.res.array.array);
      break;
    case cudaResourceTypeLinear:
      to->res.linear.devPtr = reinterpret_cast<CUdeviceptr>(from.res.linear.devPtr);
      to->res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      write_format(from.res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
      break;
    case cudaResourceTypePitch2D:
      to->res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(from.res.pitch2D.devPtr);
      to->res.pitch2D.width = from.res.pitch2D.width;
      to->res.pitch2D.height = from.res.pitch2D.height;
      to->res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      write_format(from.res.pitch2D.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels);
      break;
    default: break;
  }
}

const cudaChannelFormatDesc& format_of(const cudaResourceDesc& resource) {
  static const cudaChannelFormatDesc kNone{};
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const Array* const array = arrays().find(resource.res.array.array);
      return array == nullptr ? kNone : array->format;
    }
    case cudaResourceTypeLinear: return resource.res.linear.desc;
    case cudaResourceTypePitch2D: return resource.res.pitch2D.desc;
    default: return kNone;
  }
}

// The driver reads integers of up to 16 bits as fractions of their largest value, unless
// CU_TRSF_READ_AS_INTEGER is set.
cudaTextureDesc read_texture(const CUDA_TEXTURE_DESC& from, const cudaChannelFormatDesc& format) {
  cudaTextureDesc to{};
  for (int i = 0; i < 3; ++i)
    to.addressMode[i] = static_cast<cudaTextureAddressMode>(from.addressMode[i]);
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  const bool fraction = (from.flags & CU_TRSF_READ_AS_INTEGER) == 0 &&
                        format.f != cudaChannelFormatKindFloat && format.x <= 16;
  to.readMode = fraction ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  to.sRGB = (from.flags & CU_TRSF_SRGB) != 0;
  for (int i = 0; i < 4; ++i) to.borderColor[i] = from.borderColor[i];
  to.normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  to.disableTrilinearOptimization = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  return to;
}

CUDA_TEXTURE_DESC write_texture(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC to{};
  for (int i = 0; i < 3; ++i) to.addressMode[i] = static_cast<CUaddress_mode>(from.addressMode[i]);
  to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
  to.flags = (from.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
             (from.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
             (from.sRGB != 0 ? CU_TRSF_SRGB : 0) |
             (from.disableTrilinearOptimization != 0 ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  for (int i = 0; i < 4; ++i) to.borderColor[i] = from.borderColor[i];
  return to;
}

}  // namespace

extern "C" {

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* d) {
  CUDA_ARRAY3D_DESCRIPTOR flat{};
  if (d != nullptr) flat = {d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
  return create("cuArrayCreate", __builtin_return_address(0), array,
                d == nullptr ? nullptr : &flat);
}
CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return create("cuArray3DCreate", __builtin_return_address(0), array, d);
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* result, CUarray array) {
  return about("cuArrayGetDescriptor", array, [&](const Array& a) {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *result = {a.extent.width, a.extent.height, {}, 0};
    write_format(a.format, &result->Format, &result->NumChannels);
    return CUDA_SUCCESS;
  });
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* result, CUarray array) {
  return about("cuArray3DGetDescriptor", array, [&](const Array& a) {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *result = {a.extent.width, a.extent.height, a.extent.depth, {}, 0, a.flags};
    write_format(a.format, &result->Format, &result->NumChannels);
    return CUDA_SUCCESS;
  });
}

CUresult cuArrayDestroy(CUarray array) {
  return about("cuArrayDestroy", array, [&](const Array&) {
    return result_of(cudaFreeArray(reinterpret_cast<cudaArray_t>(array)));
  });
}

CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  return locked("cuTexObjectCreate", Needs::kContext, [&](Runtime& r, Device&) {
    cudaResourceDesc same;
    if (object == nullptr || resource == nullptr || texture == nullptr ||
        !read_resource(*resource, &same))
      return CUDA_ERROR_INVALID_VALUE;
    if (view != nullptr) {
      r.explain("cuTexObjectCreate", "views of a resource are not supported by the simulated GPU");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    const cudaTextureDesc reads = read_texture(*texture, format_of(same));
    return result_of(cudaCreateTextureObject(object, &same, &reads, nullptr));
  });
}
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* result, CUtexObject object) {
  return call("cuTexObjectGetResourceDesc", Needs::kContext, [&] {
    cudaResourceDesc same;
    if (result == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetTextureObjectResourceDesc(&same, object);
    if (error == cudaSuccess) write_resource(same, result);
    return error;
  });
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* result, CUtexObject object) {
  return call("cuTexObjectGetTextureDesc", Needs::kContext, [&] {
    cudaTextureDesc same;
    if (result == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetTextureObjectTextureDesc(&same, object);
    if (error == cudaSuccess) *result = write_texture(same);
    return error;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return call("cuSurfObjectCreate", Needs::kContext, [&] {
    cudaResourceDesc same;
    if (object == nullptr || resource == nullptr || !read_resource(*resource, &same))
      return cudaErrorInvalidValue;
    return cudaCreateSurfaceObject(object, &same);
  });
}
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* result, CUsurfObject object) {
  return call("cuSurfObjectGetResourceDesc", Needs::kContext, [&] {
    cudaResourceDesc same;
    if (result == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetSurfaceObjectResourceDesc(&same, object);
    if (error == cudaSuccess) write_resource(same, result);
    return error;
  });
}

}  // extern "C"
