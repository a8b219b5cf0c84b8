// ldmatrix and stmatrix with elements of 8, 6 and 4 bits, compared with byte-by-byte models.
//
// The model of a 16 x 16 matrix is the layout of factor B of mma.m16n8k32: two of its registers
// form B once their halves are exchanged.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace matrix_bytes_test {

using testing::Machine;
using testing::text;

// A kernel of one warp. Lane l holds row l of `in`, 16 bytes, and stores it to row (l ^ 5) of
// shared memory. After the body every lane stores r0 to r3 to its 16 bytes of `out`. s0 is the
// address of the row with the lane's number.
std::string kernel(const std::string& body) {
  return R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b32 r<8>; .reg .b32 tid, s<4>; .reg .b64 d<4>; .reg .pred p<2>;
.shared .align 128 .b8 tile[512];
mov.u32 tid, %tid.x;
ld.param.u64 d0, [in];
ld.param.u64 d1, [out];
mad.wide.u32 d0, tid, 16, d0;
mad.wide.u32 d1, tid, 16, d1;
mov.u32 s1, tile;
mad.lo.u32 s0, tid, 16, s1;
ld.global.v4.b32 {r0, r1, r2, r3}, [d0];
)" + body +
         "st.global.v4.b32 [d1], {r0, r1, r2, r3};\nret;\n}\n";
}

std::vector<std::uint8_t> random_bytes(std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(512);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(next_mixed(seed));
  return bytes;
}

std::vector<std::uint8_t> run(const std::string& body, const std::vector<std::uint8_t>& in) {
  Machine gpu;
  gpu.config.compute_capability = 100;
  gpu.load_text(kernel(body));
  const auto from = gpu.buffer(in, "in");
  const auto to = gpu.buffer(std::vector<std::uint8_t>(512), "out");
  const Outcome o = gpu.launch("k", 1, 32, from, to);
  EXPECT_TRUE(o.findings.empty()) << text(o);
  return gpu.fetch<std::uint8_t>(to, 512);
}

// Element e of a row of 16: a byte, or 4 or 6 bits packed from the row's start.
std::uint8_t element(const std::uint8_t* row, int e, int bits) {
  if (bits == 8) return row[e];
  unsigned v = 0;
  for (int b = 0; b < bits; ++b) {
    const int at = e * bits + b;
    v |= static_cast<unsigned>(row[at / 8] >> (at % 8) & 1) << b;
  }
  return static_cast<std::uint8_t>(v);
}

struct Format {
  const char* word;
  int bits;
};
constexpr Format kFormats[] = {{".b8", 8}, {".b8x16.b6x16_p32", 6}, {".b8x16.b4x16_p64", 4}};

JUDGES(MatrixBytes, SixteenRowsAcross, "ldmatrix.sync.aligned.m16n16.x1.trans.b8",
       "ldmatrix.sync.aligned.m16n16.x2.trans.b8",
       "ldmatrix.sync.aligned.m16n16.x1.trans.b8x16.b6x16_p32",
       "ldmatrix.sync.aligned.m16n16.x2.trans.b8x16.b6x16_p32");
