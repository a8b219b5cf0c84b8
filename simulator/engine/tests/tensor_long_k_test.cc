// tcgen05.mma of sm_103 with K = 96, and rows of factors that continue at another place of shared
// memory, compared with a model that computes element by element. All sums are exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "simulator/engine/tests/random.h"
#include "simulator/engine/tests/tensor_layout_kernel.h"

namespace lockstep::engine {
namespace tensor_long_k_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::Random;
using testing::TensorBlock;
using testing::TensorProductKernel;
using testing::text;
using testing::two_to_the;

constexpr int kK = 96, kLine = 128;

struct Case {
  std::string kind;
  int m, n;
  int scales = 3;  // scales of a row
  bool ue4m3 = false, paired = false, a_in_tensor_memory = false, accumulates = false;
  int row_byte = 0, column_byte = 0;  // byte of the first scale of a row, of a column
  int begins = -1;  // 16-byte unit of a 128-byte line at which rows start; -1: no swizzle
  int blocks() const { return paired ? 2 : 1; }
  int a_rows() const { return m / blocks(); }
  int b_rows() const { return n / blocks(); }
};

double value_of(int bits) {
  constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (bits & 8) != 0 ? -kValues[bits & 7] : kValues[bits & 7];
}

// The place of byte `byte` of row `row` in a matrix that starts at byte `start`. A row may start
// within a line of 128 bytes; it then continues in the line `rows` lines later.
int place(const Case& c, int start, int rows, int row, int byte) {
  const int unit = byte / 16;
  if (c.begins < 0) return start + row / 8 * 128 + row % 8 * 16 + unit * 16 * rows + byte % 16;
  const int of_line = (c.begins + unit) % 8, line = row + (c.begins + unit >= 8 ? rows : 0);
  return start + line * kLine + (of_line ^ line % 8) * 16 + byte % 16;
}

std::string describe(const Case& c, const char* name, int start, int rows) {
  if (c.begins < 0) return testing::descriptor(name, start, 16 * rows, 128);
  return testing::absolute_descriptor(name, start + 16 * c.begins, start + rows * kLine, 8 * kLine);
}

std::size_t run(const Case& c, std::uint64_t seed) {
  Random random(seed);
  const auto m = static_cast<std::size_t>(c.m), n = static_cast<std::size_t>(c.n),
             lines = static_cast<std::size_t>(c.scales);
  const auto draw = [&](std::size_t count, int below) {
    std::vector<int> all(count);
    for (int& v : all) v = static_cast<int>(random.between(0, below - 1));
    return all;
  };
  const auto a = draw(m * kK, 16), b = draw(n * kK, 16);
  // Scales of 2^-2 to 2^2; for ue4m3, 1 to 1.875 times 2^-1 to 2^1.
  auto rows = draw(m * lines, c.ue4m3 ? 24 : 5), columns = draw(n * lines, c.ue4m3 ? 24 : 5);
  for (auto* scales : {&rows, &columns}) {
    for (int& v : *scales) v += c.ue4m3 ? 0x30 : 125;
  }
  std::vector<TensorBlock> blocks(static_cast<std::size_t>(c.blocks()));
  const auto put = [&](TensorBlock& to, int start, int count, int row, int e, int bits) {
    to.shared[static_cast<std::size_t>(place(c, start, count, row, e / 2))] |=
        static_cast<std::uint8_t>(bits << e % 2 * 4);
  };
  // A scale that does not fit its word is in the word four columns further, or eight for more than
  // 128 rows.
  const auto put_scale = [](std::vector<std::uint32_t>& words, int columns_of_all, int lane,
                            int of_32, int count, int byte, int bits) {
    const int word = of_32 + byte / 4 * (count > 128 ? 8 : 4);
    words[static_cast<std::size_t>(lane * columns_of_all + word)] |=
        static_cast<std::uint32_t>(bits) << byte % 4 * 8;
  };
  for (int row = 0; row < c.m; ++row) {
    TensorBlock& to = blocks[static_cast<std::size_t>(row / c.a_rows())];
    const int mine = row % c.a_rows();
    for (int e = 0; e < kK; ++e) {
      const int bits = a[static_cast<std::size_t>(row * kK + e)];
      if (!c.a_in_tensor_memory) put(to, 0, c.a_rows(), mine, e, bits);
      for (int lane = mine; lane < 128; lane += c.a_rows())
        to.a[static_cast<std::size_t>(lane * TensorBlock::kOfA + e / 8)] |=
            static_cast<std::uint32_t>(bits) << e % 8 * 4;
    }
    for (int s = 0; s < c.scales; ++s) {
      for (int lane = mine % 32; lane < 128; lane += 32)
        put_scale(to.rows, TensorBlock::kOfRows, lane, mine / 32, c.a_rows(), c.row_byte + s,
                  rows[static_cast<std::size_t>(row * c.scales + s)]);
    }
  }
  const int parts = c.paired && c.m == 128 ? 2 : 1, columns_of_part = c.n / parts;
  for (int column = 0; column < c.n; ++column) {
    for (int e = 0; e < kK; ++e)
      put(blocks[static_cast<std::size_t>(column / c.b_rows())], TensorBlock::kSharedB, c.b_rows(),
          column % c.b_rows(), e, b[static_cast<std::size_t>(column * kK + e)]);
    const int part = column / columns_of_part, of_part = column % columns_of_part;
    for (TensorBlock& to : blocks) {
      for (int s = 0; s < c.scales; ++s) {
        for (int lane = 128 / parts * part; lane < 128 / parts * (part + 1); lane += 32)
          put_scale(to.columns, TensorBlock::kOfColumns, lane + of_part % 32, of_part / 32,
                    columns_of_part, c.column_byte + s,
                    columns[static_cast<std::size_t>(column * c.scales + s)]);
      }
    }
  }
  TensorProductKernel kernel;
  kernel.instruction = "tcgen05.mma.cta_group::1.kind::" + c.kind;
  kernel.paired = c.paired;
  kernel.a_in_tensor_memory = c.a_in_tensor_memory;
  kernel.scaled = true;
  kernel.accumulates = c.accumulates;
  kernel.target = "sm_103a";
  kernel.descriptor = 1u << 31 | (c.ue4m3 ? 0 : 1u << 23) | 1u << 7 | 1u << 10 |
                      static_cast<unsigned>(c.row_byte) << 29 |
                      static_cast<unsigned>(c.column_byte) << 4 |
                      static_cast<unsigned>(c.n / 8) << 17 | static_cast<unsigned>(c.m / 16) << 24;
  kernel.describe_a = describe(c, "d2", 0, c.a_rows());
  kernel.describe_b = describe(c, "d3", TensorBlock::kSharedB, c.b_rows());
  kernel.columns = columns_of_part;
  Machine gpu;
  gpu.config.schedule_seed = seed % 3;
  std::vector<std::uint32_t> out;
  const Outcome o = kernel.run(gpu, blocks, out);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  const auto scale = [&](int bits) {
    return c.ue4m3 ? (8 + (bits & 7)) * two_to_the((bits >> 3) - 7 - 3) : two_to_the(bits - 127);
  };
  for (int row = 0; row < c.m; ++row) {
    for (int column = 0; column < c.n; ++column) {
      const int lane = row % c.a_rows() + column / columns_of_part * 64,
                at = column % columns_of_part;
      double sum = c.accumulates ? lane + at : 0;
      for (int e = 0; e < kK; ++e) {
        const int s = e * c.scales / kK;
        sum += value_of(a[static_cast<std::size_t>(row * kK + e)]) *
               value_of(b[static_cast<std::size_t>(column * kK + e)]) *
               scale(rows[static_cast<std::size_t>(row * c.scales + s)]) *
               scale(columns[static_cast<std::size_t>(column * c.scales + s)]);
      }
      const double is = std::bit_cast<float>(
          out[static_cast<std::size_t>((row / c.a_rows() * 128 + lane) * 512 + at)]);
      if (is != sum) {
        ADD_FAILURE() << c.kind << ", " << c.m << " by " << c.n << ": row " << row << " column "
                      << column << " is " << is << ", wanted " << sum;
        return 0;
      }
    }
  }
  return m * n;
}

struct Words {
  const char* words;
  int scales;
  bool ue4m3;
};
constexpr Words kKinds[] = {{"mxf4.block_scale", 3, false},
                            {"mxf4nvf4.block_scale.block32", 3, false},
                            {"mxf4nvf4.block_scale.block16", 6, false},
                            {"mxf4nvf4.block_scale.block16", 6, true}};

TEST(TensorLongK, EveryKindAndPlaceOfScales) {
  testing::Elements elements("K = 96");
  std::uint64_t seed = 1;
  for (const Words& w : kKinds) {
    const std::string name = w.words + std::string(w.ue4m3 ? " of ue4m3" : "");
    while (elements.want(name)) {
      for (const int byte : {0, 1, 2, 3}) {
        if (w.scales == 6 && byte % 2 != 0) continue;
        Case c{w.words, 128, byte == 0 ? 256 : byte == 1 ? 192 : 16, w.scales, w.ue4m3};
        c.row_byte = byte;
        c.column_byte = w.scales == 6 ? 2 - byte : 3 - byte;
        c.a_in_tensor_memory = byte == 3;
        c.accumulates = byte == 2;
        const std::size_t count = run(c, seed++);
        EXPECT_EQ(count, static_cast<std::size_t>(c.m * c.n));
        elements.add(name, count);
      }
    }
  }
}

TEST(TensorLongK, APairOfBlocks) {
  std::uint64_t seed = 100;
  for (const Words& w : kKinds) {
    for (const int m : {128, 256}) {
      for (const bool a_in_tensor_memory : {false, true}) {
        Case c{w.words, m, 64, w.scales, w.ue4m3, true, a_in_tensor_memory, true};
        c.row_byte = 2;
        EXPECT_EQ(run(c, seed++), static_cast<std::size_t>(c.m * c.n));
      }
    }
  }
}

// Rows that start at each of the eight units of a line, as in CUTLASS with 768 elements.
TEST(TensorLongK, RowsThatGoOnElsewhere) {
  std::uint64_t seed = 200;
  for (int begins = 0; begins < 8; ++begins) {
    for (const bool paired : {false, true}) {
      Case c{kKinds[begins % 2].words, 64 * 2, 16, 3, false, paired};
      c.begins = begins;
      if (!paired) c.a_in_tensor_memory = true;  // 128 rows of 128 bytes do not fit twice
      EXPECT_EQ(run(c, seed++), static_cast<std::size_t>(c.m * c.n)) << begins;
    }
  }
}

// Forms that the target or the layout does not have.
TEST(TensorLongK, Refused) {
  const std::uint32_t plain = 1u << 23 | 1u << 7 | 1u << 10 | 16u / 8 << 17 | 128u / 16 << 24;
  const auto finding = [&](const std::string& instruction, const std::string& target,
                           std::uint32_t descriptor, const std::string& b) {
    TensorProductKernel kernel;
    kernel.instruction = "tcgen05.mma.cta_group::1.kind::" + instruction;
    kernel.scaled = instruction[0] == 'm';
    kernel.sparse = false;
    kernel.target = target;
    kernel.descriptor = descriptor;
    kernel.a_rows = 128;
    kernel.b_rows = 16;
    kernel.describe_b = b;
    kernel.columns = 16;
    Machine gpu;
    std::vector<std::uint32_t> out;
    const Outcome o = kernel.run(gpu, {TensorBlock()}, out);
    if (o.findings.empty()) return std::string("none");
    EXPECT_EQ(o.findings[0].kind, Kind::kInvalidInstruction);
    return o.findings[0].where;
  };
  const std::string absolute =
      testing::absolute_descriptor("d3", TensorBlock::kSharedB, TensorBlock::kSharedB + 2048, 1024);
  const auto layout = [](int code) {
    return testing::descriptor("d3", TensorBlock::kSharedB, 512, 1024, code);
  };
  EXPECT_THAT(finding("mxf4.block_scale", "sm_100a", plain | 1u << 31, ""),
              HasSubstr("K = 96, which is of sm_103 alone"));
  EXPECT_THAT(
      finding("mxf8f6f4.block_scale", "sm_103a", (plain & ~(1u << 7 | 1u << 10)) | 1u << 31, ""),
      HasSubstr("a K that this kind does not have"));
  EXPECT_THAT(finding("mxf4nvf4.block_scale.block16", "sm_103a", plain | 1u << 31 | 1u << 29, ""),
              HasSubstr("names bytes of scales where 6 cannot begin"));
  EXPECT_THAT(finding("mxf4.block_scale", "sm_100a", plain, absolute),
              HasSubstr("absolute leading dimension, which is of sm_103 alone"));
  EXPECT_EQ(finding("mxf4.block_scale", "sm_103a", plain, absolute), "none");
  const std::uint32_t across = 1u << 4 | 1u << 16 | 64u / 8 << 17 | 128u / 16 << 24;
  EXPECT_THAT(finding("f16", "sm_103a", across, absolute), HasSubstr("is of matrices along K"));
  EXPECT_THAT(finding("f16", "sm_100a", across & ~(1u << 16), layout(1)),
              HasSubstr("swizzles units of 32 bytes"));
  EXPECT_EQ(finding("f16", "sm_100a", across, layout(1)), "none");
}

}  // namespace tensor_long_k_test
}  // namespace lockstep::engine
