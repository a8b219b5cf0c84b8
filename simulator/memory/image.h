// Arrays, textures and surfaces. The runtime creates these descriptions for cudaMallocArray and
// cudaCreateTextureObject; the engine reads them.
//
// An array lies in device memory row by row; a row is a multiple of 16 bytes. Element (x, y, z) is
// at base + z * slice + y * pitch + x * element bytes. Layers are slices. A fetch returns the bits
// that an NVIDIA H100 returns, except for the differences in docs/reference/textures.md. Source:
// CUDA C++ Programming Guide, "Texture and Surface Memory" and appendix "Texture Fetching"; PTX
// ISA, tex, suld, sust.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {

enum class ChannelKind : std::uint8_t { kSigned, kUnsigned, kFloat };

// Converts the bits of an f32 to those of an f16, rounded to nearest even.
std::uint16_t to_half(std::uint32_t bits);

// An element: up to four channels, all of the same width (8, 16 or 32 bits).
struct Format {
  ChannelKind kind = ChannelKind::kFloat;
  int bits = 32;
  int channels = 1;
  int bytes() const { return bits / 8 * channels; }
};

// A block of elements in memory that a texture or surface reads.
struct Image {
  Address base = 0;
  Format format;
  std::uint32_t width = 1, height = 1, depth = 1;  // 1 in unused dimensions
  int dimensions = 1;                              // 1, 2 or 3, layers not counted
  bool layered = false;                            // slices, or rows of a 1-D array, are layers
  bool cube = false;          // slices are the faces of a cube, six a layer; two dimensions
  std::uint64_t pitch = 0;    // bytes from row to row
  std::uint64_t slice = 0;    // bytes from slice to slice
  Address allocation = 0;     // base of the allocation that contains it
  bool for_surfaces = false;  // made with cudaArraySurfaceLoadStore
  bool freed = false;         // the array was freed
};

enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

struct Texture {
  Image image;
  std::array<AddressMode, 3> address{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  bool linear = false;  // filter
  bool normalized_read =
      false;  // integers of 8 and 16 bits are read as floats in [0, 1] or [-1, 1]
  bool normalized_coordinates = false;
  bool linear_memory =
      false;  // not an array: fetched with integer coordinates and without a filter
  float border[4] = {0, 0, 0, 0};
};

// Texture and surface objects by handle. A handle is never reused and is no address.
class Images {
 public:
  std::uint64_t add(const Texture& texture);
  std::uint64_t add(const Image& surface);
  bool remove_texture(std::uint64_t handle) { return textures_.erase(handle) != 0; }
  bool remove_surface(std::uint64_t handle) { return surfaces_.erase(handle) != 0; }
  // Marks all objects that use the array at `allocation` as freed.
  void forget(Address allocation);
  // Whether `handle` was an object that has been destroyed.
  bool was(std::uint64_t handle) const {
    return handle != 0 && handle < next_ && texture(handle) == nullptr &&
           surface(handle) == nullptr;
  }
  // nullptr if no object has this handle. Kernels call these in parallel; no object is added or
  // removed while a kernel runs.
  const Texture* texture(std::uint64_t handle) const;
  const Image* surface(std::uint64_t handle) const;

 private:
  std::map<std::uint64_t, Texture> textures_;
  std::map<std::uint64_t, Image> surfaces_;
  std::uint64_t next_ = 1;
};

// Four channels as a texture instruction returns them, 32 bits each: floats (also for f16
// elements), or integers extended to 32 bits. Channels that the element lacks are 0.
using Texel = std::array<std::uint32_t, 4>;

// Reads the element at `at`. With `normalized_read`, integers become floats in [0, 1] or [-1, 1].
Texel read_element(const std::byte* at, const Format& format, bool normalized_read);

// Writes an element for sust.p: converts f32 or integer channels to those of the format. f16 is
// rounded to zero, integers are clamped to the format's range.
void write_element(std::byte* to, const Format& format, const Texel& texel);

// The elements that a fetch reads, and their weights in steps of 1/256, with sum 1. One element, or
// up to 8 with a linear filter.
struct Sample {
  struct Tap {
    Address address = 0;
    int weight = 0;
    bool outside = false;  // the fetch uses the border colour, or 0, instead
  };
  std::array<Tap, 8> taps;
  int count = 0;
  bool integers = false;  // integer coordinates: elements outside are 0, whatever the border
};

// The point at which a direction from the centre of a cube meets the cube (CUDA C++ Programming
// Guide, "Cubemap Textures"): the face, in the order +x, -x, +y, -y, +z, -z, and normalised
// coordinates on it. If coordinates have the same magnitude, z takes precedence over y, and y over
// x; the guide leaves this open.
struct OnCube {
  std::uint32_t face = 0;
  float at[3] = {0, 0, 0};
};
OnCube face_of(const float direction[3]);

// A fetch with floating-point coordinates; with a direction for a cube map. `layer` is used for
// layered images only and clamped to the existing layers.
Sample sample(const Texture& texture, const float coordinates[3], std::uint32_t layer);
// A fetch with integer coordinates: no filter, and 0 outside of the image or its layers.
Sample fetch(const Texture& texture, const std::int32_t coordinates[3], std::uint32_t layer);

// The four elements that a linear filter reads around a point in two dimensions, in the order of
// tld4's results: anticlockwise from the lower left, with y growing upwards.
Sample gather(const Texture& texture, const float coordinates[3], std::uint32_t layer);
// One component of each of the four elements.
Texel gathered(const Texture& texture, const Sample& sample, const Texel elements[], int component);

// Combines the elements into the result of the fetch. elements[i] belongs to taps[i] and is not
// read if taps[i] is outside.
Texel filter(const Texture& texture, const Sample& sample, const Texel elements[]);

}  // namespace lockstep::memory