TEST(MatrixBytes, SixteenRowsAcross) {
  int compared = 0;
  for (const Format& f : kFormats) {
    for (const int matrices : {1, 2}) {
      for (const bool generic : {false, true}) {
        const auto in = random_bytes(static_cast<std::uint64_t>(f.bits + matrices));
        const std::string registers = matrices == 1 ? "{r0, r1}" : "{r0, r1, r2, r3}";
        const auto out =
            run("st.shared.v4.b32 [s0], {r0, r1, r2, r3};\nbar.warp.sync 0xffffffff;\n"
                "cvt.u64.u32 d2, s0;\ncvta.shared.u64 d2, d2;\n"
                "ldmatrix.sync.aligned.m16n16.x" +
                    std::to_string(matrices) + ".trans" + (generic ? "" : ".shared") + f.word +
                    " " + registers + (generic ? ", [d2];\n" : ", [s0];\n"),
                in);
        for (int lane = 0; lane < 32; ++lane) {
          for (int m = 0; m < matrices; ++m) {
            // The rows hold columns of B; the row number is k. For columns 0 to 7, byte i of a
            // lane's register has k = 4 * (lane % 4) + i and n = lane / 4.
            for (int half = 0; half < 2; ++half) {
              for (int i = 0; i < 4; ++i) {
                const int k = 4 * (lane % 4) + i, n = lane / 4 + 8 * half;
                // Bytes 0 and 1 of each half are in the first register, 2 and 3 in the second.
                const int at = 16 * lane + 8 * m + 4 * (i / 2) + 2 * half + i % 2;
                ASSERT_EQ(out[static_cast<std::size_t>(at)],
                          element(in.data() + 16 * (16 * m + k), n, f.bits))
                    << f.word << " lane " << lane << " k " << k << " n " << n;
                ++compared;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 3 * 2 * (1 + 2) * 32 * 8);
}

JUDGES(MatrixBytes, EightRows, "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32",
       "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32");
TEST(MatrixBytes, EightRows) {
  int compared = 0;
  for (const Format& f : kFormats) {
    if (f.bits == 8) continue;
    for (const int matrices : {1, 2, 4}) {
      const auto in = random_bytes(static_cast<std::uint64_t>(f.bits + matrices));
      std::string registers = "{r0";
      for (int m = 1; m < matrices; ++m) registers += ", r" + std::to_string(m);
      const auto out =
          run("st.shared.v4.b32 [s0], {r0, r1, r2, r3};\nbar.warp.sync 0xffffffff;\n"
              "ldmatrix.sync.aligned.m8n16.x" +
                  std::to_string(matrices) + ".shared" + f.word + " " + registers + "}, [s0];\n",
              in);
      for (int lane = 0; lane < 32; ++lane) {
        for (int byte = 0; byte < 4 * matrices; ++byte) {
          const int row = 8 * (byte / 4) + lane / 4;
          ASSERT_EQ(out[static_cast<std::size_t>(16 * lane + byte)],
                    element(in.data() + 16 * row, 4 * (lane % 4) + byte % 4, f.bits));
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 2 * 32 * 4 * 7);
}

JUDGES(MatrixBytes, StoresAcross, "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8",
       "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8");
TEST(MatrixBytes, StoresAcross) {
  for (const int matrices : {1, 2, 4}) {
    const auto in = random_bytes(static_cast<std::uint64_t>(matrices));
    std::string registers = "{r0";
    for (int m = 1; m < matrices; ++m) registers += ", r" + std::to_string(m);
    const auto out =
        run("mov.b32 r4, 0;\nst.shared.v4.b32 [s0], {r4, r4, r4, r4};\nbar.warp.sync 0xffffffff;\n"
            "stmatrix.sync.aligned.m16n8.x" +
                std::to_string(matrices) + ".trans.shared.b8 [s0], " + registers +
                "};\nbar.warp.sync 0xffffffff;\nld.shared.v4.b32 {r0, r1, r2, r3}, [s0];\n",
            in);
    // A matrix of 16 rows and 8 columns: a row of memory is a column. A lane holds rows lane / 4
    // and lane / 4 + 8 of columns 2 * (lane % 4) and the next.
    std::vector<std::uint8_t> expected(512);
    for (int m = 0; m < matrices; ++m) {
      for (int lane = 0; lane < 32; ++lane) {
        for (int byte = 0; byte < 4; ++byte) {
          const int row = lane / 4 + 8 * (byte / 2), column = 2 * (lane % 4) + byte % 2;
          expected[static_cast<std::size_t>(16 * (8 * m + column) + row)] =
              in[static_cast<std::size_t>(16 * lane + 4 * m + byte)];
        }
      }
    }
    EXPECT_EQ(out, expected) << matrices;
  }
}

// An element is unwritten if one of its bytes is: with six bits, element 1 spans bytes 0 and 1.
TEST(MatrixBytes, ElementsOfUnwrittenBytesAreUnwritten) {
  const auto found = [](const std::string& use) {
    Machine gpu;
    gpu.config.compute_capability = 100;
    gpu.load_text(
        kernel("mov.u32 r4, 7;\nst.shared.b8 [s0], r4;\nst.shared.b16 [s0+2], r4;\n"
               "st.shared.b32 [s0+4], r0;\nst.shared.b32 [s0+8], r1;\nbar.warp.sync 0xffffffff;\n"
               "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {r0}, [s0];\n" +
               use));
    const auto from = gpu.buffer(random_bytes(1), "in");
    const auto to = gpu.buffer(std::vector<std::uint8_t>(512), "out");
    const Outcome o = gpu.launch("k", 1, 32, from, to);
    return o.findings.size();
  };
  // Element 3 is in byte 2 only; elements 1 and 2 use byte 1. Memory tracks bytes.
  const auto byte = [](int n) {
    return "bar.warp.sync 0xffffffff;\nst.shared.b32 [s0], r0;\nld.shared.u8 r6, [s0+" +
           std::to_string(n) + "];\nsetp.eq.u32 p1, r6, 77;\n@p1 trap;\nmov.u32 r0, 0;\n";
  };
  EXPECT_EQ(found(byte(3)), 0u);
  EXPECT_EQ(found(byte(2)), 1u);
  EXPECT_EQ(found(byte(1)), 1u);
  EXPECT_EQ(found(byte(0)), 0u);
}

}  // namespace matrix_bytes_test
}  // namespace lockstep::engine
