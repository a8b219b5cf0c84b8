// tcgen05.mma with a sparse A, with masked columns of B and with a shifted A, and tcgen05.shift,
// compared with element-by-element models. All sums are exact.
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "simulator/engine/tests/tensor_kernels.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace tensor_sparse_test {

using testing::Machine;
using testing::tensor_kernel;
using testing::text;

constexpr int kLanes = 128, kColumns = 512;

struct Kind {
  const char* name;
  int code, bits;  // the type's code in the descriptor; bits of an element
  int result = 1;
  int group = 4;  // columns in a group; half of them are stored
};
constexpr Kind kF16{"f16", 0, 16}, kTF32{"tf32", 2, 32, 1, 2}, kE4M3{"f8f6f4", 0, 8},
    kS8{"i8", 1, 8, 2}, kMxE4M3{"mxf8f6f4.block_scale", 0, 8},
    kMxE2M1{"mxf4.block_scale", 1, 4, 1, 8};

// The bits of -2 to 2, which every type can represent.
std::uint32_t bits_of(const Kind& k, int v) {
  const std::string name = k.name;
  const int magnitude = v < 0 ? -v : v;
  if (name == "i8") return static_cast<std::uint32_t>(v) & 0xff;
  if (k.bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(v));
  const std::uint32_t negative = v < 0 ? 1 : 0, twice = magnitude == 2 ? 1 : 0;
  if (magnitude == 0) return 0;
  if (k.bits == 16) return negative << 15 | (0x3c00 + twice * 0x400);
  if (k.bits == 8) return negative << 7 | (0x38 + twice * 8);
  return negative << 3 | (2 + twice * 2);
}

struct Case {
  Kind kind;
  int m, n;
  bool sparse = false, stationary = false, a_in_tensor_memory = false, shifted = false;
  int lane = 0;                 // of 64 rows in every other 16 lanes
  std::uint64_t mask = 0;       // mask of columns of B; 0: none
  int farthest = 0;             // code of their largest shift
  std::vector<bool> zero = {};  // the masked columns
  int selector = 0;             // selects the column of the metadata
};

