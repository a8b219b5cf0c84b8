// CUDA arrays: device memory with a shape and an element format. Textures and surfaces access them;
// host code accesses them by copies only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>

#include "simulator/memory/image.h"
#include "simulator/runtime/state/blocks.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// The largest images: elements, rows, and slices or layers. An H100 and an H200 report these limits
// and refuse larger images. NVIDIA's deviceQuery prints the same six limits that it shows for
// devices of compute capability 7.5, 8.6 and 8.9, so all profiles use these values.
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
  static constexpr int kLinear1D = 1 << 28;                       // in memory that is not an array
  static constexpr int kPitched2D[3] = {131072, 65000, 2097120};  // the last: bytes between rows
};

struct Array {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // as requested: height and depth may be 0
  unsigned flags = 0;
  int device = 0;
  memory::Image image;

  std::size_t element_bytes() const { return static_cast<std::size_t>(image.format.bytes()); }
};

// The arrays of the process. Guarded by the device lock.
class Arrays {
 public:
  // Whether an array may have these flags and this format. create() also checks the size.
  static cudaError_t check_format(const cudaChannelFormatDesc& format, const cudaExtent& extent,
                                  unsigned flags);
  // Returns cudaErrorInvalidValue for a shape or format that no array has, or
  // cudaErrorMemoryAllocation.
  cudaError_t create(Runtime& runtime, Device& device, const cudaChannelFormatDesc& format,
                     const cudaExtent& extent, unsigned flags, Array** result);
  Array* find(cudaArray_const_t handle) const;
  bool destroy(Runtime& runtime, Array* array);
  void destroy_all(int device);  // their memory has already been freed

 private:
  std::map<const void*, std::unique_ptr<Array>> arrays_;
};
Arrays& arrays();

// Whether a channel description is one that arrays and textures support: 1, 2 or 4 channels of 8,
// 16 or 32 bits.
bool read_format(const cudaChannelFormatDesc& description, memory::Format* format);

// The address of the element at `position` (x in elements) of an array, for a copy.
Block block_of(const Array& array, const cudaPos& position);

}  // namespace lockstep::runtime
