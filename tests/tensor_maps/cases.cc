#include "tests/tensor_maps/cases.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "simulator/splitmix64.h"

namespace lockstep::tensor_maps {
namespace {

// Calls `visit(name, field)` for every field of a case.
template <class C, class Visit>
void each_field(C& c, Visit visit) {
  visit("im2col", c.im2col);
  visit("type", c.type);
  visit("rank", c.rank);
  visit("address", c.address);
  visit("sizes", c.sizes);
  visit("strides", c.strides);
  visit("box", c.box);
  visit("lower", c.lower);
  visit("upper", c.upper);
  visit("channels", c.channels);
  visit("pixels", c.pixels);
  visit("steps", c.steps);
  visit("interleave", c.interleave);
  visit("swizzle", c.swizzle);
  visit("promotion", c.promotion);
  visit("fill", c.fill);
  visit("map", c.map);
  visit("null", c.null);
  visit("at", c.at);
  visit("offsets", c.offsets);
  visit("to", c.to);
  visit("reduction", c.reduction);
  visit("mask", c.mask);
  visit("seed", c.seed);
}

template <class T>
std::string list(const std::vector<T>& values) {
  std::string s;
  for (std::size_t i = 0; i < values.size(); ++i) s += (i ? "," : "") + std::to_string(values[i]);
  return s;
}
template <class T>
std::string list(T value) {
  return std::to_string(value);
}

template <class T>
void read(const std::string& text, T& value) {
  value = static_cast<T>(text[0] == '-' ? static_cast<std::uint64_t>(std::stoll(text))
                                        : std::stoull(text));
}
template <class T>
void read(const std::string& text, std::vector<T>& values) {
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) read(one, values.emplace_back());
}

constexpr const char* kKinds[] = {"encode", "load", "store", "reduce", "multicast", "replace"};

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t n) { return next_mixed(state_) % n; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  std::uint64_t any() { return next_mixed(state_); }

 private:
  std::uint64_t state_;
};

constexpr std::uint32_t kSpan[] = {0, 32, 64, 128};  // by swizzle

std::uint32_t slice_bytes(const Case& c) { return c.interleave == 2 ? 32 : 16; }
// The first spatial dimension. With im2col and interleaving, channels are in the second last
// dimension instead of the first.
std::uint32_t first_spatial(const Case& c) { return c.interleave != 0 ? 0 : 1; }

bool is_float(int type) { return type >= 6 && type <= 12; }

std::uint32_t round_up(std::uint64_t n, std::uint32_t to) {
  return static_cast<std::uint32_t>((n + to - 1) / to * to);
}