std::size_t run(const Case& c, std::uint64_t seed) {
  std::uint64_t state = seed;
  const auto some = [&](int below) {
    return static_cast<int>(next_mixed(state) % static_cast<std::uint64_t>(below));
  };
  const int stored = 256 / c.kind.bits, k = c.sparse ? 2 * stored : stored,
            groups = k / c.kind.group, shift = static_cast<int>(c.mask >> 56 & 63);
  std::vector<int> a(static_cast<std::size_t>(c.m * stored)),
      b(static_cast<std::size_t>((c.n + shift) * k)), from(a.size());
  for (int& v : a) v = some(5) - 2;
  for (int& v : b) v = some(5) - 2;
  // The metadata of each group of each row, and the column of each stored element.
  std::vector<int> nibbles(static_cast<std::size_t>(c.m * groups));
  for (int r = 0; r < c.m; ++r) {
    for (int g = 0; g < groups && c.sparse; ++g) {
      const auto at = static_cast<std::size_t>(r * stored + g * c.kind.group / 2);
      const int base = g * c.kind.group;
      int& nibble = nibbles[static_cast<std::size_t>(r * groups + g)];
      if (c.kind.group == 2) {  // one of two
        const int which = some(2);
        nibble = which == 0 ? 0b0100 : 0b1110;
        from[at] = base + which;
        continue;
      }
      int first = some(4), second = some(3);
      if (second >= first) ++second;
      if (first > second) std::swap(first, second);
      nibble = first | second << 2;
      const int wide = c.kind.group / 4;  // columns of one of four
      for (int e = 0; e < wide; ++e) {
        from[at + static_cast<std::size_t>(e)] = base + first * wide + e;
        from[at + static_cast<std::size_t>(wide + e)] = base + second * wide + e;
      }
    }
  }
  // Shared memory without a swizzle: units of 8 rows x 16 bytes; the next unit of a row is `rows`
  // units on.
  std::vector<std::byte> memory(32768);
  const auto put = [&](const std::vector<int>& m, int rows, int columns, int start) {
    for (int r = 0; r < rows; ++r) {
      for (int e = 0; e < columns; ++e) {
        const int bit = e * c.kind.bits, byte = bit / 8;
        const std::uint32_t v = bits_of(c.kind, m[static_cast<std::size_t>(r * columns + e)])
                                << (bit % 8);
        const int at = start + r / 8 * 128 + r % 8 * 16 + byte / 16 * 16 * rows + byte % 16;
        for (int i = 0; i < (c.kind.bits + 7) / 8; ++i)
          memory[static_cast<std::size_t>(at + i)] |= static_cast<std::byte>(v >> (8 * i));
      }
    }
  };
  constexpr int kStartB = 8192;
  const int rows_of_b = (c.n + shift + 7) / 8 * 8;
  b.resize(static_cast<std::size_t>(rows_of_b * k));
  if (!c.a_in_tensor_memory) put(a, c.m, stored, 0);
  put(b, rows_of_b, k, kStartB);
  // Tensor Memory: the lane of a row, in each of the adjacent parts.
  const bool spread = c.m == 64 && !c.stationary;
  const auto lane_of = [&](int row) { return c.lane + (spread ? row / 16 * 32 + row % 16 : row); };
  const int parts = spread ? 1 : kLanes / c.m;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(kLanes) * 16);
  const auto word = [&](int lane, int column) -> std::uint32_t& {
    return words[static_cast<std::size_t>(lane * 16 + column)];
  };
  for (int p = 0; p < parts; ++p) {
    for (int r = 0; r < c.m; ++r) {
      for (int e = 0; e < stored; ++e) {
        const int bit = e * c.kind.bits;
        word(p * c.m + lane_of(r), bit / 32) |=
            bits_of(c.kind, a[static_cast<std::size_t>(r * stored + e)]) << (bit % 32);
      }
      for (int g = 0; g < groups && c.sparse; ++g) {
        const auto nibble =
            static_cast<std::uint32_t>(nibbles[static_cast<std::size_t>(r * groups + g)]);
        if (c.kind.bits <= 8) {
          word(p * c.m + lane_of(r), 8 + g / 8) |= nibble << (4 * (g % 8));
        } else {  // blocks of 16 rows: lanes by row mod 8 and half of K, halves by row
          const int row = r / 16 * 16 + g / 4 * 8 + r % 8;
          word(p * c.m + lane_of(row), 8 + c.selector) |= nibble << (r / 8 % 2 * 16 + g % 4 * 4);
        }
      }
    }
  }
  const std::string name = c.kind.name;
  const bool scaled = name.starts_with("mx");
  std::vector<std::uint32_t> input(8192 + words.size());
  std::memcpy(input.data(), memory.data(), memory.size());
  std::copy(words.begin(), words.end(), input.begin() + 8192);
  std::string body = "mad.wide.u32 d1, tid, 256, in0;\nmad.lo.u32 x1, tid, 256, smem;\n";
  for (int i = 0; i < 256; i += 16)
    body += "ld.global.v4.b32 {r0, r1, r2, r3}, [d1+" + std::to_string(i) +
            "];\nst.shared.v4.b32 [x1+" + std::to_string(i) + "], {r0, r1, r2, r3};\n";
  body += "mad.wide.u32 d1, tid, 64, in0;\n";
  constexpr int kColumnA = 300, kColumnD = 16, kScales = 340;
  for (int i = 0; i < 16; ++i)
    body += "ld.global.b32 r0, [d1+" + std::to_string(32768 + 4 * i) + "];\nadd.u32 x2, tm, " +
            std::to_string(kColumnA + i) + ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [x2], {r0};\n";
  // Scales of 1.
  body += "mov.b32 r0, 0x7f7f7f7f;\n";
  for (int i = 0; i < 8 && scaled; ++i)
    body += "add.u32 x2, tm, " + std::to_string(kScales + i) +
            ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [x2], {r0};\n";
  body += "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\n";
  body += "fence.proxy.async;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n";
  body += testing::descriptor("d2", 0, 16 * c.m, 128);
  body += testing::descriptor("d3", kStartB, 16 * rows_of_b, 128);
  const std::uint32_t instruction =
      static_cast<std::uint32_t>((scaled ? 1 << 23 : c.kind.result << 4) | (c.sparse ? 4 : 0) |
                                 c.selector | c.kind.code << 7 | c.kind.code << 10 | c.n / 8 << 17 |
                                 c.m / 16 << 24) |
      static_cast<std::uint32_t>(c.farthest) << 30;
  const auto address = [&](const char* to, int column) {
    return std::string("add.u32 ") + to + ", all, " + std::to_string(c.lane << 16 | column) + ";\n";
  };
  body += address("x5", kColumnD) + address("x6", kColumnA) + address("x8", kColumnA + 8);
  body += "add.u32 x9, all, " + std::to_string(kScales) + ";\nmov.b32 x7, " +
          std::to_string(instruction) + ";\nmov.b64 d4, " + std::to_string(c.mask) +
          ";\nsetp.ne.u32 p2, tid, tid;\n";
  body += std::string("@p0 tcgen05.mma") + (c.stationary ? ".ws" : "") + (c.sparse ? ".sp" : "") +
          ".cta_group::1.kind::" + name + (c.shifted ? ".ashift" : "") + " [x5], " +
          (c.a_in_tensor_memory ? "[x6]" : "d2") + ", d3, " + (c.sparse ? "[x8], " : "") + "x7, " +
          (scaled ? "[x9], [x9], " : "") + "p2" + (c.mask != 0 ? ", d4" : "") + ";\n";
  body += testing::commit_and_wait();
  const int columns = c.n / parts;
  for (int n = 0; n < columns; n += 16) {
    body += "add.u32 x2, tm, " + std::to_string(kColumnD + n) +
            ";\ntcgen05.ld.sync.aligned.32x32b.x16.b32 {r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, "
            "r10, r11, r12, r13, r14, r15}, [x2];\ntcgen05.wait::ld.sync.aligned;\n";
    if (spread)
      body += "and.b32 x3, tid, 16;\nsetp.eq.u32 p3, x3, " + std::to_string(c.lane) + ";\n";
    for (int r = 0; r < 16; ++r)
      body += std::string(spread ? "@p3 " : "") + "st.global.b32 [mine+" +
              std::to_string(4 * (n + r)) + "], r" + std::to_string(r) + ";\n";
  }
  Machine gpu;
  gpu.config.compute_capability = 100;
  gpu.config.schedule_seed = seed % 3;
  gpu.load_text(tensor_kernel(body));
  const auto in = gpu.buffer(input, "in");
  const auto out = gpu.buffer(std::vector<std::uint32_t>(kLanes * kColumns), "out");
  const Outcome o = gpu.launch("k", 1, kLanes, in, out);
  EXPECT_TRUE(o.findings.empty()) << name << text(o);
  const auto got = gpu.fetch<std::uint32_t>(out, kLanes * kColumns);
  for (int r = 0; r < c.m; ++r) {
    const int of_a = c.shifted && r % 32 != 31 ? r + 1 : r;
    for (int n = 0; n < c.n; ++n) {
      int sum = 0;
      const bool zero = !c.zero.empty() && c.zero[static_cast<std::size_t>(n)];
      for (int e = 0; e < stored && !zero; ++e) {
        const auto at = static_cast<std::size_t>(of_a * stored + e);
        // A shift of A does not move the metadata.
        const auto kept = static_cast<std::size_t>(r * stored + e);
        sum += a[at] * b[static_cast<std::size_t>((n + shift) * k + (c.sparse ? from[kept] : e))];
      }
      const int lane = n / columns * c.m + lane_of(r);
      const std::uint32_t word = got[static_cast<std::size_t>(lane * kColumns + n % columns)];
      const int is = c.kind.result == 2 ? static_cast<int>(word)
                                        : static_cast<int>(std::bit_cast<float>(word));
      if (is != sum) {
        ADD_FAILURE() << name << " " << c.m << " by " << c.n << ": row " << r << " column " << n
                      << " is " << is << ", wanted " << sum;
        return 0;
      }
    }
  }
  return static_cast<std::size_t>(c.m * c.n);
}

