// tcgen05.mma by a pair of blocks, weight-stationary, and with scales for 16 or 32 elements of four
// bits. The model computes each element of D: its lane and column, and the sum of its products (PTX
// ISA 9.7.16.10.5 for the layouts). All sums are exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "simulator/engine/tests/tensor_layout_kernel.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace tensor_layouts_test {

using testing::Machine;
using testing::TensorBlock;
using testing::TensorProductKernel;
using testing::text;
using testing::two_to_the;

enum class Scales { kNone, kOne, kTwo, kFour, kFourOfUE4M3 };

struct Case {
  std::string kind;  // and the rest of the opcode, up to the operands
  int m, n;
  bool paired = false, stationary = false, a_in_tensor_memory = false, accumulates = false;
  Scales scales = Scales::kNone;
  int scale = 0;                         // scales the accumulator by 2^-scale
  bool sparse = false, shifted = false;  // sparse: half of A's columns; shifted: rows move by one

  bool packed() const { return kind.starts_with("mxf4"); }
  bool integers() const { return kind.starts_with("i8"); }
  int bits() const {
    return kind.starts_with("tf32") ? 32 : kind.starts_with("f16") ? 16 : packed() ? 4 : 8;
  }
  int stored() const { return 256 / bits(); }  // stored columns of A
  int k() const { return sparse ? 2 * stored() : stored(); }
  int group() const {
    return packed() ? 8 : bits() == 32 ? 2 : 4;
  }  // half of these columns are stored
  // The 64 rows of a block are in every other 16 lanes.
  bool spread() const { return paired && sparse && m == 128; }
  int lane_of(int row) const { return spread() ? row / 16 * 32 + row % 16 : row; }
  int blocks() const { return paired ? 2 : 1; }
  int per_line() const {
    return scales == Scales::kNone  ? 0
           : scales == Scales::kOne ? 1
           : scales == Scales::kTwo ? 2
                                    : 4;
  }
};

struct Place {
  int block, lane, column;
};
Place place_of(const Case& c, int row, int n) {
  if (c.paired && c.m == 256) return {row / 128, row % 128, n};
  if (c.spread()) return {row / 64, c.lane_of(row % 64), n};
  if (c.paired) return {row / 64, row % 64 + (n < c.n / 2 ? 0 : 64), n % (c.n / 2)};
  if (c.stationary && c.m == 64) return {0, row + (n < c.n / 2 ? 0 : 64), n % (c.n / 2)};
  if (c.stationary && c.m == 32) return {0, row + 32 * (n / (c.n / 4)), n % (c.n / 4)};
  return {0, row, n};
}

// The bits of an element and its value.
struct Element {
  std::uint32_t bits;
  double value;
};
Element some(const Case& c, std::uint64_t random) {
  const int v = static_cast<int>(random % 7) - 3;
  if (c.integers()) return {static_cast<std::uint32_t>(v) & 255, double(v)};
  if (c.packed()) {
    constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    const auto bits = static_cast<std::uint32_t>(random & 15);
    return {bits, (bits & 8) != 0 ? -kValues[bits & 7] : kValues[bits & 7]};
  }
  // f16 and e4m3: 0, 1, 2 or 3 with a sign.
  constexpr std::uint32_t kF16[] = {0, 0x3c00, 0x4000, 0x4200}, kE4M3[] = {0, 0x38, 0x40, 0x44};
  const int magnitude = v < 0 ? -v : v;
  if (c.bits() == 32) return {std::bit_cast<std::uint32_t>(static_cast<float>(v)), double(v)};
  return c.bits() == 16 ? Element{kF16[magnitude] | (v < 0 ? 0x8000u : 0), double(v)}
                        : Element{kE4M3[magnitude] | (v < 0 ? 0x80u : 0), double(v)};
}

Element some_scale(const Case& c, std::uint64_t random) {
  if (c.scales == Scales::kFourOfUE4M3) {
    // 1 to 1.875 times 2^-1 to 2^1; the sign is ignored.
    const auto bits = static_cast<std::uint32_t>(random % 24 + 0x30);
    return {bits | static_cast<std::uint32_t>(random >> 20 & 0x80),
            (8 + (bits & 7)) * two_to_the(static_cast<int>(bits >> 3) - 7 - 3)};
  }
  const auto bits = static_cast<std::uint32_t>(random % 5 + 125);
  return {bits, two_to_the(static_cast<int>(bits) - 127)};
}

