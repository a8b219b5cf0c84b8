// Vectors between memory and registers. In memory one lane's vector is moved at once, up to 16
// bytes (relaxed_bytes.h explains why). In registers its elements are separate.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// The register of an element of a load or store. `single`: the register of an operation with one
// element.
inline Slot data_slot(const Warp& w, const Op& op, int element, Slot single) {
  return op.elements == 1
             ? single
             : w.block->program
                   ->slots[op.as<ListedFields>().first() + static_cast<std::uint32_t>(element)];
}

// Transposes four vectors of four elements, or two of two.
struct FourByFour {
  static constexpr int kLanes = 4, kElements = 4;
  static void turn(__m128i (&v)[4]) {
    const __m128i a = _mm_unpacklo_epi32(v[0], v[1]), b = _mm_unpacklo_epi32(v[2], v[3]);
    const __m128i c = _mm_unpackhi_epi32(v[0], v[1]), d = _mm_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm_unpacklo_epi64(a, b), v[1] = _mm_unpackhi_epi64(a, b),
    v[2] = _mm_unpacklo_epi64(c, d), v[3] = _mm_unpackhi_epi64(c, d);
  }
};
struct TwoByTwo {
  static constexpr int kLanes = 2, kElements = 2;
  static void turn(__m128i (&v)[2]) {
    const __m128i a = v[0], b = v[1];
    v[0] = _mm_unpacklo_epi64(a, b), v[1] = _mm_unpackhi_epi64(a, b);
  }
};

// Vectors of 16 bytes in all lanes, to or from registers as wide as their elements.
template <class Shape>
void load_whole_vectors(Warp& w, const Op& op, const Request& r) {
  alignas(16) std::byte sink[16 * kWarpSize];
  std::byte* d[Shape::kElements];
  for (int e = 0; e < Shape::kElements; ++e) {
    const Slot slot = data_slot(w, op, e, op.dst);
    d[e] = slot == kNoSlot ? sink : destination<std::byte>(w, slot);
  }
  for (int i = 0; i < kWarpSize; i += Shape::kLanes) {
    __m128i v[Shape::kLanes];
    for (int l = 0; l < Shape::kLanes; ++l) load_element<16>(&v[l], r.host[i + l]);
    Shape::turn(v);
    for (int e = 0; e < Shape::kElements; ++e)
      _mm_store_si128(reinterpret_cast<__m128i*>(d[e] + i * op.width), v[e]);
  }
}
template <class Shape>
void store_whole_vectors(Warp& w, const Op& op, const Request& r) {
  const std::byte* s[Shape::kElements];
  for (int e = 0; e < Shape::kElements; ++e)
    s[e] = source<std::byte>(w, data_slot(w, op, e, op.src[1]));
  for (int i = 0; i < kWarpSize; i += Shape::kLanes) {
    __m128i v[Shape::kLanes];
    for (int e = 0; e < Shape::kElements; ++e)
      v[e] = _mm_load_si128(reinterpret_cast<const __m128i*>(s[e] + i * op.width));
    Shape::turn(v);
    for (int l = 0; l < Shape::kLanes; ++l) store_element<16>(r.host[i + l], &v[l]);
  }
}
inline bool is_whole_vectors(const Op& op, LaneMask mask, int width, int elements) {
  return mask == kAllLanes && op.width == width && op.elements == elements &&
         op.register_bytes == width;
}

// One lane's vector, in moves of at most 16 bytes.
inline void load_vector(std::byte* to, const std::byte* from, std::uint32_t size) {
  for (std::uint32_t at = 0; at < size; at += 16)
    load_element(to + at, from + at, std::min(size, 16u));
}
inline void store_vector(Warp& w, const Op& op, std::byte* to, int lane) {
  alignas(16) std::byte value[32];
  for (int e = 0; e < op.elements; ++e) {
    std::memcpy(value + e * op.width,
                source<std::byte>(w, data_slot(w, op, e, op.src[1])) + lane * op.register_bytes,
                op.width);
  }
  const std::uint32_t size = static_cast<std::uint32_t>(op.width) * op.elements;
  for (std::uint32_t at = 0; at < size; at += 16)
    store_element(to + at, value + at, std::min(size, 16u));
}

}  // namespace lockstep::engine