JUDGES(TensorSparse, HalfOfA,
       "tcgen05.mma.sp.cta_group::1.kind::f16 [tm], a:b64, b:b64, [tm], e:b32{, c*4:b32}, {!}f",
       "tcgen05.mma.sp.cta_group::1.kind::f16 [tm], [tm], b:b64, [tm], e:b32{, c*4:b32}, {!}f",
       "tcgen05.mma.sp.cta_group::1.kind::i8 [tm], a:b64, b:b64, [tm], e:b32{, c*4:b32}, {!}f",
       "tcgen05.mma.sp.cta_group::1.kind::i8 [tm], [tm], b:b64, [tm], e:b32{, c*4:b32}, {!}f");
TEST(TensorSparse, HalfOfA) {
  testing::Elements elements("sparse, one block");
  std::uint64_t seed = 1;
  for (const Kind& kind : {kF16, kTF32, kE4M3, kS8}) {
    while (elements.want(kind.name)) {
      for (const bool in_tensor_memory : {false, true}) {
        const auto compare = [&](const Case& c) {
          const std::size_t count = run(c, seed++);
          EXPECT_EQ(count, static_cast<std::size_t>(c.m) * static_cast<std::size_t>(c.n));
          elements.add(kind.name, count);
        };
        compare({kind, 128, 64, true, false, in_tensor_memory});
        compare({kind, 64, 48, true, false, in_tensor_memory, false, 16});
        compare({kind, 64, 16, true, false, in_tensor_memory, false, 0});
        if (kind.bits < 16) continue;
        for (const int m : {64, 128}) {
          Case c{kind, m, 16, true, false, in_tensor_memory};
          c.selector = 1;
          compare(c);
        }
      }
    }
  }
}

