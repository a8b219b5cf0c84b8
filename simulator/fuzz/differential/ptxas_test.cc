// Programs that ptxas 13.0.88 assembles wrongly (docs/ptxas.md): the simulated GPU does what the manual says.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

#include "simulator/engine/testing/testing.h"
#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {
namespace {

std::string contents(const std::string& name) {
  std::ifstream in("simulator/fuzz/differential/testdata/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Case {
  const char* kernel;
  std::function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t)> expected;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.kernel; }

class Ptxas : public testing::TestWithParam<Case> {};

TEST_P(Ptxas, TheSimulatedGpuDoesWhatTheManualSays) {
  engine::testing::Machine gpu;
  gpu.load_text(contents("ptxas.ptx"));
  std::vector<std::uint32_t> in;
  for (std::uint32_t t = 0; t < 32; ++t) {
    constexpr std::uint32_t kNumbers[] = {0xcafe0000, 0x7f800000, 0x3f800000, 0xff812345};  // finite and not, of either sign
    in.push_back(kNumbers[t % 4] + 0x1011 * t);
    in.push_back(t * 0x9e3779b9);
    in.push_back(t % 3 ? 0x00012345 * t : 0x80000001 + t);
  }
  std::vector<std::uint32_t> expected;
  for (std::uint32_t t = 0; t < 32; ++t) expected.push_back(GetParam().expected(in[3 * t], in[3 * t + 1], in[3 * t + 2]));
  if (std::string_view(GetParam().kernel) == "hinted_copy")
    for (std::uint32_t t = 0; t < 32; ++t) expected[t] = in[(4 * t) % in.size()] + t;
  // The copies take 16 bytes a thread.
  std::vector<std::uint32_t> memory = in;
  memory.insert(memory.end(), in.begin(), in.end());
  const auto a = gpu.buffer(memory), out = gpu.unwritten(4 * 32);
  EXPECT_EQ(engine::testing::text(gpu.launch(GetParam().kernel, 1, 32, a, out)), "");
  EXPECT_EQ(gpu.fetch<std::uint32_t>(out, 32), expected);
}

bool less(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b); }

// The greater of two numbers whose upper halves are zero, as bits; a NaN gives way.
std::uint16_t greater(std::uint16_t a, std::uint16_t b) {
  const float x = std::bit_cast<float>(static_cast<std::uint32_t>(a) << 16), y = std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? std::isnan(y) ? 0x7fff : b : a;
  return x > y ? a : b;
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, Ptxas,
    testing::Values(Case{"guarded_set", [](std::uint32_t r0, std::uint32_t r1, std::uint32_t r2) { return less(r1, r2) ? 0x3f800000u : r0; }},
                    Case{"guarded_set_16",
                         [](std::uint32_t r0, std::uint32_t r1, std::uint32_t r2) {
                           return !less(r1, r2) ? r0 : (r1 & 0xffff) < (r2 & 0xffff) ? 0xffffffffu : 0u;
                         }},
                    Case{"guarded_testp",
                         [](std::uint32_t r0, std::uint32_t r1, std::uint32_t r2) {
                           return less(r1, r2) ? std::uint32_t{std::isfinite(std::bit_cast<float>(r0))} : r0 >> 31;
                         }},
                    Case{"middle",
                         [](std::uint32_t r0, std::uint32_t r1, std::uint32_t r2) {
                           const bool p = less(r1, r2);
                           for (int i = 0; i < 3; ++i) {
                             if (i > 0 || !p) r0 *= 3;
                             if (!p) r0 ^= r1;
                             r0 += 5;
                           }
                           return r0;
                         }},
                    Case{"byte_store",
                         [](std::uint32_t r0, std::uint32_t r1, std::uint32_t) {
                           return std::uint32_t{greater(static_cast<std::uint16_t>(r0), static_cast<std::uint16_t>(r1))} & 0xffu;
                         }},
                    Case{"wide_count", [](std::uint32_t, std::uint32_t, std::uint32_t) { return 0u; }},
                    Case{"loaded_count",
                         [](std::uint32_t, std::uint32_t r1, std::uint32_t) {
                           return r1 >= 64 ? 0u : static_cast<std::uint32_t>((std::uint64_t{0x2100000000} << r1) >> 32);
                         }},
                    Case{"hinted_copy", [](std::uint32_t r0, std::uint32_t, std::uint32_t) { return r0; }}));

// A random program, made small: a loop is left by a predicate that the loop itself writes. What -O0, -O3 and the simulated GPU give.
TEST(PtxasLeavesALoopLate, TheSimulatedGpuDoesNot) {
  engine::testing::Machine gpu;
  gpu.load_text(contents("ptxas_left_loop.ptx"));
  Program p;
  p.blocks = 3, p.threads = 64, p.input_offset = 128256;
  p.arguments = {0x00000001, 0x00000002, 0x00000002, 0x00000003, 0xa64cdf29, 0x1a502e04, 0x386bf89b, 0x9131384d,
                 0x07e684ef, 0x2b8b44ba, 0x07025edc, 0xea6f8f04, 0x19b60c77, 0xc10cd1ee, 0x71e8fbd8, 0x0c362fc5};
  const auto words = input_data();
  const auto input = gpu.buffer<std::uint32_t>({words.begin(), words.end()});
  const auto output = gpu.buffer(std::vector<std::uint8_t>(Layout::kWhole));
  const Layout layout(p);
  EXPECT_EQ(engine::testing::text(gpu.launch("k0", p.blocks, p.threads, input + p.input_offset, output, output + layout.scratch, output + layout.sums,
                                             input, p.arguments)),
            "");
  EXPECT_EQ(gpu.fetch<std::uint32_t>(output + 4 * Layout::kOutput, 1)[0], 0x1fu);
}

}  // namespace
}  // namespace lockstep::fuzz::differential