// A case that the driver accepts, by the rules of cuda.h.
Case right_case(Random& r, bool im2col, bool interleaved) {
  Case c;
  c.im2col = im2col;
  c.type = static_cast<int>(r.below(13));
  c.interleave = interleaved ? r.of({1, 2}) : 0;
  c.rank = static_cast<std::uint32_t>(r.between(im2col || interleaved ? 3 : 1, 5));
  c.swizzle = c.interleave == 2 ? 1 : static_cast<int>(r.below(4));
  c.promotion = static_cast<int>(r.below(4));
  c.fill = is_float(c.type) ? static_cast<int>(r.below(2)) : 0;
  const std::uint32_t bytes = element_bytes(c.type), grain = c.interleave == 2 ? 32 : 16;
  c.address = grain * r.below(8);
  // The inner dimension of the box: a multiple of 16 bytes within the swizzle's span. With
  // interleaving the innermost size counts slices of channels, as many as elements are drawn here.
  std::uint32_t inner = 16 * static_cast<std::uint32_t>(r.between(
                                 1, c.swizzle && !interleaved ? kSpan[c.swizzle] / 16 : 12));
  if (interleaved) inner = std::min(inner, 16 * bytes);
  if (inner / bytes > 256) inner = 256 * bytes;
  const std::uint32_t inner_elements = inner / bytes;
  c.sizes.push_back(static_cast<std::uint64_t>(r.between(1, 2 * inner_elements + 3)));
  std::uint64_t stride = round_up(c.sizes[0] * (interleaved ? slice_bytes(c) : bytes), grain) +
                         grain * (r.one_in(2) ? 0 : r.below(4));
  static constexpr int kMost[] = {0, 64, 24, 7, 5, 4};
  for (std::uint32_t d = 1; d < c.rank; ++d) {
    c.strides.push_back(stride);
    c.sizes.push_back(static_cast<std::uint64_t>(r.between(1, kMost[c.rank])));
    stride = stride * c.sizes.back() + grain * (r.one_in(2) ? 0 : r.below(4));
  }
  for (std::uint32_t d = 0; d < c.rank; ++d)
    c.steps.push_back(r.one_in(d == 0 ? 8 : 3) ? static_cast<std::uint32_t>(r.between(1, 8)) : 1);
  if (im2col) {
    static constexpr int kReach[] = {0, 0, 0, 20, 6, 3};
    for (std::uint32_t d = 0; d + 2 < c.rank; ++d) {
      const int reach = kReach[c.rank];
      c.lower.push_back(static_cast<std::int32_t>(r.between(-reach, reach)));
      c.upper.push_back(static_cast<std::int32_t>(r.between(-reach, reach)));
      // The box of pixels must not be empty: it goes from `lower` to size - 1 + `upper`.
      const auto size = static_cast<std::int64_t>(c.sizes[first_spatial(c) + d]);
      if (size + c.upper[d] - c.lower[d] < 1) {
        c.lower[d] = 0;
        c.upper[d] = 0;
      }
    }
    c.channels = inner_elements;
    c.pixels = static_cast<std::uint32_t>(r.between(1, 48));
  } else {
    c.box.push_back(inner_elements);
    static constexpr int kBox[] = {0, 1, 24, 6, 4, 3};
    for (std::uint32_t d = 1; d < c.rank; ++d)
      c.box.push_back(static_cast<std::uint32_t>(r.between(1, kBox[c.rank])) *
                      (r.one_in(2) ? c.steps[d] : 1));
  }
  return c;
}

// Whether silicon supports the operation for the type. Operations: add, min, max, inc, dec, and,
// or, xor.
bool reduces(int reduction, int type) {
  switch (reduction) {
    case 0: return type >= 2 && type != 5;
    case 1:
    case 2: return (type >= 2 && type <= 6) || type == 9;
    case 3:
    case 4: return type == 2;
    default: return type >= 2 && type <= 4;
  }
}

// Chooses the place of the copy, its coordinates and its data.
void choose_copy(Random& r, Case& c, bool writes) {
  c.to = 128 * static_cast<std::uint32_t>(r.one_in(2) ? 0 : r.below(16));
  for (std::uint32_t d = 0; writes && c.im2col && d + 2 < c.rank; ++d) {
    c.lower[d] = 0;
    if (static_cast<std::int64_t>(c.sizes[first_spatial(c) + d]) + c.upper[d] < 1) c.upper[d] = 0;
  }
  for (std::uint32_t d = 0; d < c.rank; ++d) {
    const auto size = static_cast<std::int64_t>(c.sizes[d]);
    const std::int64_t reach = writes ? 0 : c.im2col ? 4 : d == 0 ? 20 : c.box[d] + 1;
    std::int64_t at = r.one_in(3) ? 0 : r.between(-reach, size + 2);
    const std::uint32_t first = first_spatial(c);
    if (c.im2col && d >= first && d < first + c.rank - 2) {
      at = r.between(c.lower[d - first], size - 1 + c.upper[d - first]);
    } else if (c.im2col && d + 1 == c.rank) {
      at = r.between(writes ? 0 : -1, size);
    }
    // Silicon supports only such coordinates.
    if (d == 0 && c.interleave == 0) at -= at % (16 / element_bytes(c.type));
    c.at.push_back(static_cast<std::int32_t>(at));
  }
  for (std::uint32_t d = 0; !writes && c.im2col && d + 2 < c.rank; ++d)
    c.offsets.push_back(
        static_cast<std::uint32_t>(r.one_in(2) ? 0 : r.below(c.rank == 5 ? 12 : 16)));
  c.seed = r.any() >> 1 | 1;
}

