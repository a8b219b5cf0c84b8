// mma with .kind (PTX ISA 9.7.14.5): factors of eight bits and fewer, block scales, dense and
// sparse. The model computes each element of D from the registers of the 32 lanes. All sums are
// exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace matrix_narrow_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

struct Type {
  const char* name;
  int exponent_bits, fraction_bits;
  int bits() const { return 1 + exponent_bits + fraction_bits; }
};
constexpr Type kTypes[] = {
    {"e4m3", 4, 3}, {"e5m2", 5, 2}, {"e2m3", 2, 3}, {"e3m2", 3, 2}, {"e2m1", 2, 1}};
constexpr const Type& kFour = kTypes[4];

double value(const Type& t, std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> t.fraction_bits & ((1u << t.exponent_bits) - 1));
  const double fraction =
      std::ldexp(static_cast<double>(bits & ((1u << t.fraction_bits) - 1)), -t.fraction_bits);
  const int bias = (1 << (t.exponent_bits - 1)) - 1;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return (bits >> (t.bits() - 1) & 1) != 0 ? -magnitude : magnitude;
}

// The bits of a multiple of 1/8 between -4 and 4: sums of products are exact.
std::uint32_t draw(const Type& t, std::uint64_t& state) {
  for (;;) {
    const auto bits = static_cast<std::uint32_t>(next_mixed(state)) & ((1u << t.bits()) - 1);
    const double v = value(t, bits);
    if (std::fabs(v) <= 4 && v * 8 == std::trunc(v * 8)) return bits;
  }
}

enum class Scales { kNone, kOne, kTwo, kFour };

struct Case {
  const Type &a, &b;
  std::string opcode;  // up to the operands
  int k;               // of a dense A
  bool packed = false, sparse = false, half = false;
  Scales scales = Scales::kNone;

  int lines() const {
    return scales == Scales::kNone  ? 0
           : scales == Scales::kOne ? 1
           : scales == Scales::kTwo ? 2
                                    : 4;
  }
  int whole() const { return sparse ? 2 * k : k; }  // rows of B
};

// The position of an element in the registers of a lane.
struct Place {
  int lane, reg, shift;
};
Place place_of_a(const Case& c, int row, int column) {
  const int per = c.packed ? 8 : 4;
  return {row % 8 * 4 + column / per % 4, row / 8 + 2 * (column / (4 * per)),
          column % per * (c.packed ? 4 : 8)};
}
Place place_of_b(const Case& c, int k, int n) {
  const int per = c.packed ? 8 : 4;
  return {4 * n + k / per % 4, k / (4 * per), k % per * (c.packed ? 4 : 8)};
}
// An unpacked element of four bits is in the middle of its byte; others start at bit 0.
int within_byte(const Case& c, const Type& t) { return !c.packed && t.bits() == 4 ? 2 : 0; }

std::uint32_t half_of(double v) {
  if (v == 0) return 0;
  const int exponent = std::ilogb(v);
  const auto scaled = static_cast<int>(std::nearbyint(std::ldexp(std::fabs(v), 10 - exponent)));
  return static_cast<std::uint32_t>((v < 0 ? 0x8000 : 0) + ((exponent + 14) << 10) + scaled);
}

constexpr int kWords = 16;  // words of a lane: A, B, C, metadata and two of scales

std::string kernel(const Case& c, int byte_a, int thread_a, int byte_b, int thread_b) {
  std::string s =
      ".version 9.0\n.target sm_120a\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .b32 r<20>; .reg .b32 tid; .reg .b64 d<4>; .reg .b16 h<4>;\n"
      "mov.u32 tid, %tid.x;\nld.param.u64 d0, [in];\nld.param.u64 d1, [out];\n"
      "mad.wide.u32 d0, tid, 64, d0;\nmad.wide.u32 d1, tid, 16, d1;\n";
  for (int i = 0; i < kWords; ++i)
    s += "ld.global.b32 r" + std::to_string(i) + ", [d0+" + std::to_string(4 * i) + "];\n";
  s += "mov.b16 h0, " + std::to_string(byte_a) + ";\n";
  const bool short_a = c.opcode.find("m16n8k16") != c.opcode.npos;
  const std::string accumulator = c.half ? "{r8, r9}" : "{r8, r9, r10, r11}";
  s += c.opcode + " " + accumulator + ", " + (short_a ? "{r0, r1}" : "{r0, r1, r2, r3}") + ", " +
       (c.sparse  ? "{r4, r5, r6, r7}"
        : short_a ? "{r4}"
                  : "{r4, r5}") +
       ", " + accumulator;
  if (c.sparse) s += ", r12, 0";
  if (c.lines() != 0)
    s += ", r13, {h0, " + std::to_string(thread_a) + "}, r14, {" + std::to_string(byte_b) + ", " +
         std::to_string(thread_b) + "}";
  s += ";\nst.global.v4.b32 [d1], {r8, r9, r10, r11};\nret;\n}\n";
  return s;
}

