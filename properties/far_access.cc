#include "properties/far_access.h"

#include <algorithm>

namespace lockstep::properties {
namespace {

using kernels::AccessPattern;
using kernels::AccessShape;
using kernels::LoadPath;
using kernels::PatternKind;
using Bytes = std::vector<std::uint8_t>;

constexpr std::int64_t kApart = 256;  // bytes between the two arrays, and the alignment of both

// One piece of memory with the backed elements of the far array, followed by the near array. The
// near array thus cannot be in the unbacked part of the far one.
struct Arena {
  Bytes contents;
  std::int64_t near = 0;  // bytes in front of the near array
  Arena(const Bytes& far_elements, std::int64_t gap, const Bytes& near_elements,
        std::uint8_t between) {
    contents = far_elements;
    near = (static_cast<std::int64_t>(contents.size()) + gap + kApart) / kApart * kApart;
    contents.resize(static_cast<std::size_t>(near), between);
    contents.insert(contents.end(), near_elements.begin(), near_elements.end());
  }
};

// The value of bytes that are not written.
constexpr std::uint8_t kUntouched = 0xa5;

// `address` minus this many bytes, which may wrap around; the result is not accessed.
template <class P>
P* below(std::uint8_t* address, std::int64_t bytes) {
  return reinterpret_cast<P*>(reinterpret_cast<std::uintptr_t>(address) -
                              static_cast<std::uintptr_t>(bytes));
}

// An array of more than `beyond` elements, and at least 2^31, whose first element in the random
// pattern of this seed is at most `kGap` bytes before the end. Returns the count and that element.
constexpr std::int64_t kGap = 1 << 16;
struct RandomPlace {
  std::int64_t count = 1, index = 0;
};
RandomPlace place_near_the_end(std::int64_t factor, std::int64_t beyond, int bytes) {
  constexpr std::int64_t kPastInt = std::int64_t{1} << 31;
  const std::uint64_t hash = mix(static_cast<std::uint64_t>(factor) << 32), most = kGap / bytes;
  // hash = m * count - d with a small d: then the remainder is count - d.
  for (std::uint64_t m = hash / static_cast<std::uint64_t>(std::max(beyond, kPastInt) + 1); m > 1;
       --m) {
    const std::uint64_t d = m - hash % m, count = hash / m + 1;
    if (d <= most && d < count)
      return {static_cast<std::int64_t>(count), static_cast<std::int64_t>(count - d)};
  }
  return {};  // the hash is smaller than the required count
}

void judge(const DeviceArray<std::uint8_t>& arena, const Bytes& expected) {
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_BITWISE_EQUAL(arena, expected);
}

}  // namespace

void FarAccessCase::fields(FarAccessCase& c, FieldVisitor& field) {
  fields_of(c, field, 600);
  constexpr std::int64_t k31 = std::int64_t{1} << 31, k32 = std::int64_t{1} << 32,
                         k40 = std::int64_t{1} << 40;
  field("beyond", c.beyond,
        one_of<std::int64_t>({0, k31 - 40, k31, k32 - 40, k32, k32 + 1, 3 * k32 + 7, k40 + k31}));
}

void FarAccessCase::normalise() {
  if (path == LoadPath::kConstant) path = LoadPath::kDefault;
  AccessCase::normalise();
}

void gathers_far_elements(const MemoryAccess& access, const FarAccessCase& c) {
  FarAccessCase near = c;
  AccessPattern pattern = c.pattern();
  std::int64_t there = c.reach(), count = c.beyond + there, first = c.beyond, gap = 0;
  pattern.offset += c.beyond;
  if (c.kind == PatternKind::kRandom) {
    near.n = std::min<std::int64_t>(c.n, 1);
    const RandomPlace place = place_near_the_end(c.factor, c.beyond, c.bytes);
    there = near.n, count = place.count, first = place.index, gap = (count - first) * c.bytes;
    pattern.offset = 0;
  }
  const Bytes x = c.bytes_of(there);
  Arena arena(x, gap, Bytes(static_cast<std::size_t>(near.n * c.bytes), kUntouched), kUntouched);
  const auto memory =
      DeviceArray<std::uint8_t>::in_out("arena", arena.contents, {.poison = c.poison});
  REQUIRE_CUDA(access.gather(c.path, pattern, c.bytes,
                             below<const void>(memory.data(), first * c.bytes), count,
                             memory.data() + arena.near, near.n, AccessShape{c.block}, nullptr));
  for (std::int64_t t = 0; t < near.n; ++t) {
    const std::int64_t from = c.kind == PatternKind::kRandom ? 0 : c.index(t);
    if (c.takes_part(t))
      std::copy_n(x.begin() + from * c.bytes, c.bytes,
                  arena.contents.begin() + arena.near + t * c.bytes);
  }
  judge(memory, arena.contents);
}

void scatters_to_far_elements(const MemoryAccess& access, const FarAccessCase& c) {
  FarAccessCase near = c;
  if (c.kind == PatternKind::kRandom || c.kind == PatternKind::kOneAddress)
    near.kind = PatternKind::kConsecutive;
  AccessPattern pattern = near.pattern();
  pattern.offset += c.beyond;
  const Bytes x = c.bytes_of(c.n);
  Arena arena(Bytes(static_cast<std::size_t>(near.reach() * c.bytes), kUntouched), 0, x,
              kUntouched);
  const auto memory =
      DeviceArray<std::uint8_t>::in_out("arena", arena.contents, {.poison = c.poison});
  REQUIRE_CUDA(access.scatter(pattern, c.bytes, memory.data() + arena.near,
                              below<void>(memory.data(), c.beyond * c.bytes),
                              c.beyond + near.reach(), c.n, AccessShape{c.block}, nullptr));
  for (std::int64_t t = 0; t < c.n; ++t) {
    if (c.takes_part(t))
      std::copy_n(x.begin() + t * c.bytes, c.bytes,
                  arena.contents.begin() + near.index(t) * c.bytes);
  }
  judge(memory, arena.contents);
}

}  // namespace lockstep::properties
