#include "simulator/memory/image.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace lockstep::memory {
namespace {

// An index along one dimension after the address mode, or -1: outside.
std::int64_t settle(std::int64_t i, std::uint32_t extent, AddressMode mode) {
  const auto n = static_cast<std::int64_t>(extent);
  switch (mode) {
    case AddressMode::kClamp: return std::clamp<std::int64_t>(i, 0, n - 1);
    case AddressMode::kBorder: return i < 0 || i >= n ? -1 : i;
    case AddressMode::kWrap: return (i % n + n) % n;
    case AddressMode::kMirror: {
      const std::int64_t within = (i % (2 * n) + 2 * n) % (2 * n);
      return within < n ? within : 2 * n - 1 - within;
    }
  }
  return -1;
}

// Far more than any extent; NaN goes to 0.
std::int64_t floor_index(double x) { return x != x ? 0 : static_cast<std::int64_t>(std::floor(std::clamp(x, -1e12, 1e12))); }

// What one dimension contributes: one or two indices with their weights.
struct Axis {
  std::int64_t index[2] = {0, 0};
  double weight[2] = {1, 0};
  int count = 1;
};

Axis axis_of(const Texture& t, int dimension, std::uint32_t extent, float coordinate) {
  Axis axis;
  // Wrapping and mirroring are for normalised coordinates; otherwise they clamp (cudaTextureDesc::addressMode).
  AddressMode mode = t.address[static_cast<std::size_t>(dimension)];
  if (!t.normalized_coordinates && (mode == AddressMode::kWrap || mode == AddressMode::kMirror)) mode = AddressMode::kClamp;
  const double x = t.normalized_coordinates ? static_cast<double>(coordinate) * extent : coordinate;
  if (!t.linear) {
    axis.index[0] = settle(floor_index(x), extent, mode);
    return axis;
  }
  // The fraction has 8 bits (Programming Guide, "Linear Filtering": 9-bit fixed point with 8 bits of fraction).
  const double steps = std::floor((x - 0.5) * 256 + 0.5);
  const std::int64_t first = floor_index(steps / 256);
  const double fraction = x != x ? 0 : std::clamp(steps / 256 - static_cast<double>(first), 0.0, 1.0);
  axis.index[0] = settle(first, extent, mode);
  axis.index[1] = settle(first + 1, extent, mode);
  axis.weight[0] = 1 - fraction;
  axis.weight[1] = fraction;
  axis.count = fraction == 0 ? 1 : 2;
  return axis;
}

Address address_of(const Image& image, const std::int64_t index[3]) {
  return image.base + static_cast<std::uint64_t>(index[2]) * image.slice + static_cast<std::uint64_t>(index[1]) * image.pitch +
         static_cast<std::uint64_t>(index[0]) * static_cast<std::uint64_t>(image.format.bytes());
}

Sample combine(const Texture& t, const Axis axes[3], std::uint32_t layer) {
  const Image& image = t.image;
  Sample result;
  for (int z = 0; z < axes[2].count; ++z) {
    for (int y = 0; y < axes[1].count; ++y) {
      for (int x = 0; x < axes[0].count; ++x) {
        Sample::Tap& tap = result.taps[static_cast<std::size_t>(result.count++)];
        std::int64_t index[3] = {axes[0].index[x], axes[1].index[y], axes[2].index[z]};
        tap.weight = axes[0].weight[x] * axes[1].weight[y] * axes[2].weight[z];
        tap.outside = index[0] < 0 || index[1] < 0 || index[2] < 0;
        if (tap.outside) continue;
        if (image.layered) index[2] = std::min(layer, image.depth - 1);
        tap.address = address_of(image, index);
      }
    }
  }
  return result;
}

float from_half(std::uint16_t bits) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
}

}  // namespace

std::uint16_t to_half(std::uint32_t bits) {
  return static_cast<std::uint16_t>(_cvtss_sh(std::bit_cast<float>(bits), _MM_FROUND_TO_NEAREST_INT));
}

void Images::forget(Address allocation) {
  for (auto& [handle, texture] : textures_) texture.image.freed |= !texture.linear_memory && texture.image.allocation == allocation;
  for (auto& [handle, image] : surfaces_) image.freed |= image.allocation == allocation;
}

std::uint64_t Images::add(const Texture& texture) {
  textures_.emplace(next_, texture);
  return next_++;
}

std::uint64_t Images::add(const Image& surface) {
  surfaces_.emplace(next_, surface);
  return next_++;
}

const Texture* Images::texture(std::uint64_t handle) const {
  const auto it = textures_.find(handle);
  return it == textures_.end() ? nullptr : &it->second;
}

const Image* Images::surface(std::uint64_t handle) const {
  const auto it = surfaces_.find(handle);
  return it == surfaces_.end() ? nullptr : &it->second;
}

