// CUDA arrays: device memory of a shape and an element format, which textures and surfaces read and
// host code reaches by copies only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>

#include "simulator/memory/image.h"
#include "simulator/runtime/state/blocks.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// The largest images, in elements, rows and slices or layers, as an H100 and an H200 report them
// and refuse what is beyond. NVIDIA's deviceQuery prints the same for devices of compute
// capability 7.5, 8.6 and 8.9 (the six of those that it shows): taken for every profile.
struct ImageLimits {
  static constexpr int kTexture1D = 131072;
  static constexpr int kTexture2D[2] = {131072, 65536};
  static constexpr int kGather2D[2] = {32768, 32768};
  static constexpr int kTexture3D[3] = {16384, 16384, 16384};
  static constexpr int kDeep3D[3] = {8192, 8192, 32768};      // the "alternate" of the above
  static constexpr int kLayered1D[2] = {32768, 2048};         // also surfaces
  static constexpr int kLayered2D[3] = {32768, 32768, 2048};  // also surfaces
  static constexpr int kSurface1D = 32768;
  // Cube maps, and layered ones with their faces: also surfaces (CUDA C++ Programming Guide,
  // "Technical Specifications per Compute Capability").
  static constexpr int kCubemap = 32768;
  static constexpr int kLayeredCubemap[2] = {32768, 2046};
  static constexpr int kLinear1D = 1 << 28;                       // in memory that is no array
  static constexpr int kPitched2D[3] = {131072, 65000, 2097120};  // the last: bytes from row to row
};

struct Array {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // as asked for: height and depth may be 0
  unsigned flags = 0;
  int device = 0;
  memory::Image image;

  std::size_t element_bytes() const { return static_cast<std::size_t>(image.format.bytes()); }
};

// The arrays of the process. Guarded by the device lock.
class Arrays {
 public:
  // cudaErrorInvalidValue for a shape or format that no array has; cudaErrorMemoryAllocation.
  cudaError_t create(Runtime& runtime, Device& device, const cudaChannelFormatDesc& format,
                     const cudaExtent& extent, unsigned flags, Array** result);
  Array* find(cudaArray_const_t handle) const;
  bool destroy(Runtime& runtime, Array* array);
  void destroy_all(int device);  // their memory is gone already

 private:
  std::map<const void*, std::unique_ptr<Array>> arrays_;
};
Arrays& arrays();

// Whether a channel description is one of those that arrays and textures have: 1, 2 or 4 channels
// of 8, 16 or 32 bits.
bool read_format(const cudaChannelFormatDesc& description, memory::Format* format);

// Where the element at `position` (x in elements) of an array is, for a copy.
Block block_of(const Array& array, const cudaPos& position);

}  // namespace lockstep::runtime
