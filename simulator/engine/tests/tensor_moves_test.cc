// tcgen05.ld.red, and tcgen05.cp with elements of four and six bits, by one block and by a pair,
// compared with word-by-word models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/engine/tests/tensor_kernels.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace tensor_moves_test {

using testing::Machine;
using testing::tensor_kernel;
using testing::text;

constexpr int kLanes = 128, kColumns = 512;

struct Reduction {
  std::string words;  // .min or .max, .abs, .NaN and the type
  bool has(const char* word) const { return words.find(word) != words.npos; }
};

bool is_nan(std::uint32_t v) { return std::isnan(std::bit_cast<float>(v)); }

// The minimum or maximum of `values`, computed by a sort as the manual defines it.
std::uint32_t reduced(const Reduction& r, std::vector<std::uint32_t> values) {
  if (r.has(".f32")) {
    if (r.has(".abs")) {
      for (auto& v : values) v &= 0x7fffffff;
    }
    const auto nan = std::stable_partition(values.begin(), values.end(),
                                           [](std::uint32_t v) { return !is_nan(v); });
    if (nan == values.begin() || (r.has(".NaN") && nan != values.end())) return 0x7fffffff;
    values.erase(nan, values.end());
    std::sort(values.begin(), values.end(), [](std::uint32_t x, std::uint32_t y) {
      const float a = std::bit_cast<float>(x), b = std::bit_cast<float>(y);
      return a != b ? a < b : std::signbit(a) && !std::signbit(b);
    });
  } else if (r.has(".s32")) {
    std::sort(values.begin(), values.end(), [](std::uint32_t x, std::uint32_t y) {
      return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
    });
  } else {
    std::sort(values.begin(), values.end());
  }
  return r.has(".min") ? values.front() : values.back();
}

JUDGES(TensorMoves, LoadsWithTheirLeastOrGreatest,
       "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 d*x1, d1:b32, [tm]",
       "tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 d*x1, d1:b32, [tm]",
       "tcgen05.ld.red.sync.aligned.16x32bx2.x2.min.u32 d*x1, d1:b32, [tm], imm16",
       "tcgen05.ld.red.sync.aligned.16x32bx2.x2.min.f32 d*x1, d1:b32, [tm], imm16");