// Makes one field of a valid case invalid, or sets it to a limit that is still valid.
void spoil(Random& r, Case& c) {
  const auto dimension = [&] { return r.below(c.sizes.size()); };
  switch (r.below(22)) {
    case 0: c.type = r.of({-1, 13, 14, 15, 16, 17, 100}); break;
    case 1: c.rank = r.of({0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 100u}); break;
    case 2: c.address += r.of({1u, 2u, 4u, 8u, 16u, 24u, 48u}); break;
    case 3:
      c.address = r.of<std::uint64_t>({0, 16, 1ull << 40, 1ull << 47, 1ull << 48, 1ull << 49,
                                       1ull << 56, 1ull << 57, 1ull << 63, ~15ull});
      break;
    case 4:
    case 5:
      c.sizes[dimension()] = r.of<std::uint64_t>(
          {0, 1, 1ull << 31, (1ull << 32) - 1, 1ull << 32, (1ull << 32) + 1, 1ull << 40, ~0ull});
      break;
    case 6:
    case 7:
      if (!c.strides.empty())
        c.strides[r.below(c.strides.size())] += r.of({1u, 2u, 4u, 8u, 16u, 24u, 32u, 48u});
      break;
    case 8:
      if (!c.strides.empty()) {
        c.strides[r.below(c.strides.size())] = r.of<std::uint64_t>(
            {0, 16, 32, 1ull << 35, 1ull << 36, (1ull << 40) - 32, (1ull << 40) - 16, 1ull << 40,
             (1ull << 40) + 16, 1ull << 44, 1ull << 63, ~15ull});
      }
      break;
    case 9:
    case 10:
    case 11:
      if (c.im2col) {
        (r.one_in(2) ? c.channels : c.pixels) =
            r.of({0u, 1u, 2u, 3u, 8u, 16u, 64u, 128u, 255u, 256u, 257u, 512u, 1023u, 1024u, 1025u,
                  65536u});
      } else {
        c.box[dimension()] = r.of({0u, 1u, 2u, 3u, 4u, 8u, 12u, 16u, 24u, 32u, 64u, 128u, 255u,
                                   256u, 257u, 512u, 65536u});
      }
      break;
    case 12:
    case 13: c.steps[dimension()] = r.of({0u, 1u, 2u, 7u, 8u, 9u, 16u, 256u}); break;
    case 14: c.interleave = r.of({-1, 0, 1, 2, 3}); break;
    case 15: c.swizzle = r.of({-1, 0, 1, 2, 3, 4, 5, 6, 7, 100}); break;
    case 16: c.promotion = r.of({-1, 0, 1, 2, 3, 4, 100}); break;
    case 17: c.fill = r.of({-1, 0, 1, 2, 100}); break;
    case 18: c.map = r.of({1u, 4u, 8u, 16u, 32u, 48u}); break;
    case 19: c.rank = 0; break;
    default:
      if (c.im2col) {
        auto& corner = r.one_in(2) ? c.lower : c.upper;
        corner[r.below(corner.size())] =
            r.of({-40000, -32769, -32768, -1000, -129, -128, -100, -17, -16, 0, 15, 16, 100, 127,
                  128, 1000, 32767, 32768, 40000});
      } else {
        c.type = static_cast<int>(r.below(13));
      }
  }
}

}  // namespace

std::string Case::text() const {
  const Case plain;
  std::string s = kKinds[static_cast<int>(kind)];
  std::vector<std::string> defaults;
  each_field(plain, [&](const char*, const auto& value) { defaults.push_back(list(value)); });
  std::size_t n = 0;
  each_field(*this, [&](const char* name, const auto& value) {
    const std::string v = list(value);
    if (v != defaults[n++]) s += std::string(" ") + name + "=" + v;
  });
  return s;
}

Case parse_case(const std::string& line) {
  Case c;
  std::istringstream in(line.substr(0, line.find(" : ")));
  std::string word;
  in >> word;
  const auto kind = std::find(std::begin(kKinds), std::end(kKinds), word);
  bool good = kind != std::end(kKinds);
  c.kind = static_cast<Kind>(kind - std::begin(kKinds));
  while (good && in >> word) {
    const std::size_t equals = word.find('=');
    good = false;
    each_field(c, [&](const char* name, auto& value) {
      if (equals == std::string::npos || word.substr(0, equals) != name) return;
      read(word.substr(equals + 1), value);
      good = true;
    });
  }
  if (!good) {
    std::fprintf(stderr, "no case: %s (at '%s')\n", line.c_str(), word.c_str());
    std::exit(2);
  }
  return c;
}

