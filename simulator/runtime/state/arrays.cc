#include "simulator/runtime/state/arrays.h"

#include <algorithm>

namespace lockstep::runtime {

bool read_format(const cudaChannelFormatDesc& d, memory::Format* format) {
  const int widths[] = {d.x, d.y, d.z, d.w};
  int channels = 0;
  while (channels < 4 && widths[channels] != 0) ++channels;
  if (channels == 0 || channels == 3 || (d.x != 8 && d.x != 16 && d.x != 32)) return false;
  if (!std::all_of(widths, widths + channels, [&](int w) { return w == d.x; }) ||
      std::any_of(widths + channels, widths + 4, [](int w) { return w != 0; })) {
    return false;
  }
  switch (d.f) {
    case cudaChannelFormatKindSigned: format->kind = memory::ChannelKind::kSigned; break;
    case cudaChannelFormatKindUnsigned: format->kind = memory::ChannelKind::kUnsigned; break;
    case cudaChannelFormatKindFloat: format->kind = memory::ChannelKind::kFloat; break;
    default: return false;
  }
  format->bits = d.x;
  format->channels = channels;
  return format->kind != memory::ChannelKind::kFloat || d.x != 8;
}

namespace {

// Whether a cube map may have the extent: its depth counts faces (cudaMalloc3DArray).
bool is_cube(const cudaExtent& e, bool layered) {
  constexpr std::size_t kFaces = 6;
  return e.height == e.width && e.depth != 0 &&
         (layered ? e.depth % kFaces == 0 : e.depth == kFaces);
}

bool is_within_limits(const cudaExtent& e, unsigned flags) {
  using L = ImageLimits;
  const auto fits = [&](int width, int height, int depth) {
    return e.width <= static_cast<std::size_t>(width) &&
           e.height <= static_cast<std::size_t>(height) &&
           e.depth <= static_cast<std::size_t>(depth);
  };
  const bool surface = (flags & cudaArraySurfaceLoadStore) != 0;
  if ((flags & cudaArrayCubemap) != 0) {
    return (flags & cudaArrayLayered) != 0
               ? fits(L::kLayeredCubemap[0], L::kLayeredCubemap[0], L::kLayeredCubemap[1])
               : fits(L::kCubemap, L::kCubemap, 6);
  }
  if ((flags & cudaArrayLayered) != 0) {
    return e.height == 0 ? fits(L::kLayered1D[0], 0, L::kLayered1D[1])
                         : fits(L::kLayered2D[0], L::kLayered2D[1], L::kLayered2D[2]);
  }
  if (e.depth != 0) {
    return fits(L::kTexture3D[0], L::kTexture3D[1], L::kTexture3D[2]) ||
           (!surface && fits(L::kDeep3D[0], L::kDeep3D[1], L::kDeep3D[2]));
  }
  if (e.height == 0) return fits(surface ? L::kSurface1D : L::kTexture1D, 0, 0);
  if ((flags & cudaArrayTextureGather) != 0) return fits(L::kGather2D[0], L::kGather2D[1], 0);
  return fits(L::kTexture2D[0], L::kTexture2D[1], 0);
}

}  // namespace

cudaError_t Arrays::check_format(const cudaChannelFormatDesc& format, const cudaExtent& extent,
                                 unsigned flags) {
  constexpr unsigned kAll = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather |
                            cudaArrayCubemap | cudaArrayColorAttachment | cudaArraySparse |
                            cudaArrayDeferredMapping;
  const bool is_deep = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  if ((flags & ~kAll) != 0 || extent.width == 0 || (is_deep && extent.depth == 0))
    return cudaErrorInvalidValue;
  memory::Format read;
  return read_format(format, &read) ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

cudaError_t Arrays::create(Runtime& runtime, Device& device, const cudaChannelFormatDesc& format,
                           const cudaExtent& extent, unsigned flags, Array** result) {
  auto array = std::make_unique<Array>();
  memory::Image& image = array->image;
  constexpr unsigned kRefused =
      cudaArrayColorAttachment | cudaArraySparse | cudaArrayDeferredMapping;
  const bool layered = (flags & cudaArrayLayered) != 0;
  const bool cube = (flags & cudaArrayCubemap) != 0;
  if (const cudaError_t error = check_format(format, extent, flags); error != cudaSuccess)
    return error;
  read_format(format, &image.format);
  // What other interfaces draw to, kernels cannot use by itself.
  if (flags == cudaArrayColorAttachment) return cudaErrorInvalidValue;
  if ((flags & kRefused) != 0) {
    runtime.explain(
        "cudaMalloc3DArray",
        "sparse arrays and those of other interfaces are not supported by the simulated "
        "GPU");
    return cudaErrorNotSupported;
  }
  if (!layered && extent.height == 0 && extent.depth != 0) return cudaErrorInvalidValue;
  if (cube && !is_cube(extent, layered)) {
    runtime.explain("cudaMalloc3DArray",
                    "a cube map is as wide as it is high, and six deep, or layered a multiple of "
                    "six");
    return cudaErrorInvalidValue;
  }
  if (!is_within_limits(extent, flags)) return cudaErrorInvalidValue;
  if ((flags & cudaArrayTextureGather) != 0 && (layered || extent.depth != 0 || extent.height == 0))
    return cudaErrorInvalidValue;
  image.width = static_cast<std::uint32_t>(extent.width);
  image.height = static_cast<std::uint32_t>(std::max<std::size_t>(extent.height, 1));
  image.depth = static_cast<std::uint32_t>(std::max<std::size_t>(extent.depth, 1));
  image.dimensions = !layered && !cube && extent.depth != 0 ? 3 : extent.height != 0 ? 2 : 1;
  image.layered = layered;
  image.cube = cube;
  // Rows begin where a surface access of any width may begin.
  image.pitch =
      (std::uint64_t{image.width} * static_cast<std::uint64_t>(image.format.bytes()) + 15) &
      ~std::uint64_t{15};
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(image.pitch, std::uint64_t{image.height}, &image.slice) ||
      __builtin_mul_overflow(image.slice, std::uint64_t{image.depth}, &bytes)) {
    return cudaErrorMemoryAllocation;
  }
  const memory::Allocation* a =
      runtime.memory->allocate(bytes, 512, memory::Kind::kDevice, device.ordinal, "array");
  if (a == nullptr) return cudaErrorMemoryAllocation;
  image.base = image.allocation = a->base;
  image.for_surfaces = (flags & cudaArraySurfaceLoadStore) != 0;
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  array->device = device.ordinal;
  *result = array.get();
  arrays_.emplace(*result, std::move(array));
  return cudaSuccess;
}

Array* Arrays::find(cudaArray_const_t handle) const {
  const auto it = arrays_.find(handle);
  return it == arrays_.end() ? nullptr : it->second.get();
}

bool Arrays::destroy(Runtime& runtime, Array* array) {
  const auto it = arrays_.find(array);
  if (it == arrays_.end()) return false;
  runtime.images.forget(array->image.base);
  runtime.memory->release(array->image.base);
  arrays_.erase(it);
  return true;
}

void Arrays::destroy_all(int device) {
  std::erase_if(arrays_, [&](const auto& entry) { return entry.second->device == device; });
}

Arrays& arrays() {
  static auto* const all = new Arrays;
  return *all;
}

Block block_of(const Array& array, const cudaPos& position) {
  const memory::Image& image = array.image;
  // Layers of a 1-D array are addressed as its slices.
  const std::uint64_t at = image.base + position.z * image.slice + position.y * image.pitch +
                           position.x * array.element_bytes();
  return {reinterpret_cast<void*>(at), image.pitch, image.slice};
}

}  // namespace lockstep::runtime
