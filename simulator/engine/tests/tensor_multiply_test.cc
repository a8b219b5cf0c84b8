// tcgen05.mma compared with a model that computes each element from the kernel's input bytes:
// integers and small floating-point values, so that every sum is exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/engine/tests/tensor_kernels.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace tensor_multiply_test {

using testing::Machine;
using testing::tensor_kernel;
using testing::text;
using testing::two_to_the;

constexpr int kLanes = 128, kColumns = 512;

// A type of factors: its codes, and values whose products have exact sums.
struct Factor {
  const char* kind;
  int code, bits, k;
  bool narrow;  // 16 elements use the first bytes of every 16
  int width;    // bits of an element
};
constexpr Factor kF16{"f16", 0, 16, 16, false, 16}, kBF16{"f16", 1, 16, 16, false, 16},
    kTF32{"tf32", 2, 32, 8, false, 32}, kE4M3{"f8f6f4", 0, 8, 32, false, 8},
    kE5M2{"f8f6f4", 1, 8, 32, false, 8}, kE2M3{"f8f6f4", 3, 8, 32, true, 6},
    kE3M2{"f8f6f4", 4, 8, 32, true, 6}, kE2M1{"f8f6f4", 5, 8, 32, true, 4},
    kU8{"i8", 0, 8, 32, false, 8}, kS8{"i8", 1, 8, 32, false, 8};