JUDGES(TensorSparse, WithScales,
       "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale [tm], a:b64, b:b64, [tm], e:b32, "
       "[tm], [tm], {!}f",
       "tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale [tm], a:b64, b:b64, [tm], e:b32, [tm], "
       "[tm], {!}f");
TEST(TensorSparse, WithScales) {
  EXPECT_EQ(run({kMxE4M3, 128, 64, true}, 1), 128u * 64);
  EXPECT_EQ(run({kMxE4M3, 128, 64, true, false, true}, 2), 128u * 64);
  EXPECT_EQ(run({kMxE2M1, 128, 64, true}, 3), 128u * 64);
  EXPECT_EQ(run({kMxE2M1, 128, 64, true, false, true}, 4), 128u * 64);
}

JUDGES(TensorSparse, OfStationaryWeights,
       "tcgen05.mma.ws.sp.cta_group::1.kind::f16 [tm], a:b64, b:b64, [tm], e:b32, {!}f{, g:b64}",
       "tcgen05.mma.ws.sp.cta_group::1.kind::f16 [tm], [tm], b:b64, [tm], e:b32, {!}f{, g:b64}",
       "tcgen05.mma.ws.sp.cta_group::1.kind::i8 [tm], a:b64, b:b64, [tm], e:b32, {!}f{, g:b64}",
       "tcgen05.mma.ws.sp.cta_group::1.kind::i8 [tm], [tm], b:b64, [tm], e:b32, {!}f{, g:b64}");
TEST(TensorSparse, OfStationaryWeights) {
  testing::Elements elements(".ws.sp");
  std::uint64_t seed = 1;
  for (const Kind& kind : {kF16, kTF32, kE4M3, kS8}) {
    while (elements.want(kind.name)) {
      for (const int m : {32, 64, 128}) {
        for (const bool in_tensor_memory : {false, true}) {
          const std::size_t count = run({kind, m, 64, true, true, in_tensor_memory}, seed++);
          EXPECT_EQ(count, static_cast<std::size_t>(m) * 64);
          elements.add(kind.name, count);
        }
      }
    }
  }
}

// The masks of the manual's examples, and the zero columns that they mean, from the first on.
std::uint64_t mask_of(std::vector<int> starts, std::vector<int> zeros_first, int skip, int use,
                      int shift) {
  std::uint64_t m = 1ull << 39 | static_cast<std::uint64_t>(skip) << 40 |
                    static_cast<std::uint64_t>(use) << 48 | static_cast<std::uint64_t>(shift) << 56;
  for (std::size_t i = 0; i < starts.size(); ++i)
    m |= static_cast<std::uint64_t>(starts[i]) << (8 * i) |
         static_cast<std::uint64_t>(zeros_first[i]) << (32 + i);
  return m;
}
std::vector<bool> columns(const std::vector<std::string>& begins, int each) {
  std::vector<bool> all;
  for (const std::string& begin : begins) {
    for (int c = 0; c < each; ++c) {
      const int length = static_cast<int>(begin.size());
      // The initial pattern of a part continues with a period of seven columns.
      const int at = c < length ? c : (c - length) % 7 + length - 7;
      all.push_back(begin[static_cast<std::size_t>(at)] == '1');
    }
  }
  return all;
}