Texel read_element(const std::byte* at, const Format& format, bool normalized_read) {
  Texel result{};
  for (int c = 0; c < format.channels; ++c) {
    std::uint32_t& out = result[static_cast<std::size_t>(c)];
    std::memcpy(&out, at + c * format.bits / 8, static_cast<std::size_t>(format.bits / 8));
    if (format.kind == ChannelKind::kFloat) {
      if (format.bits == 16) out = std::bit_cast<std::uint32_t>(from_half(static_cast<std::uint16_t>(out)));
      continue;
    }
    const bool is_signed = format.kind == ChannelKind::kSigned;
    if (is_signed) out = static_cast<std::uint32_t>(static_cast<std::int32_t>(out << (32 - format.bits)) >> (32 - format.bits));
    if (!normalized_read || format.bits == 32) continue;
    const double largest = is_signed ? (1 << (format.bits - 1)) - 1 : (1 << format.bits) - 1;
    const double value = is_signed ? static_cast<double>(static_cast<std::int32_t>(out)) : static_cast<double>(out);
    out = std::bit_cast<std::uint32_t>(static_cast<float>(std::max(-1.0, value / largest)));
  }
  return result;
}

void write_element(std::byte* to, const Format& format, const Texel& texel) {
  for (int c = 0; c < format.channels; ++c) {
    std::uint32_t v = texel[static_cast<std::size_t>(c)];
    if (format.kind == ChannelKind::kFloat) {
      if (format.bits == 16) v = to_half(v);
    } else if (format.kind == ChannelKind::kSigned && format.bits < 32) {
      const std::int32_t most = (1 << (format.bits - 1)) - 1;
      v = static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(v), -most - 1, most));
    } else if (format.bits < 32) {
      v = std::min(v, (1u << format.bits) - 1);
    }
    std::memcpy(to + c * format.bits / 8, &v, static_cast<std::size_t>(format.bits / 8));
  }
}

Sample sample(const Texture& texture, const float coordinates[3], std::uint32_t layer) {
  const Image& image = texture.image;
  const std::uint32_t extents[3] = {image.width, image.height, image.depth};
  Axis axes[3];
  for (int d = 0; d < image.dimensions; ++d) axes[d] = axis_of(texture, d, extents[d], coordinates[d]);
  return combine(texture, axes, layer);
}

Sample fetch(const Texture& texture, const std::int32_t coordinates[3], std::uint32_t layer) {
  const Image& image = texture.image;
  const std::uint32_t extents[3] = {image.width, image.height, image.depth};
  Axis axes[3];
  for (int d = 0; d < image.dimensions; ++d) axes[d].index[0] = settle(coordinates[d], extents[d], AddressMode::kBorder);
  return combine(texture, axes, layer);
}

Sample gather(const Texture& texture, const float coordinates[3], std::uint32_t layer) {
  const Image& image = texture.image;
  const std::uint32_t extents[2] = {image.width, image.height};
  Texture around = texture;
  around.linear = true;
  Axis axes[2];
  for (int d = 0; d < 2; ++d) {
    axes[d] = axis_of(around, d, extents[d], coordinates[d]);
  }
  Sample result;
  constexpr int kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  for (const auto& o : kOrder) {
    Axis one[3];
    one[0].index[0] = axes[0].index[o[0]];
    one[1].index[0] = axes[1].index[o[1]];
    result.taps[static_cast<std::size_t>(result.count++)] = combine(texture, one, layer).taps[0];
  }
  return result;
}

Texel gathered(const Texture& texture, const Sample& sample, const Texel elements[], int component) {
  Texel result{};
  for (std::size_t i = 0; i < 4; ++i) {
    Sample one;
    one.count = 1;
    one.taps[0] = sample.taps[i];
    result[i] = filter(texture, one, &elements[i])[static_cast<std::size_t>(component)];
  }
  return result;
}

Texel filter(const Texture& texture, const Sample& sample, const Texel elements[]) {
  const auto border = [&](std::size_t c) { return texture.border[c]; };
  const bool floats = texture.image.format.kind == ChannelKind::kFloat || texture.normalized_read;
  Texel result{};
  if (sample.count == 1) {
    if (!sample.taps[0].outside) return elements[0];
    for (std::size_t c = 0; c < 4; ++c) result[c] = floats ? std::bit_cast<std::uint32_t>(border(c)) : static_cast<std::uint32_t>(border(c));
    return result;
  }
  for (std::size_t c = 0; c < 4; ++c) {
    double sum = 0;
    for (int i = 0; i < sample.count; ++i) {
      const Sample::Tap& tap = sample.taps[static_cast<std::size_t>(i)];
      sum += tap.weight * (tap.outside ? border(c) : std::bit_cast<float>(elements[i][c]));
    }
    result[c] = std::bit_cast<std::uint32_t>(static_cast<float>(sum));
  }
  return result;
}

}  // namespace lockstep::memory