// The value of an element with these bits.
double value(const Factor& f, std::uint32_t bits) {
  const std::string_view kind = f.kind;
  if (kind == "i8")
    return f.code == 0 ? static_cast<std::uint8_t>(bits) : static_cast<std::int8_t>(bits);
  int exponent_bits = 8, fraction_bits = 23;
  if (kind == "f16") exponent_bits = f.code == 0 ? 5 : 8, fraction_bits = f.code == 0 ? 10 : 7;
  if (kind == "f8f6f4") {
    constexpr int kExponents[] = {4, 5, 0, 2, 3, 2}, kFractions[] = {3, 2, 0, 3, 2, 1};
    exponent_bits = kExponents[f.code], fraction_bits = kFractions[f.code];
  }
  const auto exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const auto fraction = static_cast<double>(bits & ((1u << fraction_bits) - 1));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double magnitude =
      exponent == 0 ? fraction * two_to_the(1 - bias - fraction_bits)
                    : (1 + fraction * two_to_the(-fraction_bits)) * two_to_the(exponent - bias);
  return (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -magnitude : magnitude;
}

// The bits of a value with few digits: all sums are exact.
std::uint32_t some_bits(const Factor& f, std::uint64_t random) {
  const std::string_view kind = f.kind;
  const auto small = static_cast<int>(random % 9) - 4;
  if (kind == "i8") return static_cast<std::uint32_t>(random & 0xff);
  if (kind == "f8f6f4" && f.narrow)
    return static_cast<std::uint32_t>(random) & ((1u << f.width) - 1);
  if (kind == "f8f6f4") {
    static std::map<std::pair<int, int>, std::uint32_t> known;  // by code and value
    const auto [at, unknown] = known.try_emplace({f.code, small}, 0u);
    while (unknown && value(f, at->second) != small) ++at->second;
    return at->second;
  }
  const auto wide = std::bit_cast<std::uint32_t>(static_cast<float>(small));
  if (kind == "tf32") return wide;
  if (f.code == 1) return wide >> 16;
  // f16: the same exponent with another bias.
  if (small == 0) return 0;
  return (wide >> 16 & 0x8000) | (((wide >> 23 & 0xff) - 112) << 10) | (wide >> 13 & 0x3ff);
}

struct Case {
  Factor a, b;
  int m, n;
  int result;  // code of D: 0 f16, 1 f32, 2 s32
  int layout;  // 0 none, 6, 4, 2: swizzles of 32, 64 and 128 bytes; 1: of 32 bytes in 128
  bool a_across = false, b_across = false;
  bool a_in_tensor_memory = false;
  bool a_negated = false, accumulates = false;
  bool scaled = false;  // kind::mxf8f6f4
  int lane = 0;         // first lane of the accumulator
  int scale = 0;
};

int swizzle_bytes(int layout) {
  return layout == 0 ? 0 : layout == 6 ? 32 : layout == 4 ? 64 : 128;
}

// The place of byte `byte` of row `row` of a matrix stored by rows: `rows` rows of 32 bytes, in the
// first columns of an atom as wide as the swizzle. The swizzle permutes 16-byte units by the number
// of the 128-byte line (PTX ISA 9.7.16.5).
int place(int row, int byte, int rows, int layout) {
  const int wide = swizzle_bytes(layout);
  if (wide == 0) return row / 8 * 128 + row % 8 * 16 + byte / 16 * 16 * rows + byte % 16;
  const int plain = row * wide + byte;
  return plain ^ (plain / 128 % (wide / 16) * 16);
}
int leading_of(int rows, int layout) { return layout == 0 ? 16 * rows : 16; }
int stride_of(int layout) { return layout == 0 ? 128 : 8 * swizzle_bytes(layout); }

// Stored by columns: line k holds the rows side by side. Without a swizzle, in units of 16 bytes by
// eight lines. With a swizzle, in atoms of the swizzle's bytes by eight lines. An atom of layout 1
// has four lines, and its units of 32 bytes are permuted.
int lines_of(int layout) { return layout == 1 ? 4 : 8; }
int place_across(int k, int byte, int rows_bytes, int layout) {
  const int wide = swizzle_bytes(layout) == 0 ? 16 : swizzle_bytes(layout);
  const int atoms = rows_bytes / wide, lines = lines_of(layout);
  const int plain =
      (k / lines * atoms + byte / wide) * lines * wide + k % lines * wide + byte % wide;
  if (layout == 1) return plain ^ (plain / 128 % 4 * 32);
  return layout == 0 ? plain : plain ^ (plain / 128 % (wide / 16) * 16);
}

class TensorMultiply : public ::testing::Test {
 protected:
  // Writes elements of `bits` bits to their places.
  static void put(std::vector<std::byte>& memory, const Factor& f,
                  const std::vector<std::uint32_t>& m, int rows, int start, int layout,
                  bool across) {
    const int size = f.bits / 8;
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < f.k; ++k) {
        const std::uint32_t v = m[static_cast<std::size_t>(r * f.k + k)];
        if (f.narrow) {
          // 16 packed elements side by side, then padding.
          const int along = across ? r : k;
          for (int bit = 0; bit < f.width; ++bit) {
            const int position = along % 16 * f.width + bit,
                      place_along = along / 16 * 16 + position / 8;
            auto& byte = memory[static_cast<std::size_t>(
                start + (across ? place_across(k, place_along, rows, layout)
                                : place(r, place_along, rows, layout)))];
            byte |= static_cast<std::byte>((v >> bit & 1) << position % 8);
          }
          continue;
        }
        for (int b = 0; b < size; ++b) {
          const int at = across ? place_across(k, r * size + b, rows * size, layout)
                                : place(r, k * size + b, rows, layout);
          memory[static_cast<std::size_t>(start + at)] = static_cast<std::byte>(v >> (8 * b));
        }
      }
    }
  }

  // Runs a case and compares all elements of D. Returns their number.
  std::size_t run(const Case& c, std::uint64_t seed) {
    std::uint64_t state = seed;
    const auto random = [&] { return next_mixed(state); };
    std::vector<std::uint32_t> a(static_cast<std::size_t>(c.m * c.a.k)),
        b(static_cast<std::size_t>(c.n * c.b.k));
    for (auto& v : a) v = some_bits(c.a, random());
    for (auto& v : b) v = some_bits(c.b, random());
    std::vector<std::byte> memory(32768);
    constexpr int kStartB = 16384;
    if (!c.a_in_tensor_memory) put(memory, c.a, a, c.m, 0, c.layout, c.a_across);
    put(memory, c.b, b, c.n, kStartB, c.layout, c.b_across);
    // A in Tensor Memory by lane and column; each element has distinct bits.
    constexpr int kColumnA = 300, kColumnD = 16;
    std::vector<std::uint32_t> words(kLanes * 8);
    const auto lane_of = [&](int row) { return c.m == 64 ? row / 16 * 32 + row % 16 : row; };
    for (int r = 0; r < c.m; ++r) {
      for (int k = 0; k < c.a.k; ++k) {
        const int bit = k * c.a.bits;
        words[static_cast<std::size_t>(lane_of(r) * 8 + bit / 32)] |=
            a[static_cast<std::size_t>(r * c.a.k + k)] << (bit % 32);
      }
    }
    std::vector<std::uint32_t> input(8192 + words.size());
    std::memcpy(input.data(), memory.data(), memory.size());
    std::copy(words.begin(), words.end(), input.begin() + 8192);

    std::string body = "mad.wide.u32 d1, tid, 256, in0;\nmad.lo.u32 x1, tid, 256, smem;\n";
    for (int i = 0; i < 256; i += 16)
      body += "ld.global.v4.b32 {r0, r1, r2, r3}, [d1+" + std::to_string(i) +
              "];\nst.shared.v4.b32 [x1+" + std::to_string(i) + "], {r0, r1, r2, r3};\n";
    body += "mad.wide.u32 d1, tid, 32, in0;\n";
    body += "ld.global.v4.b32 {r0, r1, r2, r3}, [d1+32768];\n";
    body += "ld.global.v4.b32 {r4, r5, r6, r7}, [d1+32784];\n";
    body += "add.u32 x2, tm, " + std::to_string(kColumnA) + ";\n";
    body += "tcgen05.st.sync.aligned.32x32b.x8.b32 [x2], {r0, r1, r2, r3, r4, r5, r6, r7};\n";
    // The initial accumulator: column c of lane l is l + c, in the type of D.
    if (c.accumulates) {
      for (int n = 0; n < c.n; ++n) {
        body += "add.u32 x2, tm, " + std::to_string(kColumnD + n) + ";\nadd.u32 r0, tid, " +
                std::to_string(n) + ";\n";
        if (c.result == 1) body += "cvt.rn.f32.u32 r0, r0;\n";
        if (c.result == 0) body += "cvt.rn.f16.u32 h0, r0;\nmov.b32 r0, {h0, h1};\n";
        body += "tcgen05.st.sync.aligned.32x32b.x1.b32 [x2], {r0};\n";
      }
    }
    // Scales of row or column i: in lane i mod 32 of every quarter, column i / 32, byte 1 for rows
    // and byte 2 for columns. They are 2^(i mod 7 - 3) and 2^(i mod 5 - 2).
    constexpr int kRowScales = 340, kColumnScales = 350;
    for (int n = 0; c.scaled && n < 8; ++n) {
      body += "and.b32 x3, tid, 31;\nadd.u32 x3, x3, " + std::to_string(32 * n) +
              ";\nrem.u32 r0, x3, 7;\nadd.u32 r0, r0, 124;\nshl.b32 r0, r0, 8;\n"
              "rem.u32 r1, x3, 5;\nadd.u32 r1, r1, 125;\nshl.b32 r1, r1, 16;\n";
      body += "add.u32 x2, tm, " + std::to_string(kColumnScales + n) +
              ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [x2], {r1};\n";
      if (n < 4)
        body += "add.u32 x2, tm, " + std::to_string(kRowScales + n) +
                ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [x2], {r0};\n";
    }
    body += "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\n";
    body += "fence.proxy.async;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n";
    const auto describe = [&](const std::string& name, int start, bool across, int rows, int size) {
      const int wide = swizzle_bytes(c.layout) == 0 ? 16 : swizzle_bytes(c.layout);
      const int atoms = rows * size / wide,
                group = atoms * lines_of(c.layout) * wide;  // of its lines
      if (!across)
        return testing::descriptor(name, start, leading_of(rows, c.layout), stride_of(c.layout),
                                   c.layout);
      // Without a swizzle the two strides are exchanged.
      return c.layout == 0
                 ? testing::descriptor(name, start, group, 8 * wide, c.layout)
                 : testing::descriptor(name, start, lines_of(c.layout) * wide, group, c.layout);
    };
    body += describe("d2", 0, c.a_across, c.m, c.a.bits / 8);
    body += describe("d3", kStartB, c.b_across, c.n, c.b.bits / 8);
    const std::uint32_t instruction = static_cast<std::uint32_t>(
        (c.scaled ? 2 << 4 | 1 << 23 | 1 << 29 : c.result << 4) | c.a.code << 7 | c.b.code << 10 |
        c.a_negated << 13 | c.a_across << 15 | c.b_across << 16 | c.n / 8 << 17 | c.m / 16 << 24);
    body += "add.u32 x5, all, " + std::to_string(c.lane << 16 | kColumnD) + ";\n";
    body += "add.u32 x6, all, " + std::to_string(kColumnA) + ";\n";
    body += "mov.b32 x7, " + std::to_string(instruction) + ";\n";
    body += std::string("setp.ne.u32 p2, tid, ") + (c.accumulates ? "77" : "tid") + ";\n";
    body += "add.u32 x8, all, " + std::to_string(kRowScales) + ";\nadd.u32 x9, all, " +
            std::to_string(kColumnScales) + ";\n";
    body +=
        "@p0 tcgen05.mma.cta_group::1.kind::" +
        (c.scaled ? std::string("mxf8f6f4.block_scale") + (c.a.code == 1 ? ".scale_vec::1X" : "")
                  : std::string(c.a.kind)) +
        " [x5], " + (c.a_in_tensor_memory ? "[x6]" : "d2") + ", d3, x7, " +
        (c.scaled ? "[x8], [x9], " : "") + "p2" +
        (c.scale != 0 ? ", " + std::to_string(c.scale) : "") + ";\n";
    body += testing::commit_and_wait();
    if (c.m == 64)
      body += "and.b32 x3, tid, 16;\nsetp.eq.u32 p3, x3, " + std::to_string(c.lane) + ";\n";
    for (int n = 0; n < c.n; n += 16) {
      body += "add.u32 x2, tm, " + std::to_string(kColumnD + n) +
              ";\ntcgen05.ld.sync.aligned.32x32b.x16.b32 {r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, "
              "r10, r11, r12, r13, r14, r15}, [x2];\ntcgen05.wait::ld.sync.aligned;\n";
      for (int r = 0; r < 16; ++r)
        body += std::string(c.m == 64 ? "@p3 " : "") + "st.global.b32 [mine+" +
                std::to_string(4 * (n + r)) + "], r" + std::to_string(r) + ";\n";
    }
    Machine gpu;
    gpu.config.compute_capability = 100;
    gpu.config.schedule_seed = seed % 3;
    std::string kernel = tensor_kernel(body);
    kernel.insert(kernel.find(".shared"), ".reg .b16 h<2>;\n");
    kernel.insert(kernel.find("bar.sync 0;"), "mov.b16 h1, 0;\n");
    gpu.load_text(kernel);
    const auto in = gpu.buffer(input, "in");
    const auto out = gpu.buffer(std::vector<std::uint32_t>(kLanes * kColumns), "out");
    const Outcome o = gpu.launch("k", 1, kLanes, in, out);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    const auto got = gpu.fetch<std::uint32_t>(out, kLanes * kColumns);
    const auto values = [](const Factor& f, const std::vector<std::uint32_t>& bits) {
      std::vector<double> all;
      for (const std::uint32_t v : bits) all.push_back(value(f, v));
      return all;
    };
    const std::vector<double> of_a = values(c.a, a), of_b = values(c.b, b);
    for (int r = 0; r < c.m; ++r) {
      const int lane = c.lane + lane_of(r);
      for (int n = 0; n < c.n; ++n) {
        double sum = c.accumulates ? (lane + n) * two_to_the(-c.scale) : 0;
        for (int k = 0; k < c.a.k; ++k) {
          const double product = of_a[static_cast<std::size_t>(r * c.a.k + k)] *
                                 of_b[static_cast<std::size_t>(n * c.b.k + k)];
          const int power = c.scaled ? r % 7 - 3 + n % 5 - 2 : 0;
          sum += (c.a_negated ? -product : product) * two_to_the(power);
        }
        const std::uint32_t bits = got[static_cast<std::size_t>(lane * kColumns + n)];
        const double is = c.result == 2   ? static_cast<std::int32_t>(bits)
                          : c.result == 1 ? std::bit_cast<float>(bits)
                                          : value(kF16, bits);
        if (is != sum) {
          ADD_FAILURE() << c.a.kind << " code " << c.a.code << ", " << c.m << " by " << c.n
                        << ", layout " << c.layout << ": row " << r << " column " << n << " is "
                        << is << ", wanted " << sum;
          return 0;
        }
      }
    }
    return static_cast<std::size_t>(c.m * c.n);
  }
};