TEST(TensorMoves, LoadsWithTheirLeastOrGreatest) {
  constexpr std::uint32_t kSpecial[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                        0xffc00001, 1,          0x80000001, 0x3f800000, 0xbf800000};
  std::size_t compared = 0;
  std::uint64_t state = 1;
  for (const char* operation : {".min", ".max"}) {
    for (const char* type : {".u32", ".s32", ".f32", ".abs.f32", ".NaN.f32", ".abs.NaN.f32"}) {
      const Reduction r{std::string(operation) + type};
      for (const int number : {2, 8, 64}) {
        for (const bool halves : {false, true}) {
          const int columns = halves ? 2 * number : number;
          std::vector<std::uint32_t> in(static_cast<std::size_t>(kLanes * columns));
          for (auto& v : in) {
            const std::uint64_t random = next_mixed(state);
            v = random % 4 == 0 ? kSpecial[random / 4 % 10]
                                : static_cast<std::uint32_t>(random >> 32);
          }
          std::string body = "mad.wide.u32 d1, tid, " + std::to_string(4 * columns) + ", in0;\n";
          for (int c = 0; c < columns; ++c)
            body += "ld.global.b32 r0, [d1+" + std::to_string(4 * c) + "];\nadd.u32 x2, tm, " +
                    std::to_string(5 + c) +
                    ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [x2], {r0};\n";
          body += "tcgen05.wait::st.sync.aligned;\n";
          std::string registers = "{r0";
          for (int i = 1; i < number; ++i) registers += ", r" + std::to_string(i);
          // With two halves: first the lower 16 lanes, then the upper.
          for (int low = 0; low < (halves ? 2 : 1); ++low) {
            body += "add.u32 x2, tm, " + std::to_string(5 + (low << 20)) +
                    ";\ntcgen05.ld.red.sync.aligned." + (halves ? "16x32bx2" : "32x32b") + ".x" +
                    std::to_string(number) + r.words + " " + registers + "}, x3, [x2]" +
                    (halves ? ", " + std::to_string(number) : std::string()) +
                    ";\ntcgen05.wait::ld.sync.aligned;\n";
            body += "st.global.b32 [mine+" + std::to_string(1024 * low) + "], x3;\n";
            for (int i = 0; i < number; ++i)
              body += "st.global.b32 [mine+" + std::to_string(1024 * low + 4 + 4 * i) + "], r" +
                      std::to_string(i) + ";\n";
          }
          Machine gpu;
          gpu.config.compute_capability = 103;
          gpu.load_text(tensor_kernel(body, "sm_103a"));
          const auto from = gpu.buffer(in, "in");
          const auto to = gpu.buffer(std::vector<std::uint32_t>(kLanes * kColumns), "out");
          const Outcome o = gpu.launch("k", 1, kLanes, from, to);
          ASSERT_TRUE(o.findings.empty()) << text(o);
          const auto out = gpu.fetch<std::uint32_t>(to, kLanes * kColumns);
          for (int thread = 0; thread < kLanes; ++thread) {
            for (int low = 0; low < (halves ? 2 : 1); ++low) {
              const int lane = halves ? thread / 32 * 32 + 16 * low + thread % 16 : thread;
              const int first = halves && thread % 32 >= 16 ? number : 0;
              std::vector<std::uint32_t> values;
              for (int i = 0; i < number; ++i)
                values.push_back(in[static_cast<std::size_t>(lane * columns + first + i)]);
              const auto at = static_cast<std::size_t>(thread * kColumns + 256 * low);
              ASSERT_EQ(out[at], reduced(r, values)) << r.words << " thread " << thread;
              for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(out[at + 1 + i], values[i]);
              ++compared;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 12u * 3 * 128 * 3);
}

struct Copy {
  const char* words;
  int rows, chunks;  // 16-byte chunks of a row
};

// The lanes that hold a row.
std::vector<int> lanes_of(const Copy& c, int row) {
  const std::string words = c.words;
  if (words == "4x256b") return {32 * row};
  if (words == "64x128b.warpx2::02_13") return {row, row + 64};
  if (words == "64x128b.warpx2::01_23")
    return row < 32 ? std::vector<int>{row, row + 32} : std::vector<int>{row + 32, row + 64};
  if (words == "32x128b.warpx4") return {row, row + 32, row + 64, row + 96};
  return {row};
}

JUDGES(TensorMoves, CopiesGiveNarrowElementsAByteEach,
       "tcgen05.cp.cta_group::1.128x256b.b8x16.b4x16_p64",
       "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13.b8x16.b4x16_p64",
       "tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b4x16_p64");
TEST(TensorMoves, CopiesGiveNarrowElementsAByteEach) {
  std::size_t compared = 0;
  std::uint64_t state = 2;
  for (const Copy& c : {Copy{"128x256b", 128, 2}, Copy{"4x256b", 4, 2}, Copy{"128x128b", 128, 1},
                        Copy{"64x128b.warpx2::02_13", 64, 1}, Copy{"64x128b.warpx2::01_23", 64, 1},
                        Copy{"32x128b.warpx4", 32, 1}}) {
    for (const int bits : {0, 4, 6}) {
      for (const bool paired : {false, true}) {
        const int blocks = paired ? 2 : 1, apart = 16 * std::max(c.rows, 8);
        std::vector<std::uint8_t> in(static_cast<std::size_t>(8192 * blocks));
        for (auto& v : in) v = static_cast<std::uint8_t>(next_mixed(state));
        std::string body =
            "mov.u32 x10, %cluster_ctarank;\nsetp.eq.and.u32 p4, x10, 0, p0;\n"
            "mul.wide.u32 d9, x10, 8192;\nadd.u64 d9, d9, in0;\n"
            "mad.wide.u32 d1, tid, 64, d9;\nmad.lo.u32 x1, tid, 64, smem;\n";
        for (int i = 0; i < 64; i += 16)
          body += "ld.global.v4.b32 {r0, r1, r2, r3}, [d1+" + std::to_string(i) +
                  "];\nst.shared.v4.b32 [x1+" + std::to_string(i) + "], {r0, r1, r2, r3};\n";
        const std::string barrier =
            paired ? "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
                   : "bar.sync 0;\n";
        body += "fence.proxy.async;\n" + barrier + testing::descriptor("d2", 0, apart, 128);
        body += "add.u32 x5, all, 9;\n@p4 tcgen05.cp.cta_group::1." + std::string(c.words) +
                (bits == 0   ? ""
                 : bits == 4 ? ".b8x16.b4x16_p64"
                             : ".b8x16.b6x16_p32") +
                " [x5], d2;\n";
        body += paired ? "mov.b16 h0, 3;\n@p4 tcgen05.commit.cta_group::1.mbarrier::arrive::one."
                         "shared::cluster.multicast::cluster.b64 [s1], h0;\n"
                       : "@p4 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
                         "b64 [s1];\n";
        body +=
            "$copied:\nmbarrier.try_wait.parity.shared.b64 p9, [s1], 0;\n@!p9 bra $copied;\n"
            "tcgen05.fence::after_thread_sync;\n";
        for (int i = 0; i < 4 * c.chunks; ++i)
          body += "add.u32 x2, tm, " + std::to_string(9 + i) +
                  ";\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [x2];\n"
                  "tcgen05.wait::ld.sync.aligned;\nadd.u32 x3, tid, 0;\n" +
                  (std::string(c.words) == "4x256b"
                       ? "and.b32 x3, tid, 31;\nsetp.eq.u32 p5, x3, 0;\n@p5 "
                       : "") +
                  "st.global.b32 [mine+" + std::to_string(4 * i) + "], r0;\n";
        std::string kernel = tensor_kernel(body + barrier);
        const auto replace = [&](const std::string& from, const std::string& to) {
          for (std::size_t at = 0; (at = kernel.find(from, at)) != kernel.npos; at += to.size())
            kernel.replace(at, from.size(), to);
        };
        replace(".shared .align 1024", ".reg .b16 h<2>;\n.shared .align 1024");
        replace("mad.wide.u32 mine, tid, 2048, d0;",
                "mov.u32 x0, %cluster_ctarank;\nmad.lo.u32 x0, x0, 128, tid;\n"
                "mad.wide.u32 mine, x0, 2048, d0;");
        if (paired) replace("cta_group::1", "cta_group::2");
        Machine gpu;
        gpu.config.compute_capability = 100;
        gpu.config.cluster = {static_cast<unsigned>(blocks), 1, 1};
        gpu.config.schedule_seed = next_mixed(state) % 2;
        gpu.load_text(kernel);
        const auto from = gpu.buffer(in, "in");
        const auto count = static_cast<std::size_t>(blocks * kLanes * kColumns);
        const auto to = gpu.buffer(std::vector<std::uint32_t>(count), "out");
        const Outcome o = gpu.launch("k", static_cast<unsigned>(blocks), kLanes, from, to);
        ASSERT_TRUE(o.findings.empty()) << c.words << " " << bits << text(o);
        const auto out = gpu.fetch<std::uint32_t>(to, count);
        for (int block = 0; block < blocks; ++block) {
          for (int row = 0; row < c.rows; ++row) {
            for (int byte = 0; byte < 16 * c.chunks; ++byte) {
              const int chunk = 8192 * block + row / 8 * 128 + row % 8 * 16 + byte / 16 * apart;
              const auto bit = [&](int n) {
                return in[static_cast<std::size_t>(chunk + n / 8)] >> n % 8 & 1;
              };
              const int width = bits == 0 ? 8 : bits;
              int wanted = 0;
              for (int n = 0; n < width; ++n) wanted |= bit(byte % 16 * width + n) << n;
              for (const int lane : lanes_of(c, row)) {
                const std::uint32_t word =
                    out[static_cast<std::size_t>((block * kLanes + lane) * kColumns + byte / 4)];
                ASSERT_EQ(word >> (8 * (byte % 4)) & 255, static_cast<std::uint32_t>(wanted))
                    << c.words << ", " << bits << " bits, block " << block << ", row " << row
                    << ", byte " << byte;
                ++compared;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 3u * 3 * 16 * (128 * 2 + 4 * 2 + 128 + 128 + 128 + 128));
}

}  // namespace tensor_moves_test
}  // namespace lockstep::engine
