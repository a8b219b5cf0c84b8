#include "simulator/memory/image.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace lockstep::memory {
namespace {

// Applies the address mode to an index along one dimension. -1 if the result is outside.
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

// Treats subnormal coordinates as 0.
double as_coordinate(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? 0.0 : static_cast<double>(x);
}

// Clamps far beyond any extent; NaN becomes 0.
std::int64_t floor_index(double x) {
  return x != x ? 0 : static_cast<std::int64_t>(std::floor(std::clamp(x, -1e12, 1e12)));
}

// The contribution of one dimension: one index, or two indices and the position between them in
// steps of 1/256.
struct Axis {
  std::int64_t index[2] = {0, 0};
  int fraction = 0;
  int count = 1;
};

// Converts a coordinate to elements. A normalised coordinate loses whole periods if it repeats, and
// is then cut to 21 fraction bits.
double in_elements(const Texture& t, AddressMode mode, std::uint32_t extent, float coordinate) {
  double x = as_coordinate(coordinate);
  if (!t.normalized_coordinates) return x;
  const double turn = mode == AddressMode::kWrap ? 1 : mode == AddressMode::kMirror ? 2 : 0;
  if (turn != 0) x = std::isfinite(x) ? std::fmod(x, turn) : 0;
  constexpr double kSteps = 1 << 21;
  return std::isfinite(x) && std::abs(x) < 1e12 ? std::floor(x * kSteps) / kSteps * extent : x;
}

Axis axis_of(const Texture& t, int dimension, std::uint32_t extent, float coordinate) {
  Axis axis;
  // Wrapping and mirroring are for normalised coordinates; otherwise they clamp
  // (cudaTextureDesc::addressMode).
  AddressMode mode = t.address[static_cast<std::size_t>(dimension)];
  if (!t.normalized_coordinates && (mode == AddressMode::kWrap || mode == AddressMode::kMirror))
    mode = AddressMode::kClamp;
  const double x = in_elements(t, mode, extent, coordinate);
  if (!t.linear) {
    axis.index[0] = settle(floor_index(x), extent, mode);
    return axis;
  }
  // The fraction has 8 bits (Programming Guide, "Linear Filtering": 9-bit fixed point with 8 bits
  // of fraction).
  const double centred = x != x ? -0.5 : std::clamp(x, -1e12, 1e12) - 0.5;
  const auto steps = static_cast<std::int64_t>(std::floor(centred * 256 + 0.5));
  const std::int64_t first = steps >> 8;
  axis.fraction = static_cast<int>(steps & 255);
  // An edge element needs no interpolation with itself.
  if (mode == AddressMode::kClamp && (first < 0 || first >= static_cast<std::int64_t>(extent) - 1))
    axis.fraction = 0;
  axis.index[0] = settle(first, extent, mode);
  axis.index[1] = settle(first + 1, extent, mode);
  axis.count = axis.fraction == 0 ? 1 : 2;
  return axis;
}

Address address_of(const Image& image, const std::int64_t index[3]) {
  return image.base + static_cast<std::uint64_t>(index[2]) * image.slice +
         static_cast<std::uint64_t>(index[1]) * image.pitch +
         static_cast<std::uint64_t>(index[0]) * static_cast<std::uint64_t>(image.format.bytes());
}

// The weights of the 2, 4 or 8 elements around a point, [z][y][x], in steps of 1/256. Products are
// rounded so that the sum stays 256. For two dimensions, x and z or x and y, the far corner's
// product is rounded and the others receive the rest. With three dimensions, y then divides each of
// these weights.
void weigh(const Axis axes[3], int weights[2][2][2]) {
  const int x = axes[0].fraction, y = axes[1].fraction, z = axes[2].fraction;
  const int other = axes[2].count == 1 ? y : z;
  const int both = (x * other + 128) >> 8;
  const int corner[2][2] = {{256 - x - other + both, x - both}, {other - both, both}};
  for (int o = 0; o < 2; ++o) {
    for (int i = 0; i < 2; ++i) {
      if (axes[2].count == 1) {
        weights[0][o][i] = corner[o][i];
        weights[1][o][i] = 0;
      } else {
        const int far = (corner[o][i] * y + (i == 0 ? 127 : 128)) >> 8;
        weights[o][1][i] = far;
        weights[o][0][i] = corner[o][i] - far;
      }
    }
  }
}

Sample combine(const Texture& t, const Axis axes[3], std::uint32_t layer) {
  const Image& image = t.image;
  Sample result;
  int weights[2][2][2];
  weigh(axes, weights);
  for (int z = 0; z < axes[2].count; ++z) {
    for (int y = 0; y < axes[1].count; ++y) {
      for (int x = 0; x < axes[0].count; ++x) {
        Sample::Tap& tap = result.taps[static_cast<std::size_t>(result.count++)];
        std::int64_t index[3] = {axes[0].index[x], axes[1].index[y], axes[2].index[z]};
        tap.weight = weights[z][y][x];
        tap.outside = index[0] < 0 || index[1] < 0 || index[2] < 0;
        if (tap.outside) continue;
        if (image.layered) index[2] = std::min(layer, image.depth - 1);
        tap.address = address_of(image, index);
      }
    }
  }
  return result;
}

// Converts the bits of an f16 to those of an f32. A signalling NaN stays signalling.
std::uint32_t from_half(std::uint16_t half) {
  if ((half & 0x7c00) == 0x7c00)
    return (half & 0x8000u) << 16 | 0x7f800000u | (half & 0x3ffu) << 13;
  return std::bit_cast<std::uint32_t>(_mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half))));
}