JUDGES(TensorMultiply, EveryTypeAndShape,
       "tcgen05.mma.cta_group::1.kind::f16 [tm], a:b64, b:b64, e:b32{, c*4:b32}, {!}f",
       "tcgen05.mma.cta_group::1.kind::i8 [tm], a:b64, b:b64, e:b32{, c*4:b32}, {!}f",
       "tcgen05.fence::after_thread_sync");
TEST_F(TensorMultiply, EveryTypeAndShape) {
  testing::Elements elements("one block");
  std::uint64_t seed = 1;
  for (const Factor& f : {kF16, kBF16, kTF32, kE4M3, kE5M2, kE2M3, kE3M2, kE2M1, kU8, kS8}) {
    const int result = std::string(f.kind) == "i8" ? 2 : 1;
    const std::string kind = std::string(f.kind) + " type " + std::to_string(f.code);
    while (elements.want(kind)) {
      for (const int m : {64, 128}) {
        for (const int n : {16, 48, 256}) {
          Case c{f, f, m, n, result, 0};
          if (f.bits * f.k / 8 * n > 16384) continue;
          c.accumulates = n != 48;
          c.lane = m == 64 && n == 16 ? 16 : 0;
          elements.add(kind, run(c, seed++));
        }
      }
    }
  }
  const std::string others = "of two types, and to f16";
  // Factors of different types.
  while (elements.want(others)) {
    elements.add(others, run({kE4M3, kE5M2, 128, 64, 1, 0}, seed++));
    elements.add(others, run({kE2M1, kE4M3, 128, 64, 1, 2}, seed++));
    elements.add(others, run({kU8, kS8, 128, 64, 2, 0}, seed++));
    // Results of f16.
    elements.add(others, run({.a = kF16,
                              .b = kF16,
                              .m = 128,
                              .n = 32,
                              .result = 0,
                              .layout = 0,
                              .accumulates = true},
                             seed++));
    elements.add(others, run({kE4M3, kE4M3, 64, 32, 0, 0}, seed++));
  }
  EXPECT_GT(elements.sum(), 400'000u);
}

TEST_F(TensorMultiply, EverySwizzleAndBothOrders) {
  std::uint64_t seed = 100;
  for (const int layout : {0, 6, 4, 2}) {
    for (const Factor& f : {kF16, kTF32, kE5M2, kS8, kE2M3, kE2M1}) {
      const int result = std::string(f.kind) == "i8" ? 2 : 1;
      for (const bool a_across : {false, true}) {
        for (const bool b_across : {false, true}) {
          Case c{f, f, 128, f.bits == 8 ? 128 : 64, result, layout, a_across, b_across};
          // The atoms of both matrices must fit.
          if (swizzle_bytes(layout) * 128 > 16384) continue;
          EXPECT_EQ(run(c, seed++), static_cast<std::size_t>(128 * c.n))
              << layout << a_across << b_across;
        }
      }
    }
  }
}

TEST_F(TensorMultiply, UnitsOf32BytesAcross) {
  std::uint64_t seed = 150;
  for (const Factor& f : {kTF32, kF16, kE5M2, kS8}) {
    Case c{f, f, 128, 128, std::string(f.kind) == "i8" ? 2 : 1, 1, true, true};
    EXPECT_EQ(run(c, seed++), 128u * 128) << f.kind;
    c.a_across = false;
    c.a_in_tensor_memory = true;
    EXPECT_EQ(run(c, seed++), 128u * 128) << f.kind;
  }
}

JUDGES(TensorMultiply, AInTensorMemoryNegatedAndScaled,
       "tcgen05.mma.cta_group::1.kind::tf32 [tm], [tm], b:b64, e:b32{, c*4:b32}, {!}f",
       "tcgen05.mma.cta_group::1.kind::i8 [tm], [tm], b:b64, e:b32{, c*4:b32}, {!}f",
       "tcgen05.mma.cta_group::1.kind::f16 [tm], a:b64, b:b64, e:b32{, c*4:b32}, {!}f, imm3",
       "tcgen05.mma.cta_group::1.kind::f16 [tm], [tm], b:b64, e:b32{, c*4:b32}, {!}f, imm3");
TEST_F(TensorMultiply, AInTensorMemoryNegatedAndScaled) {
  std::uint64_t seed = 200;
  for (const Factor& f : {kF16, kTF32, kE4M3, kE2M1, kS8}) {
    for (const int m : {64, 128}) {
      Case c{f, f, m, 32, std::string(f.kind) == "i8" ? 2 : 1, 0};
      c.a_in_tensor_memory = true;
      c.a_negated = std::string(f.kind) != "i8";
      c.accumulates = true;
      run(c, seed++);
    }
  }
  Case c{kF16, kF16, 128, 32, 1, 0};
  c.accumulates = true;
  for (const int scale : {1, 7, 15}) {
    c.scale = scale;
    c.a_in_tensor_memory = scale == 7;
    run(c, seed++);
  }
}

JUDGES(TensorMultiply, RowsAndColumnsAreScaled,
       "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale",
       "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X");
TEST_F(TensorMultiply, RowsAndColumnsAreScaled) {
  testing::Elements elements("one block, mxf8f6f4");
  std::uint64_t seed = 300;
  for (const Factor& f : {kE4M3, kE5M2, kE2M3, kE3M2, kE2M1}) {
    const std::string type = "type " + std::to_string(f.code);
    while (elements.want(type)) {
      for (const int n : {16, 256}) {
        Case c{f, f, 128, n, 1, n == 16 ? 2 : 0};
        c.scaled = true;
        c.accumulates = n == 16;
        c.a_in_tensor_memory = n == 256;
        const std::size_t count = run(c, seed++);
        EXPECT_EQ(count, static_cast<std::size_t>(128 * n));
        elements.add(type, count);
      }
    }
  }
}

}  // namespace tensor_multiply_test
}  // namespace lockstep::engine