std::uint32_t element_bytes(int type) {
  static constexpr std::uint32_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && type < 13 ? kBytes[type] : 0;
}

std::uint64_t tensor_bytes(const Case& c) {
  std::uint64_t bytes = c.sizes[0] * (c.interleave != 0 ? slice_bytes(c) : element_bytes(c.type));
  for (std::uint32_t d = 1; d < c.rank; ++d) bytes += (c.sizes[d] - 1) * c.strides[d - 1];
  return bytes;
}

namespace {

// The bytes of a row in shared memory, and the number of rows.
std::uint32_t row_bytes(const Case& c) {
  if (c.interleave == 0) return (c.im2col ? c.channels : c.box[0]) * element_bytes(c.type);
  return slice_bytes(c) * (c.im2col ? 1 : (c.box[0] + c.steps[0] - 1) / c.steps[0]);
}
std::uint32_t rows(const Case& c) {
  if (c.im2col) return c.pixels;
  std::uint32_t n = 1;
  for (std::uint32_t d = 1; d < c.rank; ++d) {
    if (c.interleave == 0 || d + 2 != c.rank) n *= (c.box[d] + c.steps[d] - 1) / c.steps[d];
  }
  return n;
}

}  // namespace

std::uint32_t copied_bytes(const Case& c) { return rows(c) * row_bytes(c); }
std::uint32_t covered_bytes(const Case& c) {
  return rows(c) * (c.interleave != 0 ? row_bytes(c) : std::max(row_bytes(c), kSpan[c.swizzle]));
}

namespace {

// Rows of 128 bytes, most of them inside the tensor.
Case whole_case(Random& r, int type) {
  Case c;
  c.type = type;
  c.rank = 2;
  const std::uint32_t n = 128 / element_bytes(type);
  c.sizes = {n, 40};
  c.strides = {128};
  c.box = {n, 32};
  c.steps = {1, 1};
  c.at = {0, 4};
  c.seed = r.any() >> 1 | 1;
  return c;
}

// A random copy through a random map. Returns false if the copy would be too large.
bool random_copy(Random& r, bool interleaved, std::uint32_t most, Case& c) {
  c = right_case(r, r.one_in(3), interleaved);
  const std::uint64_t which = r.below(10);
  c.kind = which < 5   ? Kind::kLoad
           : which < 7 ? Kind::kStore
           : which < 8 ? Kind::kReduce
           : which < 9 ? Kind::kMulticast
                       : Kind::kReplace;
  c.reduction = c.kind == Kind::kReduce ? static_cast<int>(r.below(8)) : 0;
  if (c.kind == Kind::kReduce && !reduces(c.reduction, c.type)) return false;
  c.mask = c.kind == Kind::kMulticast ? static_cast<std::uint32_t>(r.between(1, 3)) : 0;
  if (c.kind == Kind::kReplace && c.im2col) return false;
  choose_copy(r, c, c.kind == Kind::kStore || c.kind == Kind::kReduce);
  return covered_bytes(c) <= most && tensor_bytes(c) <= 200000;
}

}  // namespace

std::vector<Case> encode_cases() {
  Random r(1);
  std::vector<Case> all;
  for (int i = 0; i < 3000; ++i) {
    Case c = right_case(r, r.one_in(3), r.one_in(4));
    c.address += 0x7f0000000000;
    if (!r.one_in(8)) spoil(r, c);
    if (r.one_in(10)) spoil(r, c);
    all.push_back(c);
  }
  return all;
}

