// Arrays, and how textures and surfaces look at them: what the runtime makes of cudaMallocArray and
// cudaCreateTextureObject, and the engine reads.
//
// An array lies in device memory row by row, each of a multiple of 16 bytes: element (x, y, z) at
// base + z * slice + y * pitch + x * element bytes. Layers are slices. What a fetch gives is that
// of an NVIDIA H100, bit for bit but for what docs/reference/textures.md names. Source: CUDA C++
// Programming Guide, "Texture and Surface Memory" and appendix "Texture Fetching"; PTX ISA, tex,
// suld, sust.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {

enum class ChannelKind : std::uint8_t { kSigned, kUnsigned, kFloat };

// Bits of an f16 for the bits of an f32, rounded to nearest even.
std::uint16_t to_half(std::uint32_t bits);

// An element: up to four channels, all of the same width (8, 16 or 32 bits).
struct Format {
  ChannelKind kind = ChannelKind::kFloat;
  int bits = 32;
  int channels = 1;
  int bytes() const { return bits / 8 * channels; }
};

// A block of elements in memory that a texture or surface looks at.
struct Image {
  Address base = 0;
  Format format;
  std::uint32_t width = 1, height = 1, depth = 1;  // 1 in dimensions that are not there
  int dimensions = 1;                              // 1, 2 or 3, layers not counted
  bool layered = false;                            // slices, or rows of a 1-D array, are layers
  bool cube = false;          // slices are the faces of a cube, six a layer; two dimensions
  std::uint64_t pitch = 0;    // bytes from row to row
  std::uint64_t slice = 0;    // bytes from slice to slice
  Address allocation = 0;     // base of the allocation it lies in
  bool for_surfaces = false;  // made with cudaArraySurfaceLoadStore
  bool freed = false;         // the array that it looked at is no more
};

enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

struct Texture {
  Image image;
  std::array<AddressMode, 3> address{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  bool linear = false;  // filter
  bool normalized_read =
      false;  // integers of 8 and 16 bits are read as floats in [0, 1] or [-1, 1]
  bool normalized_coordinates = false;
  bool linear_memory = false;  // not an array: fetched by integer coordinates only, no filter
  float border[4] = {0, 0, 0, 0};
};

// Texture and surface objects by handle. Handles are never used again, and are no addresses.
class Images {
 public:
  std::uint64_t add(const Texture& texture);
  std::uint64_t add(const Image& surface);
  bool remove_texture(std::uint64_t handle) { return textures_.erase(handle) != 0; }
  bool remove_surface(std::uint64_t handle) { return surfaces_.erase(handle) != 0; }
  // The array at `allocation` is freed: whatever looks at it must not be used any more.
  void forget(Address allocation);
  // Whether there was an object of this handle, which has been destroyed.
  bool was(std::uint64_t handle) const {
    return handle != 0 && handle < next_ && texture(handle) == nullptr &&
           surface(handle) == nullptr;
  }
  // nullptr: there is none of this handle. Kernels ask in parallel; nothing is added or removed
  // while one runs.
  const Texture* texture(std::uint64_t handle) const;
  const Image* surface(std::uint64_t handle) const;

 private:
  std::map<std::uint64_t, Texture> textures_;
  std::map<std::uint64_t, Image> surfaces_;
  std::uint64_t next_ = 1;
};

// Four channels as a texture instruction returns them, each 32 bits: floats (of elements of 16 bits
// too), or integers extended to 32 bits. Channels that the element does not have are 0.
using Texel = std::array<std::uint32_t, 4>;

// The element at `at`; with `normalized_read`, integers become floats in [0, 1] or [-1, 1].
Texel read_element(const std::byte* at, const Format& format, bool normalized_read);

// The reverse, for sust.p: channels of f32 or integers become those of the format, halves rounded
// to zero, integers clamped to its range.
void write_element(std::byte* to, const Format& format, const Texel& texel);

// The elements that a fetch reads, and their weights in steps of 1/256, which add up to 1: one, or
// with a linear filter up to 8.
struct Sample {
  struct Tap {
    Address address = 0;
    int weight = 0;
    bool outside = false;  // the border's colour instead, or 0
  };
  std::array<Tap, 8> taps;
  int count = 0;
  bool integers = false;  // coordinates: outside is 0, whatever the border
};

// Where a direction from the middle of a cube meets it (CUDA C++ Programming Guide, "Cubemap
// Textures"): the face, in the order +x, -x, +y, -y, +z, -z, and normalised coordinates on it. Of
// coordinates with one magnitude z counts before y, and y before x: the guide leaves that open.
struct OnCube {
  std::uint32_t face = 0;
  float at[3] = {0, 0, 0};
};
OnCube face_of(const float direction[3]);

// A fetch by floating-point coordinates, of a cube map by a direction. `layer` counts only in
// layered images, and is clamped to those there are.
Sample sample(const Texture& texture, const float coordinates[3], std::uint32_t layer);
// A fetch by integer coordinates: no filter, and outside of the image or its layers is 0.
Sample fetch(const Texture& texture, const std::int32_t coordinates[3], std::uint32_t layer);

// The four elements that a linear filter would look at around a place in two dimensions, in the
// order of tld4's results: from the lower left against the clock, where y grows upwards.
Sample gather(const Texture& texture, const float coordinates[3], std::uint32_t layer);
// One component of each of them.
Texel gathered(const Texture& texture, const Sample& sample, const Texel elements[], int component);

// The same for what most pictures are: elements of one f32, filtered linearly in a plane, or a
// layer, whose address modes leave nothing outside.
bool is_filtered_plane(const Texture& texture);
struct PlaneSample {
  Address address[4];
  int weight[4];
  int count = 0;
};
PlaneSample sample_plane(const Texture& texture, float x, float y, std::uint32_t layer);
// What filter() makes of the elements.
std::uint32_t filter_plane(const PlaneSample& sample, const float elements[4]);

// What the elements make together; elements[i] belongs to taps[i] and is not read where that is
// outside.
Texel filter(const Texture& texture, const Sample& sample, const Texel elements[]);

}  // namespace lockstep::memory
