// Reads and writes of bytes that other host threads may access at the same time: global memory and
// its written-shadow.
//
// A race of the simulated program must not become a data race of the simulator, which is undefined
// behaviour in C++. An element of 1, 2, 4 or 8 bytes is moved by one relaxed atomic, which costs as
// much as a plain move. C++ has no atomics for 16 bytes, rows of elements, or words of the shadow
// at odd addresses. They are moved by inline assembly, so the compiler does not see the access and
// cannot repeat, merge or omit it.
//
// Up to 16 aligned bytes that one lane moves with one instruction are not torn, whether they are
// one element or a vector. GPUs behave so. PTX treats a vector as separate scalars (PTX ISA 8.2.2),
// but programs rely on more when they pack a value and its state into 16 bytes, such as decoupled
// look-back in CUB. A processor with AVX moves 16 aligned bytes at once with vmovdqa (Intel SDM
// vol. 3, 9.1.1; AMD documents the same). Wider moves do not tear aligned eight bytes. With 32
// bytes a lane (.v4.b64, .v8.b32) each half is not torn; GPUs do not document this.
//
// ThreadSanitizer cannot see into assembly. In its builds all of these are atomics, element by
// element.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simulator/engine/state/vocabulary.h"

namespace lockstep::engine {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kAtomicsOnly = true;
#else
inline constexpr bool kAtomicsOnly = false;
#endif

template <int kBytes>
using Scalar = std::conditional_t<
    kBytes == 1, std::uint8_t,
    std::conditional_t<kBytes == 2, std::uint16_t,
                       std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

__extension__ using Wide = unsigned __int128;

// Memory as an operand of assembly, at any address.
template <int kBytes>
struct Bytes {
  std::byte bytes[kBytes];
};
template <int kBytes>
inline __attribute__((always_inline)) const Bytes<kBytes>& bytes_at(const void* p) {
  return *static_cast<const Bytes<kBytes>*>(p);
}
template <int kBytes>
inline __attribute__((always_inline)) Bytes<kBytes>& bytes_at(void* p) {
  return *static_cast<Bytes<kBytes>*>(p);
}

// load_element() and store_element() move one element. Its address in shared bytes must be a
// multiple of its size.
template <int kBytes>
inline __attribute__((always_inline)) void load_element(void* to, const std::byte* from) {
  static_assert(kBytes == 1 || kBytes == 2 || kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes < 16) {
    const auto v = __atomic_load_n(reinterpret_cast<const Scalar<kBytes>*>(from), __ATOMIC_RELAXED);
    std::memcpy(to, &v, kBytes);
  } else if constexpr (kAtomicsOnly) {
    const Wide v = __atomic_load_n(reinterpret_cast<const Wide*>(from), __ATOMIC_RELAXED);
    std::memcpy(to, &v, 16);
  } else {
    __m128i v;
    asm volatile("vmovdqa %1, %0" : "=x"(v) : "m"(bytes_at<16>(from)));
    std::memcpy(to, &v, 16);
  }
}
template <int kBytes>
inline __attribute__((always_inline)) void store_element(std::byte* to, const void* from) {
  static_assert(kBytes == 1 || kBytes == 2 || kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes < 16) {
    Scalar<kBytes> v;
    std::memcpy(&v, from, kBytes);
    __atomic_store_n(reinterpret_cast<Scalar<kBytes>*>(to), v, __ATOMIC_RELAXED);
  } else if constexpr (kAtomicsOnly) {
    Wide v;
    std::memcpy(&v, from, 16);
    __atomic_store_n(reinterpret_cast<Wide*>(to), v, __ATOMIC_RELAXED);
  } else {
    __m128i v;
    std::memcpy(&v, from, 16);
    asm volatile("vmovdqa %1, %0" : "=m"(bytes_at<16>(to)) : "x"(v));
  }
}

// Replaces 16 aligned bytes by `desired` if they equal `expected`. Otherwise stores their value in
// `expected`. Returns whether it replaced them. Every processor with AVX2 has cmpxchg16b.
inline bool compare_exchange_16(std::byte* at, std::uint64_t (&expected)[2],
                                const std::uint64_t (&desired)[2]) {
  if constexpr (kAtomicsOnly) {
    Wide old, now;
    std::memcpy(&old, expected, 16);
    std::memcpy(&now, desired, 16);
    const bool done = __atomic_compare_exchange_n(reinterpret_cast<Wide*>(at), &old, now, false,
                                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    std::memcpy(expected, &old, 16);
    return done;
  } else {
    bool done;
    asm volatile("lock cmpxchg16b %1"
                 : "=@ccz"(done), "+m"(bytes_at<16>(at)), "+a"(expected[0]), "+d"(expected[1])
                 : "b"(desired[0]), "c"(desired[1])
                 : "memory");
    return done;
  }
}

// Calls `f` with the element size (1, 2, 4, 8 or 16 bytes) as a constant:
// f(std::integral_constant<int, 4>()).
template <class F>
inline __attribute__((always_inline)) auto by_size(std::uint32_t size, F f) {
  switch (size) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 4: return f(std::integral_constant<int, 4>());
    case 8: return f(std::integral_constant<int, 8>());
    default: return f(std::integral_constant<int, 16>());
  }
}
// As above, with a size that is known at run time only.
inline void load_element(void* to, const std::byte* from, std::uint32_t size) {
  by_size(size, [&](auto bytes) { load_element<bytes()>(to, from); });
}
inline void store_element(std::byte* to, const void* from, std::uint32_t size) {
  by_size(size, [&](auto bytes) { store_element<bytes()>(to, from); });
}

// A warp's row: 32 adjacent elements. No element is torn.
template <int kBytes>
inline __attribute__((always_inline)) void load_row(std::byte* to, const std::byte* from) {
  if constexpr (kAtomicsOnly || kBytes == 16) {
    for (int i = 0; i < kWarpSize; ++i) load_element<kBytes>(to + i * kBytes, from + i * kBytes);
  } else {
    for (int i = 0; i < kWarpSize * kBytes; i += 32) {
      __m256i v;
      asm volatile("vmovdqu %1, %0" : "=x"(v) : "m"(bytes_at<32>(from + i)));
      std::memcpy(to + i, &v, 32);
    }
  }
}
template <int kBytes>
inline __attribute__((always_inline)) void store_row(std::byte* to, const std::byte* from) {
  if constexpr (kAtomicsOnly || kBytes == 16) {
    for (int i = 0; i < kWarpSize; ++i) store_element<kBytes>(to + i * kBytes, from + i * kBytes);
  } else {
    for (int i = 0; i < kWarpSize * kBytes; i += 32) {
      __m256i v;
      std::memcpy(&v, from + i, 32);
      asm volatile("vmovdqu %1, %0" : "=m"(bytes_at<32>(to + i)) : "x"(v));
    }
  }
}

// Eight bytes of a shadow, at any address.
inline __attribute__((always_inline)) std::uint64_t load_eight(const std::uint8_t* from) {
  std::uint64_t v = 0;
  if constexpr (kAtomicsOnly) {
    for (int i = 0; i < 8; ++i)
      v |= std::uint64_t{__atomic_load_n(from + i, __ATOMIC_RELAXED)} << (8 * i);
  } else {
    asm volatile("movq %1, %0" : "=r"(v) : "m"(bytes_at<8>(from)));
  }
  return v;
}
inline __attribute__((always_inline)) void store_eight(std::uint8_t* to, std::uint64_t v) {
  if constexpr (kAtomicsOnly) {
    for (int i = 0; i < 8; ++i)
      __atomic_store_n(to + i, static_cast<std::uint8_t>(v >> (8 * i)), __ATOMIC_RELAXED);
  } else {
    asm volatile("movq %1, %0" : "=m"(bytes_at<8>(to)) : "r"(v));
  }
}

}  // namespace lockstep::engine