std::vector<Case> size_cases() {
  std::vector<Case> all;
  Random r(7);
  const auto add = [&](int type, int interleave, std::vector<std::uint32_t> box,
                       std::uint32_t step) {
    Case c;
    c.type = type;
    c.rank = static_cast<std::uint32_t>(box.size());
    c.interleave = interleave;
    c.swizzle = interleave == 2;
    c.address = 0x7f0000000000;
    c.sizes.assign(c.rank, 100);
    for (std::uint32_t d = 1; d < c.rank; ++d) c.strides.push_back(1 << (10 + 2 * d));
    c.box = std::move(box);
    c.steps.assign(c.rank, 1);
    c.steps.back() = step;
    all.push_back(c);
  };
  for (std::uint32_t n = 100; n <= 256; ++n) add(0, 0, {64, 4, 4, n}, 1);
  for (std::uint32_t n = 100; n <= 256; n += 4) {
    add(2, 0, {16, 4, 4, n}, 1);
    add(0, 0, {64, 4, 8, n}, 2);
    add(0, 1, {64, 4, 4, n}, 1);
    add(0, 1, {64, 4, n, 4}, 1);
    add(2, 2, {16, 4, 4, n}, 1);
    add(4, 1, {16, 2, 2, n, 3}, 1);
  }
  return all;
}

std::vector<Case> null_cases() {
  Random r(4);
  std::vector<Case> all;
  for (const bool im2col : {false, true}) {
    for (std::uint32_t bit = 0; bit < (im2col ? 6 : 5); ++bit) {
      Case c = right_case(r, im2col, false);
      c.address += 0x7f0000000000;
      c.null = 1u << bit;
      all.push_back(c);
    }
  }
  return all;
}

std::vector<Case> copy_cases(int count, std::uint64_t seed) {
  Random r(seed);
  std::vector<Case> all;
  for (Case c; static_cast<int>(all.size()) < count;) {
    if (random_copy(r, r.one_in(6), 40000, c)) all.push_back(c);
  }
  return all;
}

std::vector<Case> revealing_cases() {
  std::vector<Case> all;
  Random r(2);
  for (Case c; all.size() < 900;) {
    if (!random_copy(r, all.size() % 2 == 0, 12000, c) || c.kind == Kind::kMulticast ||
        tensor_bytes(c) > 30000)
      continue;
    c.seed = 0;
    all.push_back(c);
  }
  // The conversion of bits of each type.
  for (int type = 0; type < 13; ++type) {
    for (const Kind kind : {Kind::kLoad, Kind::kStore}) {
      Case c = whole_case(r, type);
      c.kind = kind;
      c.at = {0, 10};
      c.fill = is_float(type);
      all.push_back(c);
    }
  }
  return all;
}

std::vector<Case> fault_cases() {
  std::vector<Case> all;
  Random r(6);
  for (const Kind kind : {Kind::kLoad, Kind::kStore}) {
    for (const int swizzle : {0, 3}) {
      for (const std::uint32_t to : {16u, 32u, 64u}) {
        Case c = whole_case(r, 2);
        c.kind = kind;
        c.swizzle = swizzle;
        c.to = to;
        all.push_back(c);
      }
    }
    Case c = whole_case(r, 2);
    c.kind = kind;
    c.at = {3, 0};
    all.push_back(c);
    c.at = {4, 0};
    all.push_back(c);
  }
  // The elements accessed with im2col, and the limits of the box of pixels.
  for (const Kind kind : {Kind::kLoad, Kind::kStore}) {
    for (const int lower : {-1, 0, 1}) {
      for (const int upper : {-1, 0, 1}) {
        for (const int at : {0, 1, 6, 7}) {
          if (kind == Kind::kLoad ? lower + upper != 0 || at == 6 : at == 7) continue;
          Case c;
          c.kind = kind;
          c.im2col = true;
          c.type = 2;
          c.rank = 3;
          c.sizes = {4, 7, 3};
          c.strides = {16, 112};
          c.channels = 4;
          c.pixels = 10;
          c.steps = {1, 1, 1};
          c.lower = {lower};
          c.upper = {upper};
          c.at = {0, at, 0};
          if (kind == Kind::kLoad) c.offsets = {0};
          all.push_back(c);
        }
      }
    }
  }
  return all;
}

std::vector<Case> reduction_cases() {
  std::vector<Case> all;
  Random r(3);
  for (int op = 0; op < 8; ++op) {
    for (int type = 0; type < 13; ++type) {
      if (!reduces(op, type)) continue;
      Case c = whole_case(r, type);
      c.kind = Kind::kReduce;
      c.reduction = op;
      all.push_back(c);
    }
  }
  return all;
}

}  // namespace lockstep::tensor_maps