std::size_t run(const Case& c, std::uint64_t seed) {
  std::uint64_t state = seed;
  const auto fill = [&](int count, auto draw) {
    std::vector<Element> all;
    for (int i = 0; i < count; ++i) all.push_back(draw(c, next_mixed(state)));
    return all;
  };
  const int k = c.k(), lines = c.per_line();
  const int stored = c.stored(), groups = k / c.group(), width = c.bits();
  const bool integers = c.integers();
  const auto a = fill(c.m * stored, some), b = fill(c.n * k, some);
  const auto rows = fill(c.m * lines, some_scale), columns = fill(c.n * lines, some_scale);
  const int a_rows = c.m / c.blocks(), b_rows = c.n / c.blocks();
  std::vector<TensorBlock> blocks(static_cast<std::size_t>(c.blocks()));
  // The column of each stored element of A, and the place of its metadata.
  std::vector<int> from(a.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int>(i) % stored;
  for (int row = 0; c.sparse && row < c.m; ++row) {
    TensorBlock& to = blocks[static_cast<std::size_t>(row / a_rows)];
    // tf32 stores one of two columns: halves 0 and 1, or halves 2 and 3, of the four.
    const bool one_of_two = c.bits() == 32;
    const int mine = row % a_rows, wide = c.group() / 4;
    for (int g = 0; g < groups; ++g) {
      constexpr int kPairs[][2] = {{0, 1}, {2, 3}, {0, 2}, {0, 3}, {1, 2}, {1, 3}};
      const auto& pair = kPairs[next_mixed(state) % (one_of_two ? 2 : 6)];
      if (one_of_two) from[static_cast<std::size_t>(row * stored + g)] = 2 * g + pair[0] / 2;
      for (int e = 0; e < 2 * wide; ++e)
        from[static_cast<std::size_t>(row * stored + g * 2 * wide + e)] =
            g * c.group() + pair[e / wide] * wide + e % wide;
      const auto nibble = static_cast<std::uint32_t>(pair[0] | pair[1] << 2);
      // For 16 bits, blocks of 16 rows: lanes by row mod 8 and half of K, halves of words by row.
      const bool halves = c.bits() >= 16;
      const int lane = c.lane_of(halves ? mine / 16 * 16 + g / 4 * 8 + mine % 8 : mine);
      to.metadata[static_cast<std::size_t>(lane * 2 + (halves ? 0 : g / 8))] |=
          nibble << (halves ? mine / 8 % 2 * 16 + g % 4 * 4 : g % 8 * 4);
    }
  }
  // Bit by bit; without a swizzle, the 16 bytes of eight rows are consecutive.
  const auto put = [&](std::vector<std::uint8_t>& memory, int start, int count, int row, int e,
                       std::uint32_t bits) {
    for (int bit = 0; bit < width; ++bit) {
      const int at = e * width + bit, byte = at / 8;
      const int place = start + row / 8 * 128 + row % 8 * 16 + byte / 16 * 16 * count + byte % 16;
      memory[static_cast<std::size_t>(place)] |=
          static_cast<std::uint8_t>((bits >> bit & 1) << at % 8);
    }
  };
  for (int row = 0; row < c.m; ++row) {
    TensorBlock& to = blocks[static_cast<std::size_t>(row / a_rows)];
    const int mine = row % a_rows;
    for (int e = 0; e < stored; ++e) {
      const std::uint32_t bits = a[static_cast<std::size_t>(row * stored + e)].bits;
      if (!c.a_in_tensor_memory) put(to.shared, 0, a_rows, mine, e, bits);
      // Every part of the lanes that holds columns of D holds all rows of A of the block.
      for (int lane = c.lane_of(mine); lane < 128; lane += c.spread() ? 128 : a_rows)
        to.a[static_cast<std::size_t>(lane * TensorBlock::kOfA + e * c.bits() / 32)] |=
            bits << e * c.bits() % 32;
    }
    for (int s = 0; s < lines; ++s) {
      for (int lane = mine % 32; lane < 128; lane += 32)
        to.rows[static_cast<std::size_t>(lane * TensorBlock::kOfRows + mine / 32)] |=
            rows[static_cast<std::size_t>(row * lines + s)].bits << 8 * s;
    }
  }
  for (int n = 0; n < c.n; ++n) {
    for (int e = 0; e < k; ++e)
      put(blocks[static_cast<std::size_t>(n / b_rows)].shared, TensorBlock::kSharedB, b_rows,
          n % b_rows, e, b[static_cast<std::size_t>(n * k + e)].bits);
    for (int s = 0; s < lines; ++s) {
      // If half of the lanes hold half of D's columns, they hold the scales of these columns.
      const int parts = c.paired && c.m == 128 && !c.sparse ? 2 : 1;
      const int part = n / (c.n / parts), of_part = n % (c.n / parts);
      for (TensorBlock& to : blocks) {
        for (int lane = 0; lane < 128 / parts; lane += 32)
          to.columns[static_cast<std::size_t>(
              (128 / parts * part + lane + of_part % 32) * TensorBlock::kOfColumns +
              of_part / 32)] |= columns[static_cast<std::size_t>(n * lines + s)].bits << 8 * s;
      }
    }
  }
  const bool ue4m3 = c.scales == Scales::kFourOfUE4M3;
  TensorProductKernel kernel;
  kernel.instruction = std::string("tcgen05.mma") + (c.stationary ? ".ws" : "") +
                       (c.sparse ? ".sp" : "") + ".cta_group::1.kind::" + c.kind;
  kernel.paired = c.paired;
  kernel.a_in_tensor_memory = c.a_in_tensor_memory;
  kernel.scaled = lines != 0;
  kernel.accumulates = c.accumulates;
  kernel.sparse = c.sparse;
  if (c.scale != 0) kernel.after = ", " + std::to_string(c.scale);
  const unsigned type = c.bits() == 32 ? 2 : c.integers() || c.packed() ? 1 : 0;
  kernel.descriptor = (kernel.scaled  ? (ue4m3 ? 0 : 1u << 23)
                       : c.integers() ? 2u << 4
                                      : 1u << 4) |
                      (c.sparse ? 4u : 0) | type << 7 | type << 10 |
                      static_cast<unsigned>(c.n / 8) << 17 | static_cast<unsigned>(c.m / 16) << 24;
  kernel.a_rows = a_rows;
  kernel.b_rows = b_rows;
  kernel.columns = place_of(c, 0, c.n - 1).column + 1;
  Machine gpu;
  gpu.config.schedule_seed = seed % 3;
  std::vector<std::uint32_t> out;
  const Outcome o = kernel.run(gpu, blocks, out);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  for (int row = 0; row < c.m; ++row) {
    for (int n = 0; n < c.n; ++n) {
      const Place p = place_of(c, row, n);
      double sum = c.accumulates ? (p.lane + p.column) * two_to_the(-c.scale) : 0;
      const int of_a = c.shifted && row % 32 != 31 ? row + 1 : row;
      for (int e = 0; e < stored; ++e) {
        // The metadata are not shifted.
        const int column = from[static_cast<std::size_t>(row * stored + e)];
        double product = a[static_cast<std::size_t>(of_a * stored + e)].value *
                         b[static_cast<std::size_t>(n * k + column)].value;
        if (lines != 0) {
          const int line = column * lines / k;
          product *= rows[static_cast<std::size_t>(row * lines + line)].value *
                     columns[static_cast<std::size_t>(n * lines + line)].value;
        }
        sum += product;
      }
      const std::uint32_t bits =
          out[static_cast<std::size_t>((p.block * 128 + p.lane) * 512 + p.column)];
      const double is =
          integers ? double(static_cast<std::int32_t>(bits)) : double(std::bit_cast<float>(bits));
      if (is != sum) {
        ADD_FAILURE() << c.kind << ", " << c.m << " by " << c.n << (c.paired ? ", a pair" : "")
                      << ": row " << row << " column " << n << " is " << is << ", wanted " << sum;
        return 0;
      }
    }
  }
  return static_cast<std::size_t>(c.m * c.n);
}

// Runs the case and returns the number of compared elements.
std::size_t compared(const Case& c, std::uint64_t seed) {
  const std::size_t count = run(c, seed);
  EXPECT_EQ(count, static_cast<std::size_t>(c.m * c.n));
  return count;
}

struct Kind {
  const char* words;
  Scales scales;
  std::string name() const {
    return words + std::string(scales == Scales::kFourOfUE4M3 ? " of ue4m3" : "");
  }
};

JUDGES(TensorLayouts, APairOfBlocks,
       "tcgen05.mma.cta_group::2.kind::f16 [tm], a:b64, b:b64, e:b32{, c*8:b32}, {!}f",
       "tcgen05.mma.cta_group::2.kind::f16 [tm], [tm], b:b64, e:b32{, c*8:b32}, {!}f",
       "tcgen05.mma.cta_group::2.kind::f16 [tm], a:b64, b:b64, e:b32{, c*8:b32}, {!}f, imm3",
       "tcgen05.mma.cta_group::2.kind::f16 [tm], [tm], b:b64, e:b32{, c*8:b32}, {!}f, imm3",
       "tcgen05.mma.cta_group::2.kind::i8 [tm], a:b64, b:b64, e:b32{, c*8:b32}, {!}f",
       "tcgen05.mma.cta_group::2.kind::i8 [tm], [tm], b:b64, e:b32{, c*8:b32}, {!}f");
TEST(TensorLayouts, APairOfBlocks) {
  testing::Elements elements("a pair of blocks");
  std::uint64_t seed = 1;
  for (const char* const kind : {"f16", "tf32", "f8f6f4", "i8"}) {
    while (elements.want(kind)) {
      for (const int m : {128, 256}) {
        for (const int n : {32, 64, 256}) {
          Case c{kind, m, n, true};
          c.a_in_tensor_memory = n == 64;
          c.accumulates = n == 64 && !c.integers();
          elements.add(kind, compared(c, seed++));
        }
      }
    }
  }
  for (const bool a_in_tensor_memory : {false, true}) {
    Case c{"f16", 256, 32, true};
    c.a_in_tensor_memory = a_in_tensor_memory;
    c.accumulates = true;
    c.scale = 3;
    EXPECT_EQ(run(c, seed++), 256u * 32);
  }
}

JUDGES(TensorLayouts, WeightsThatStay,
       "tcgen05.mma.ws.cta_group::1.kind::f16 [tm], a:b64, b:b64, e:b32, {!}f{, g:b64}",
       "tcgen05.mma.ws.cta_group::1.kind::f16 [tm], [tm], b:b64, e:b32, {!}f{, g:b64}",
       "tcgen05.mma.ws.cta_group::1.kind::i8 [tm], a:b64, b:b64, e:b32, {!}f{, g:b64}",
       "tcgen05.mma.ws.cta_group::1.kind::i8 [tm], [tm], b:b64, e:b32, {!}f{, g:b64}");
TEST(TensorLayouts, WeightsThatStay) {
  testing::Elements elements(".ws");
  std::uint64_t seed = 100;
  for (const char* const kind : {"f16", "tf32", "f8f6f4", "i8"}) {
    while (elements.want(kind)) {
      for (const int m : {32, 64, 128}) {
        for (const int n : {64, 128, 256}) {
          Case c{kind, m, n, false, true};
          c.a_in_tensor_memory = n == 128;
          c.accumulates = n != 64 && !c.integers();
          elements.add(kind, compared(c, seed++));
        }
      }
    }
  }
}

JUDGES(
    TensorLayouts, ScalesOfFourBits,
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale [tm], a:b64, b:b64, e:b32, [tm], [tm], {!}f",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale [tm], [tm], b:b64, e:b32, [tm], [tm], {!}f",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [tm], a:b64, b:b64, e:b32, "
    "[tm], [tm], {!}f",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X [tm], [tm], b:b64, e:b32, "
    "[tm], [tm], {!}f",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block32 [tm], a:b64, b:b64, e:b32, [tm], "
    "[tm], {!}f",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block32 [tm], [tm], b:b64, e:b32, [tm], "
    "[tm], {!}f",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [tm], a:b64, b:b64, e:b32, [tm], "
    "[tm], {!}f",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [tm], [tm], b:b64, e:b32, [tm], "
    "[tm], {!}f",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [tm], a:b64, b:b64, e:b32, "
    "[tm], [tm], {!}f",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [tm], [tm], b:b64, e:b32, "
    "[tm], [tm], {!}f");
TEST(TensorLayouts, ScalesOfFourBits) {
  testing::Elements elements("with scales");
  std::uint64_t seed = 200;
  for (const Kind& kind :
       {Kind{"mxf8f6f4.block_scale", Scales::kOne}, Kind{"mxf4.block_scale", Scales::kTwo},
        Kind{"mxf4.block_scale.block32", Scales::kTwo},
        Kind{"mxf4.block_scale.scale_vec::2X", Scales::kTwo},
        Kind{"mxf4nvf4.block_scale.block32", Scales::kTwo},
        Kind{"mxf4nvf4.block_scale.scale_vec::2X", Scales::kTwo},
        Kind{"mxf4nvf4.block_scale.block16", Scales::kFour},
        Kind{"mxf4nvf4.block_scale.block16", Scales::kFourOfUE4M3},
        Kind{"mxf4nvf4.block_scale.scale_vec::4X", Scales::kFourOfUE4M3}}) {
    const std::string name = kind.name();
    while (elements.want(name)) {
      for (const bool paired : {false, true}) {
        for (const int n : {16, 256}) {
          for (const bool a_in_tensor_memory : {false, true}) {
            Case c{kind.words, paired ? 256 : 128, n, paired};
            c.a_in_tensor_memory = a_in_tensor_memory;
            c.accumulates = n == 16;
            c.scales = kind.scales;
            elements.add(name, compared(c, seed++));
            if (!paired || a_in_tensor_memory == (n == 16)) continue;
            c.m = 128;
            elements.add(name, compared(c, seed++));
          }
        }
      }
    }
  }
}

#define LOCKSTEP_JUDGED(group, lanes)                                                            \
  "tcgen05.mma.sp.cta_group::" group ".kind::f16 [tm], a:b64, b:b64, [tm], e:b32{, c*" lanes     \
  ":b32}, {!}f",                                                                                 \
      "tcgen05.mma.sp.cta_group::" group ".kind::f16 [tm], [tm], b:b64, [tm], e:b32{, c*" lanes  \
      ":b32}, {!}f",                                                                             \
      "tcgen05.mma.sp.cta_group::" group ".kind::i8 [tm], a:b64, b:b64, [tm], e:b32{, c*" lanes  \
      ":b32}, {!}f",                                                                             \
      "tcgen05.mma.sp.cta_group::" group ".kind::i8 [tm], [tm], b:b64, [tm], e:b32{, c*" lanes   \
      ":b32}, {!}f",                                                                             \
      "tcgen05.mma.sp.cta_group::" group ".kind::f16 [tm], a:b64, b:b64, [tm], e:b32{, c*" lanes \
      ":b32}, {!}f, imm3",                                                                       \
      "tcgen05.mma.sp.cta_group::" group ".kind::f16 [tm], [tm], b:b64, [tm], e:b32{, c*" lanes  \
      ":b32}, {!}f, imm3",                                                                       \
      "tcgen05.mma.cta_group::" group ".kind::f16.ashift [tm], [tm], b:b64, e:b32{, c*" lanes    \
      ":b32}, {!}f",                                                                             \
      "tcgen05.mma.cta_group::" group ".kind::i8.ashift [tm], [tm], b:b64, e:b32{, c*" lanes     \
      ":b32}, {!}f",                                                                             \
      "tcgen05.mma.cta_group::" group ".kind::f16.ashift [tm], [tm], b:b64, e:b32{, c*" lanes    \
      ":b32}, {!}f, imm3",                                                                       \
      "tcgen05.mma.sp.cta_group::" group                                                         \
      ".kind::f16.ashift [tm], [tm], b:b64, [tm], e:b32{, "                                      \
      "c*" lanes ":b32}, {!}f",                                                                  \
      "tcgen05.mma.sp.cta_group::" group                                                         \
      ".kind::i8.ashift [tm], [tm], b:b64, [tm], e:b32{, "                                       \
      "c*" lanes ":b32}, {!}f",                                                                  \
      "tcgen05.mma.sp.cta_group::" group                                                         \
      ".kind::f16.ashift [tm], [tm], b:b64, [tm], e:b32{, "                                      \
      "c*" lanes ":b32}, {!}f, imm3"

JUDGES(TensorLayouts, SparseAndShifted, LOCKSTEP_JUDGED("1", "4"), LOCKSTEP_JUDGED("2", "8"));
TEST(TensorLayouts, SparseAndShifted) {
  testing::Elements elements("sparse and shifted");
  std::uint64_t seed = 300;
  for (const char* kind : {"f16", "tf32", "f8f6f4", "i8"}) {
    while (elements.want(kind)) {
      for (const bool paired : {false, true}) {
        for (const int m : {128, 256}) {
          if (m == 256 && !paired) continue;
          for (const bool in_tensor_memory : {false, true}) {
            Case c{kind, m, 64, paired, false, in_tensor_memory};
            c.sparse = true;
            elements.add(kind, compared(c, seed++));
            if (!c.kind.starts_with("f16") && !c.kind.starts_with("tf32")) continue;
            c.accumulates = true;
            c.scale = 2;
            elements.add(kind, compared(c, seed++));
          }
          // Shifted needs all 128 lanes: 256 rows of a pair.
          if (paired && m == 128) continue;
          for (const bool sparse : {false, true}) {
            Case c{std::string(kind) + ".ashift", m, 64, paired, false, true};
            c.sparse = sparse;
            c.shifted = true;
            elements.add(kind, compared(c, seed++));
            if (!c.kind.starts_with("f16") && !c.kind.starts_with("tf32")) continue;
            c.accumulates = true;
            c.scale = 1;
            elements.add(kind, compared(c, seed++));
          }
        }
      }
    }
  }
}

#define LOCKSTEP_SPARSE_SCALED(words)                                                              \
  "tcgen05.mma.sp.cta_group::1.kind::" words " [tm], a:b64, b:b64, [tm], e:b32, [tm], [tm], {!}f", \
      "tcgen05.mma.sp.cta_group::1.kind::" words                                                   \
      " [tm], [tm], b:b64, [tm], e:b32, [tm], [tm], {!}f"

JUDGES(TensorLayouts, SparseWithScales, LOCKSTEP_SPARSE_SCALED("mxf8f6f4.block_scale"),
       LOCKSTEP_SPARSE_SCALED("mxf8f6f4.block_scale.scale_vec::1X"),
       LOCKSTEP_SPARSE_SCALED("mxf4.block_scale"),
       LOCKSTEP_SPARSE_SCALED("mxf4.block_scale.scale_vec::2X"),
       LOCKSTEP_SPARSE_SCALED("mxf4nvf4.block_scale.block32"),
       LOCKSTEP_SPARSE_SCALED("mxf4nvf4.block_scale.block16"),
       LOCKSTEP_SPARSE_SCALED("mxf4nvf4.block_scale.scale_vec::4X"));
TEST(TensorLayouts, SparseWithScales) {
  testing::Elements elements("sparse with scales");
  std::uint64_t seed = 400;
  for (const Kind& kind : {Kind{"mxf8f6f4.block_scale", Scales::kOne},
                           Kind{"mxf8f6f4.block_scale.scale_vec::1X", Scales::kOne},
                           Kind{"mxf4.block_scale", Scales::kTwo},
                           Kind{"mxf4.block_scale.scale_vec::2X", Scales::kTwo},
                           Kind{"mxf4nvf4.block_scale.block32", Scales::kTwo},
                           Kind{"mxf4nvf4.block_scale.block16", Scales::kFour},
                           Kind{"mxf4nvf4.block_scale.scale_vec::4X", Scales::kFourOfUE4M3}}) {
    const std::string name = kind.name();
    while (elements.want(name)) {
      for (const bool paired : {false, true}) {
        for (const bool in_tensor_memory : {false, true}) {
          Case c{kind.words, paired ? 256 : 128, 64, paired, false, in_tensor_memory};
          c.scales = kind.scales;
          c.sparse = true;
          c.accumulates = in_tensor_memory;
          elements.add(name, compared(c, seed++));
        }
      }
    }
  }
}

#undef LOCKSTEP_SPARSE_SCALED
#undef LOCKSTEP_JUDGED

}  // namespace tensor_layouts_test
}  // namespace lockstep::engine