JUDGES(TensorSparse, ColumnsThatCountAsZero,
       "tcgen05.mma.ws.cta_group::1.kind::f16 [tm], a:b64, b:b64, e:b32, {!}f{, g:b64}");
TEST(TensorSparse, ColumnsThatCountAsZero) {
  Case c{kF16, 128, 64, false, true};
  c.mask = mask_of({0}, {0}, 2, 3, 0);
  c.zero = columns({"0000111"}, 64);
  EXPECT_EQ(run(c, 1), 128u * 64);
  c = {kF16, 64, 64, false, true};
  c.mask = mask_of({0, 0}, {1, 0}, 2, 3, 0);
  c.zero = columns({"1110000", "0000111"}, 32);
  EXPECT_EQ(run(c, 2), 64u * 64);
  c = {kF16, 32, 128, false, true};
  c.mask = mask_of({0, 1, 2, 1}, {1, 1, 0, 0}, 2, 3, 2);
  c.farthest = 1;
  c.zero = columns({"1110000", "1100001110000", "001110000111", "0001110000111"}, 32);
  EXPECT_EQ(run(c, 3), 32u * 128);
  // Sparse and only shifted.
  c = {kTF32, 128, 64, true, true};
  c.mask = 8ull << 56;
  c.farthest = 2;
  EXPECT_EQ(run(c, 4), 128u * 64);
}

JUDGES(
    TensorSparse, RowsOneFurther,
    "tcgen05.mma.cta_group::1.kind::f16.ashift [tm], [tm], b:b64, e:b32{, c*4:b32}, {!}f",
    "tcgen05.mma.cta_group::1.kind::i8.ashift [tm], [tm], b:b64, e:b32{, c*4:b32}, {!}f",
    "tcgen05.mma.sp.cta_group::1.kind::f16.ashift [tm], [tm], b:b64, [tm], e:b32{, c*4:b32}, {!}f");
TEST(TensorSparse, RowsOneFurther) {
  std::uint64_t seed = 1;
  for (const Kind& kind : {kF16, kTF32, kE4M3, kS8}) {
    for (const bool sparse : {false, true})
      EXPECT_EQ(run({kind, 128, 64, sparse, false, true, true}, seed++), 128u * 64);
  }
}

JUDGES(TensorSparse, Shift, "tcgen05.shift.cta_group::1.down");
TEST(TensorSparse, Shift) {
  for (const int first : {0, 32, 96}) {
    for (const std::uint64_t schedule : {0, 1, 2}) {
      std::string body;
      for (int c = 0; c < 10; ++c)
        body += "mad.lo.u32 r0, tid, 100, " + std::to_string(c) + ";\nadd.u32 x2, tm, " +
                std::to_string(c) + ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [x2], {r0};\n";
      body += "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n";
      body += "tcgen05.fence::after_thread_sync;\nadd.u32 x5, all, " +
              std::to_string(first << 16 | 1) + ";\n@p0 tcgen05.shift.cta_group::1.down [x5];\n" +
              testing::commit_and_wait();
      for (int c = 0; c < 10; ++c)
        body += "add.u32 x2, tm, " + std::to_string(c) +
                ";\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [x2];\n"
                "tcgen05.wait::ld.sync.aligned;\nst.global.b32 [mine+" +
                std::to_string(4 * c) + "], r0;\n";
      Machine gpu;
      gpu.config.compute_capability = 100;
      gpu.config.schedule_seed = schedule;
      gpu.load_text(tensor_kernel(body));
      const auto in = gpu.buffer(std::vector<std::uint32_t>(4), "in");
      const auto out = gpu.buffer(std::vector<std::uint32_t>(kLanes * kColumns), "out");
      const Outcome o = gpu.launch("k", 1, kLanes, in, out);
      ASSERT_TRUE(o.findings.empty()) << text(o);
      const auto got = gpu.fetch<std::uint32_t>(out, kLanes * kColumns);
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int c = 0; c < 10; ++c) {
          const bool moves = lane >= first && lane % 32 != 31 && c >= 1 && c < 9;
          ASSERT_EQ(got[static_cast<std::size_t>(lane * kColumns + c)],
                    static_cast<std::uint32_t>((lane + (moves ? 1 : 0)) * 100 + c));
        }
      }
    }
  }
}

}  // namespace tensor_sparse_test
}  // namespace lockstep::engine