constexpr std::uint32_t kNotANumber = 0x7fffffff;

// 2^n as a double, for n from -1022 to 1023, without a call of ldexp for each element.
double power_of_two(int n) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + n) << 52);
}
// The n with |x| in [2^(n - 1), 2^n), as frexp() returns it. x must be normal and finite.
int exponent_above(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - 1022;
}

// Channel `c` of the border colour, converted as an element of the format would be.
std::uint32_t border_channel(const Texture& t, std::size_t c) {
  const Format& format = t.image.format;
  if (static_cast<int>(c) >= format.channels) return 0;
  const bool is_signed = format.kind == ChannelKind::kSigned;
  if (format.kind != ChannelKind::kFloat && t.normalized_read) {
    return std::bit_cast<std::uint32_t>(std::clamp(t.border[c], is_signed ? -1.0f : 0.0f, 1.0f));
  }
  const auto bits = std::bit_cast<std::uint32_t>(t.border[c]);
  if (format.kind == ChannelKind::kFloat || format.bits == 32) return bits;
  const int up = 32 - format.bits;  // integers use as many bits of the colour as the element has
  return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(bits << up) >> up)
                   : bits << up >> up;
}

float without_subnormals(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
}

// A weighted sum of floats with `digits` binary digits. Each product is cut to four digits more
// than the largest value has. The sum is rounded to nearest, ties away from zero. Found on an H100.
std::uint32_t mix(const float values[], const int weights[], int count, int digits) {
  float largest = 0, endless = 0;
  bool negative = true;
  for (int i = 0; i < count; ++i) {
    if (weights[i] == 0) continue;
    if (values[i] != values[i]) return kNotANumber;
    if (std::isinf(values[i])) {
      if (endless != 0 && endless != values[i]) return kNotANumber;
      endless = values[i];
    }
    largest = std::max(largest, std::abs(values[i]));
    negative &= std::signbit(values[i]);
  }
  if (endless != 0) return std::bit_cast<std::uint32_t>(endless);
  if (largest == 0) return negative ? 0x80000000u : 0;
  const int exponent = exponent_above(static_cast<double>(largest));
  const int unit = exponent - digits - 4;  // a value is less than 2^(digits + 4) units
  const double units = power_of_two(-unit);
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i)
    sum += weights[i] * static_cast<std::int64_t>(static_cast<double>(values[i]) * units);
  // In units of 2^(unit - 8). Keeps as many digits as the format has.
  const std::uint64_t size = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const int least = digits == 11 ? -24 : -149;  // the smallest subnormal's exponent
  const int drop =
      std::max({static_cast<int>(std::bit_width(size)) - digits, least - (unit - 8), 0});
  const double rounded = static_cast<double>(drop == 0 ? size : ((size >> (drop - 1)) + 1) >> 1) *
                         power_of_two(drop + unit - 8);
  return std::bit_cast<std::uint32_t>(static_cast<float>(sum < 0 ? -rounded : rounded));
}