std::size_t run(const Case& c, std::uint64_t seed, int compute_capability = 120) {
  std::uint64_t state = seed;
  std::vector<std::uint32_t> in(32 * kWords);
  const auto word = [&](int lane, int n) -> std::uint32_t& {
    return in[static_cast<std::size_t>(lane * kWords + n)];
  };
  const auto k = static_cast<std::size_t>(c.k), whole = static_cast<std::size_t>(c.whole());
  std::vector<std::vector<double>> a(16, std::vector<double>(k)), b(8, std::vector<double>(whole));
  std::vector<std::vector<std::size_t>> at(16, std::vector<std::size_t>(k));
  for (int row = 0; row < 16; ++row) {
    for (int e = 0; e < c.k; ++e) {
      const std::uint32_t bits = draw(c.a, state);
      const Place p = place_of_a(c, row, e);
      word(p.lane, p.reg) |= bits << (p.shift + within_byte(c, c.a));
      a[static_cast<std::size_t>(row)][static_cast<std::size_t>(e)] = value(c.a, bits);
      at[static_cast<std::size_t>(row)][static_cast<std::size_t>(e)] = static_cast<std::size_t>(e);
    }
    // Two of four columns, or of four pairs, in ascending order.
    for (int group = 0; c.sparse && group < 16; ++group) {
      constexpr int kChoices[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
      const int* chosen = kChoices[next_mixed(state) % 6];
      word(4 * (row % 8) + 2 * (group / 8) + row / 8, 12) |=
          static_cast<std::uint32_t>(chosen[0] | chosen[1] << 2) << 4 * (group % 8);
      const int width = c.packed ? 2 : 1;
      for (int e = 0; e < 2 * width; ++e)
        at[static_cast<std::size_t>(row)][static_cast<std::size_t>(2 * width * group + e)] =
            static_cast<std::size_t>(4 * width * group + chosen[e / width] * width + e % width);
    }
  }
  for (int n = 0; n < 8; ++n) {
    for (int e = 0; e < c.whole(); ++e) {
      const std::uint32_t bits = draw(c.b, state);
      const Place p = place_of_b(c, e, n);
      word(p.lane, 4 + p.reg) |= bits << (p.shift + within_byte(c, c.b));
      b[static_cast<std::size_t>(n)][static_cast<std::size_t>(e)] = value(c.b, bits);
    }
  }
  const bool ue4m3 = c.scales == Scales::kFour;
  const auto scale = [&](std::uint32_t& bits) {
    bits = ue4m3 ? 0x30 + static_cast<std::uint32_t>(next_mixed(state) % 16)
                 : 125 + static_cast<std::uint32_t>(next_mixed(state) % 5);
    return ue4m3 ? value(kTypes[0], bits) : std::ldexp(1.0, static_cast<int>(bits) - 127);
  };
  const int lines = c.lines(), places = lines == 0 ? 1 : 4 / lines;
  const int byte_a = lines * static_cast<int>(next_mixed(state) % static_cast<unsigned>(places)),
            byte_b = lines * static_cast<int>(next_mixed(state) % static_cast<unsigned>(places)),
            thread_a = static_cast<int>(next_mixed(state) % 2),
            thread_b = static_cast<int>(next_mixed(state) % 4);
  std::vector<std::vector<double>> of_rows(16), of_columns(8);
  for (int lane = 0; lane < 32 && lines != 0; ++lane) word(lane, 13) = word(lane, 14) = 0xfefefefe;
  const auto put = [&](std::uint32_t& to, int byte, std::uint32_t bits) {
    to = (to & ~(255u << 8 * byte)) | bits << 8 * byte;
  };
  for (int s = 0; s < lines; ++s) {
    std::uint32_t bits = 0;
    for (int row = 0; row < 16; ++row) {
      of_rows[static_cast<std::size_t>(row)].push_back(scale(bits));
      put(word(4 * (row % 8) + 2 * thread_a + row / 8, 13), byte_a + s, bits);
    }
    for (int n = 0; n < 8; ++n) {
      of_columns[static_cast<std::size_t>(n)].push_back(scale(bits));
      put(word(4 * n + thread_b, 14), byte_b + s, bits);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i)
      word(lane, 8 + i) = c.half ? 0 : std::bit_cast<std::uint32_t>(static_cast<float>(lane - i));
  }
  Machine gpu;
  gpu.config.compute_capability = compute_capability;
  std::string ptx = kernel(c, byte_a, thread_a, byte_b, thread_b);
  if (compute_capability != 120)
    ptx.replace(ptx.find("sm_120a"), 7, "sm_" + std::to_string(compute_capability) + "a");
  gpu.load_text(ptx);
  const auto from = gpu.buffer(in, "in");
  const auto to = gpu.buffer(std::vector<std::uint32_t>(128), "out");
  const Outcome o = gpu.launch("k", 1, 32, from, to);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  const auto out = gpu.fetch<std::uint32_t>(to, 128);
  for (int row = 0; row < 16; ++row) {
    for (int n = 0; n < 8; ++n) {
      const auto r = static_cast<std::size_t>(row), column = static_cast<std::size_t>(n);
      const int lane = 4 * (row % 8) + n / 2, i = n % 2 + 2 * (row / 8);
      double sum = c.half ? 0 : lane - i;
      for (std::size_t e = 0; e < k; ++e) {
        double product = a[r][e] * b[column][at[r][e]];
        if (lines != 0) {
          const std::size_t s = e * static_cast<std::size_t>(lines) / k;
          product *= of_rows[r][s] * of_columns[column][s];
        }
        sum += product;
      }
      const std::uint32_t is =
          c.half ? out[static_cast<std::size_t>(4 * lane + i / 2)] >> (16 * (i % 2)) & 0xffff
                 : out[static_cast<std::size_t>(4 * lane + i)];
      const std::uint32_t wanted =
          c.half ? half_of(sum) : std::bit_cast<std::uint32_t>(static_cast<float>(sum));
      if (is != wanted) {
        ADD_FAILURE() << c.opcode << ": row " << row << " column " << n << " is " << std::hex << is
                      << ", wanted " << wanted;
        return 0;
      }
    }
  }
  return 128;
}

std::string types(const Case& c) {
  const std::string d = c.half ? "f16" : "f32";
  return "." + d + "." + c.a.name + "." + c.b.name + "." + d;
}

JUDGES(MatrixNarrow, EightBitsAndFewer,
       "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
       "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e4m3.f16",
       "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32",
       "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e4m3.f16",
       "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32",
       "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e2m1.f16",
       "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
       "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.e4m3.e4m3.f16");
TEST(MatrixNarrow, EightBitsAndFewer) {
  std::uint64_t seed = 1;
  for (const Type& a : kTypes) {
    for (const Type& b : kTypes) {
      for (const bool half : {false, true}) {
        Case c{a, b, "", 32};
        c.half = half;
        c.opcode = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4" + types(c);
        EXPECT_EQ(run(c, seed++), 128u);
        if (a.bits() + b.bits() != 16) continue;
        c.k = 16;
        c.opcode = "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4" + types(c);
        EXPECT_EQ(run(c, seed++), 128u);
        if (!half) {
          EXPECT_EQ(run(c, seed++, 100), 128u);
        }
      }
    }
  }
}

JUDGES(MatrixNarrow, Scaled,
       "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0",
       "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
       "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1."
       "f32.ue8m0",
       "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
       "f32.ue4m3");
struct Fours {
  const char* words;
  Scales scales;
  const char* stype;
};
constexpr Fours kFours[] = {{"mxf4.block_scale", Scales::kTwo, "ue8m0"},
                            {"mxf4.block_scale.scale_vec::2X", Scales::kTwo, "ue8m0"},
                            {"mxf4nvf4.block_scale.scale_vec::2X", Scales::kTwo, "ue8m0"},
                            {"mxf4nvf4.block_scale.scale_vec::4X", Scales::kFour, "ue4m3"}};
TEST(MatrixNarrow, Scaled) {
  std::uint64_t seed = 1000;
  for (int round = 0; round < 4; ++round) {
    for (const Type& a : kTypes) {
      for (const Type& b : kTypes) {
        Case c{a, b, "", 32};
        c.scales = Scales::kOne;
        c.opcode = std::string("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale") +
                   (round % 2 == 0 ? "" : ".scale_vec::1X") + types(c) + ".ue8m0";
        EXPECT_EQ(run(c, seed++), 128u);
      }
    }
    for (const Fours& f : kFours) {
      Case c{kFour, kFour, "", 64, true};
      c.scales = f.scales;
      c.opcode = std::string("mma.sync.aligned.m16n8k64.row.col.kind::") + f.words + types(c) +
                 "." + f.stype;
      EXPECT_EQ(run(c, seed++), 128u);
    }
  }
}

JUDGES(MatrixNarrow, SparseOnes,
       "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
       "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32",
       "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32",
       "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e2m1.f16",
       "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16",
       "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3."
       "e4m3.f32.ue8m0",
       "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1."
       "e2m1.f32.ue8m0",
       "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale."
       "scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
       "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale."
       "scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3");
TEST(MatrixNarrow, SparseOnes) {
  const std::string sparse = "mma.sp::ordered_metadata.sync.aligned.";
  std::uint64_t seed = 2000;
  for (const Type& a : kTypes) {
    for (const Type& b : kTypes) {
      Case c{a, b, "", 32, false, true};
      c.opcode = sparse + "m16n8k64.row.col.kind::f8f6f4" + types(c);
      EXPECT_EQ(run(c, seed++), 128u);
      c.scales = Scales::kOne;
      c.opcode = sparse + "m16n8k64.row.col.kind::mxf8f6f4.block_scale" + types(c) + ".ue8m0";
      EXPECT_EQ(run(c, seed++), 128u);
      c.scales = Scales::kNone;
      c.half = true;
      c.opcode = sparse + "m16n8k64.row.col.kind::f8f6f4" + types(c);
      EXPECT_EQ(run(c, seed++), 128u);
      if (a.bits() + b.bits() != 16) continue;
      c.opcode = sparse + "m16n8k64.row.col" + types(c);
      EXPECT_EQ(run(c, seed++), 128u);
    }
  }
  for (const Fours& f : kFours) {
    Case c{kFour, kFour, "", 64, true, true};
    c.scales = f.scales;
    c.opcode = sparse + "m16n8k128.row.col.kind::" + f.words + types(c) + "." + f.stype;
    EXPECT_EQ(run(c, seed++), 128u);
  }
}

TEST(MatrixNarrow, SelectorsThatAreNone) {
  Case c{kFour, kFour,
         "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 64,
         true};
  c.scales = Scales::kTwo;
  struct Selectors {
    int byte_a, thread_a, byte_b, thread_b;
    bool good;
  };
  for (const Selectors& s :
       {Selectors{0, 0, 0, 0, true}, Selectors{2, 1, 2, 3, true}, Selectors{1, 0, 0, 0, false},
        Selectors{4, 0, 0, 0, false}, Selectors{0, 2, 0, 0, false}, Selectors{0, 0, 3, 0, false},
        Selectors{0, 0, 0, 4, false}}) {
    Machine gpu;
    gpu.config.compute_capability = 120;
    gpu.load_text(kernel(c, s.byte_a, s.thread_a, s.byte_b, s.thread_b));
    const auto from = gpu.buffer(std::vector<std::uint32_t>(32 * kWords), "in");
    const auto to = gpu.buffer(std::vector<std::uint32_t>(128), "out");
    const Outcome o = gpu.launch("k", 1, 32, from, to);
    ASSERT_EQ(o.findings.empty(), s.good) << text(o);
    if (s.good) continue;
    EXPECT_EQ(o.findings[0].kind, Kind::kInvalidInstruction);
    EXPECT_THAT(text(o), HasSubstr("no scales begin in byte"));
  }
}

}  // namespace matrix_narrow_test
}  // namespace lockstep::engine