// A weighted sum of integer channels that are read as floats in [0, 1] or [-1, 1]. Channels of 16
// bits, and of 8 bits widened to 16, are mixed and rounded to 16 bits again. For signed bytes, one
// result in twenty differs from silicon by one.
std::uint32_t mix_integers(const float values[], const int weights[], int count,
                           const Format& format) {
  const bool is_signed = format.kind == ChannelKind::kSigned;
  const int scale = is_signed ? 32767 : 65535, step = is_signed && format.bits == 8 ? 127 : scale;
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i)
    sum += weights[i] *
           static_cast<std::int64_t>(std::floor(static_cast<double>(values[i]) * step + 0.5));
  const double rounded =
      std::floor(static_cast<double>(sum) * (scale / static_cast<double>(step)) / 256 + 0.5);
  return std::bit_cast<std::uint32_t>(static_cast<float>(rounded / scale));
}

}  // namespace

std::uint16_t to_half(std::uint32_t bits) {
  return static_cast<std::uint16_t>(
      _cvtss_sh(std::bit_cast<float>(bits), _MM_FROUND_TO_NEAREST_INT));
}

void Images::forget(Address allocation) {
  for (auto& [handle, texture] : textures_)
    texture.image.freed |= !texture.linear_memory && texture.image.allocation == allocation;
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
  if (format.bits == 32) {
    // No conversion needed: one load, which zeroes the missing channels.
    const void* const from = at;
    const __m128i all = format.channels == 1   ? _mm_loadu_si32(from)
                        : format.channels == 2 ? _mm_loadl_epi64(static_cast<const __m128i*>(from))
                                               : _mm_loadu_si128(static_cast<const __m128i*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(result.data()), all);
    return result;
  }
  for (int c = 0; c < format.channels; ++c) {
    std::uint32_t& out = result[static_cast<std::size_t>(c)];
    std::memcpy(&out, at + c * format.bits / 8, static_cast<std::size_t>(format.bits / 8));
    if (format.kind == ChannelKind::kFloat) {
      if (format.bits == 16) out = from_half(static_cast<std::uint16_t>(out));
      continue;
    }
    const bool is_signed = format.kind == ChannelKind::kSigned;
    if (is_signed)
      out = static_cast<std::uint32_t>(static_cast<std::int32_t>(out << (32 - format.bits)) >>
                                       (32 - format.bits));
    if (!normalized_read) continue;
    const double largest = is_signed ? (1 << (format.bits - 1)) - 1 : (1 << format.bits) - 1;
    const double value =
        is_signed ? static_cast<double>(static_cast<std::int32_t>(out)) : static_cast<double>(out);
    out = std::bit_cast<std::uint32_t>(static_cast<float>(std::max(-1.0, value / largest)));
  }
  return result;
}

void write_element(std::byte* to, const Format& format, const Texel& texel) {
  for (int c = 0; c < format.channels; ++c) {
    std::uint32_t v = texel[static_cast<std::size_t>(c)];
    if (format.kind == ChannelKind::kFloat) {
      if (format.bits == 16)
        v = static_cast<std::uint16_t>(_cvtss_sh(std::bit_cast<float>(v), _MM_FROUND_TO_ZERO));
    } else if (format.kind == ChannelKind::kSigned && format.bits < 32) {
      const std::int32_t most = (1 << (format.bits - 1)) - 1;
      v = static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(v), -most - 1, most));
    } else if (format.bits < 32) {
      v = std::min(v, (1u << format.bits) - 1);
    }
    std::memcpy(to + c * format.bits / 8, &v, static_cast<std::size_t>(format.bits / 8));
  }
}

OnCube face_of(const float direction[3]) {
  const float x = direction[0], y = direction[1], z = direction[2];
  const float ax = std::abs(x), ay = std::abs(y), az = std::abs(z);
  OnCube result;
  float m = 0, s = 0, t = 0;
  if (az >= ax && az >= ay) {
    result.face = std::signbit(z) ? 5 : 4;
    m = az, s = std::signbit(z) ? -x : x, t = -y;
  } else if (ay >= ax) {
    result.face = std::signbit(y) ? 3 : 2;
    m = ay, s = x, t = std::signbit(y) ? -z : z;
  } else {
    result.face = std::signbit(x) ? 1 : 0;
    m = ax, s = std::signbit(x) ? z : -z, t = -y;
  }
  // A zero direction selects the middle of a face, as on an H100.
  result.at[0] = m == 0 ? 0.5f : (s / m + 1) / 2;
  result.at[1] = m == 0 ? 0.5f : (t / m + 1) / 2;
  return result;
}

namespace {

constexpr std::uint32_t kFaces = 6;

// A cube map's faces as the layers of a two-dimensional image.
Texture faces_of(const Texture& texture) {
  Texture faces = texture;
  faces.image.cube = false;
  faces.image.layered = true;
  faces.normalized_coordinates = true;
  return faces;
}
std::uint32_t layer_of(const Image& cube, std::uint32_t layer, std::uint32_t face) {
  const std::uint32_t last = cube.layered ? cube.depth / kFaces - 1 : 0;
  return std::min(layer, last) * kFaces + face;
}

}  // namespace

Sample sample(const Texture& texture, const float coordinates[3], std::uint32_t layer) {
  const Image& image = texture.image;
  if (image.cube) {
    const OnCube on = face_of(coordinates);
    return sample(faces_of(texture), on.at, layer_of(image, layer, on.face));
  }
  const std::uint32_t extents[3] = {image.width, image.height, image.depth};
  Axis axes[3];
  for (int d = 0; d < image.dimensions; ++d)
    axes[d] = axis_of(texture, d, extents[d], coordinates[d]);
  // For one dimension the hardware filters in two, at 0 of the second dimension. A border then lies
  // half beside the image.
  if (image.dimensions == 1 && texture.linear && texture.address[1] == AddressMode::kBorder)
    axes[1] = axis_of(texture, 1, 1, 0);
  return combine(texture, axes, layer);
}

Sample fetch(const Texture& texture, const std::int32_t coordinates[3], std::uint32_t layer) {
  const Image& image = texture.image;
  const std::uint32_t extents[3] = {image.width, image.height, image.depth};
  Axis axes[3];
  for (int d = 0; d < image.dimensions; ++d)
    axes[d].index[0] = settle(coordinates[d], extents[d], AddressMode::kBorder);
  Sample result = combine(texture, axes, layer);
  result.integers = true;
  if (image.layered && layer >= image.depth) result.taps[0].outside = true;
  return result;
}

Sample gather(const Texture& texture, const float coordinates[3], std::uint32_t layer) {
  const Image& image = texture.image;
  if (image.cube) {
    const OnCube on = face_of(coordinates);
    return gather(faces_of(texture), on.at, layer_of(image, layer, on.face));
  }
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

Texel gathered(const Texture& texture, const Sample& sample, const Texel elements[],
               int component) {
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
  Texel result{};
  const Format& format = texture.image.format;
  const auto channel = [&](int tap, std::size_t c) {
    return sample.taps[static_cast<std::size_t>(tap)].outside ? border_channel(texture, c)
                                                              : elements[tap][c];
  };
  for (std::size_t c = 0; c < static_cast<std::size_t>(format.channels); ++c) {
    // A filter that reads a single element is still an operation: it flushes subnormals and returns
    // one canonical NaN.
    const bool passes = texture.linear && !sample.integers && format.kind == ChannelKind::kFloat &&
                        format.bits == 32;
    if (sample.count == 1 && !passes) {
      result[c] = sample.integers && sample.taps[0].outside ? 0 : channel(0, c);
      continue;
    }
    float values[8];
    int weights[8];
    for (int i = 0; i < sample.count; ++i) {
      values[i] = without_subnormals(std::bit_cast<float>(channel(i, c)));
      weights[i] = sample.taps[static_cast<std::size_t>(i)].weight;
    }
    if (format.kind == ChannelKind::kFloat) {
      result[c] = mix(values, weights, sample.count, format.bits == 16 ? 11 : 24);
      continue;
    }
    result[c] = mix_integers(values, weights, sample.count, format);
  }
  return result;
}

}  // namespace lockstep::memory
