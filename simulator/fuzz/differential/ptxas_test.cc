// Programs that ptxas 13.0.88 assembles wrongly (docs/journal/ptxas.md). The simulated GPU must do
// what the manual says.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>

#include "simulator/engine/tests/testing.h"
#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {
namespace {

std::string contents(const std::string& name) {
  std::ifstream in("golden/ptxas/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The values that a thread has read.
struct Read {
  std::uint32_t r0, r1, r2;
};

struct Case {
  const char* kernel;
  std::uint32_t (*expected)(Read);
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.kernel; }

class Ptxas : public testing::TestWithParam<Case> {};

TEST_P(Ptxas, TheSimulatedGpuDoesWhatTheManualSays) {
  engine::testing::Machine gpu;
  gpu.load_text(contents("ptxas.ptx"));
  std::vector<std::uint32_t> in;
  for (std::uint32_t t = 0; t < 32; ++t) {
    constexpr std::uint32_t kNumbers[] = {0xcafe0000, 0x7f800000, 0x3f800000,
                                          0xff812345};  // finite and not, of either sign
    in.push_back(kNumbers[t % 4] + 0x1011 * t);
    in.push_back(t * 0x9e3779b9);
    in.push_back(t % 3 ? 0x00012345 * t : 0x80000001 + t);
  }
  std::vector<std::uint32_t> expected;
  for (std::uint32_t t = 0; t < 32; ++t)
    expected.push_back(GetParam().expected({in[3 * t], in[3 * t + 1], in[3 * t + 2]}));
  if (std::string_view(GetParam().kernel) == "hinted_copy")
    for (std::uint32_t t = 0; t < 32; ++t) expected[t] = in[(4 * t) % in.size()] + t;
  // The copies take 16 bytes a thread.
  std::vector<std::uint32_t> memory = in;
  memory.insert(memory.end(), in.begin(), in.end());
  const auto a = gpu.buffer(memory), out = gpu.unwritten(4 * 32);
  EXPECT_EQ(engine::testing::text(gpu.launch(GetParam().kernel, 1, 32, a, out)), "");
  EXPECT_EQ(gpu.fetch<std::uint32_t>(out, 32), expected);
}

bool less(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
}

// The greater of two numbers whose upper halves are zero, as bits. A NaN loses.
std::uint16_t greater(std::uint16_t a, std::uint16_t b) {
  const float x = std::bit_cast<float>(static_cast<std::uint32_t>(a) << 16),
              y = std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? std::isnan(y) ? 0x7fff : b : a;
  return x > y ? a : b;
}

float number(std::uint32_t bits) { return std::bit_cast<float>(bits); }
// A bfloat16's.
float number_16(std::uint32_t bits) { return number(bits << 16); }
std::uint32_t bits_of(bool b) { return b ? 0xffffffffu : 0u; }

const Case kCases[] = {
    {"guarded_set", [](Read r) -> std::uint32_t { return less(r.r1, r.r2) ? 0x3f800000u : r.r0; }},
    {"guarded_set_16",
     [](Read r) -> std::uint32_t {
       return !less(r.r1, r.r2) ? r.r0 : (r.r1 & 0xffff) < (r.r2 & 0xffff) ? 0xffffffffu : 0u;
     }},
    {"guarded_testp",
     [](Read r) -> std::uint32_t {
       return less(r.r1, r.r2) ? std::uint32_t{std::isfinite(std::bit_cast<float>(r.r0))}
                               : r.r0 >> 31;
     }},
    {"middle",
     [](Read r) -> std::uint32_t {
       const bool p = less(r.r1, r.r2);
       for (int i = 0; i < 3; ++i) {
         if (i > 0 || !p) r.r0 *= 3;
         if (!p) r.r0 ^= r.r1;
         r.r0 += 5;
       }
       return r.r0;
     }},
    {"byte_store",
     [](Read r) -> std::uint32_t {
       return std::uint32_t{
                  greater(static_cast<std::uint16_t>(r.r0), static_cast<std::uint16_t>(r.r1))} &
              0xffu;
     }},
    {"wide_count", [](Read) -> std::uint32_t { return 0u; }},
    {"loaded_count",
     [](Read r) -> std::uint32_t {
       return r.r1 >= 64 ? 0u
                         : static_cast<std::uint32_t>((std::uint64_t{0x2100000000} << r.r1) >> 32);
     }},
    {"hinted_copy", [](Read r) -> std::uint32_t { return r.r0; }},
    {"converted_set", [](Read r) -> std::uint32_t { return less(r.r1, r.r2) ? 0u : 0x21u; }},
    {"negated_16",
     [](Read r) -> std::uint32_t {
       return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(-(r.r0 + 0x8000))});
     }},
    {"set_16",
     [](Read r) -> std::uint32_t {
       return bits_of((number_16(r.r0) == number_16(r.r1) ? 0u : 0x3f80u) >= (r.r1 & 0xffff));
     }},
    {"field_position", [](Read r) -> std::uint32_t { return bits_of(r.r1 >> 31 != 0); }},
    {"field_length", [](Read r) -> std::uint32_t { return r.r1 << 3 | (r.r2 & 7); }},
    {"chosen_by_constant", [](Read r) -> std::uint32_t { return r.r1; }},
    {"repeated_operand", [](Read) -> std::uint32_t { return 0u; }},
    {"cancelled_sum",
     [](Read r) -> std::uint32_t {
       const std::int64_t d =
           std::int64_t{static_cast<std::int32_t>(r.r0 + r.r1)} - static_cast<std::int32_t>(r.r1);
       return static_cast<std::uint32_t>(std::clamp<std::int64_t>(d, INT32_MIN, INT32_MAX));
     }},
    {"saturated_integer",
     [](Read r) -> std::uint32_t {
       const std::int64_t sum =
           std::int64_t{static_cast<std::int32_t>(r.r0)} + static_cast<std::int32_t>(r.r1);
       const float x =
           number(static_cast<std::uint32_t>(std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX)));
       return std::bit_cast<std::uint32_t>(x > 0 ? std::min(x, 1.0f) : 0.0f);
     }},
    {"high_products",
     [](Read r) -> std::uint32_t {
       return r.r0 + 3 * static_cast<std::uint32_t>(std::uint64_t{r.r1} * r.r2 >> 32);
     }},
    {"flushed_comparison", [](Read r) -> std::uint32_t { return r.r0; }},
    {"vote",  // there are threads with r0 < r2
     [](Read r) -> std::uint32_t {
       return less(r.r0, r.r2) ? r.r0 + 8 : bits_of((r.r1 < 32) != !less(r.r1, r.r2));
     }},
    {"known_predicate",
     [](Read r) -> std::uint32_t {
       return (less(r.r0, r.r2) ? r.r0 ^ r.r1 : r.r0) + std::uint32_t{less(r.r1, r.r2)};
     }},
    {"stack", [](Read r) -> std::uint32_t { return r.r0; }},
    {"atomic_loop", [](Read r) -> std::uint32_t { return 2 * r.r0; }},
};

INSTANTIATE_TEST_SUITE_P(Mistakes, Ptxas, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& i) {
                           return std::string(i.param.kernel);
                         });

// Reduced random programs, kept literally, with the result of -O0 and of the simulated GPU in the
// first word that ptxas gets wrong.
struct Reduced {
  const char* name;
  struct {
    std::uint32_t blocks, threads, input_offset;
  } launch;
  std::array<std::uint32_t, kArgumentBytes / 4> arguments;
  struct {
    std::uint32_t thread, offset, word;  // offset: of the word within what the thread leaves
  } expected;
};
std::ostream& operator<<(std::ostream& out, const Reduced& r) { return out << r.name; }

class PtxasReduced : public testing::TestWithParam<Reduced> {};

TEST_P(PtxasReduced, TheSimulatedGpuDoesWhatTheManualSays) {
  const Reduced& r = GetParam();
  engine::testing::Machine gpu;
  gpu.load_text(contents(std::string("ptxas_") + r.name + ".ptx"));
  Program p;
  p.blocks = r.launch.blocks, p.threads = r.launch.threads;
  p.input_offset = r.launch.input_offset, p.arguments = r.arguments;
  const auto words = input_data();
  const auto input = gpu.buffer<std::uint32_t>({words.begin(), words.end()});
  const auto output = gpu.buffer(std::vector<std::uint8_t>(Layout::kWhole));
  const Layout layout(p);
  EXPECT_EQ(engine::testing::text(gpu.launch("k0", p.blocks, p.threads, input + p.input_offset,
                                             output, output + layout.scratch, output + layout.sums,
                                             input, p.arguments)),
            "");
  const auto at = output + Layout::kOutput * r.expected.thread + r.expected.offset;
  EXPECT_EQ(gpu.fetch<std::uint32_t>(at, 1)[0], r.expected.word);
}

const Reduced kReduced[] = {
    {"left_loop",
     {3, 64, 128256},
     {0x00000001, 0x00000002, 0x00000002, 0x00000003, 0xa64cdf29, 0x1a502e04, 0x386bf89b,
      0x9131384d, 0x07e684ef, 0x2b8b44ba, 0x07025edc, 0xea6f8f04, 0x19b60c77, 0xc10cd1ee,
      0x71e8fbd8, 0x0c362fc5},
     {4, 0, 0x1f}},
    {"election",
     {1, 32, 188928},
     {0x00000001, 0x00000002, 0x00000003, 0x00000002, 0xac6d9882, 0x5aec110a, 0xb8c776a2,
      0x9026996f, 0xc0351e9a, 0xa068f77c, 0x87b3e328, 0x897cc61b, 0x0837b93c, 0x324af9a7,
      0x8ec416dd, 0xa92a7b4a},
     {2, 40, 0x74315ddc}},
    {"guard",
     {1, 32, 52736},
     {0x00000000, 0x00000001, 0x00000000, 0x00000002, 0x44b15752, 0xedb9553d, 0x4b3422bc,
      0x0b85301a, 0x620c86f0, 0x3ebbe6f4, 0x1201169c, 0xed764ed1, 0xb20b9dc6, 0x10c3e475,
      0x1bc79516, 0xf3eef2a0},
     {1, 56, 0x4c1f0600}},
    {"switch",
     {1, 32, 31744},
     {0x00000002, 0x00000003, 0x00000002, 0x00000001, 0x1d5ecf3b, 0xc4808ab4, 0x347725cf,
      0x4a27fe4b, 0xff926c51, 0x2bddabce, 0xbcf0b7ca, 0xe94341b4, 0x2c5c6035, 0xd31b6795,
      0x9e2f5288, 0x19f3b962},
     {1, 68, 0x0}},
    {"carry",
     {2, 32, 180480},
     {0x00000003, 0x00000003, 0x00000003, 0x00000002, 0x710a931c, 0x744b5d8c, 0x957300b8,
      0x0dec252d, 0x085dec26, 0x1ec4812d, 0xde789248, 0x5d08449c, 0x451e037d, 0x68e0a0de,
      0xa227b603, 0x8526fee2},
     {4, 8, 0x40ffbde6}},
    {"not_a_number",
     {1, 32, 16896},
     {0x00000001, 0x00000002, 0x00000000, 0x00000000, 0x3b73d674, 0xa60bac79, 0xf80ce74c,
      0x6bea13a5, 0x979b3ae6, 0xbe6a28cd, 0x70e9972f, 0x89044621, 0xdf2c3391, 0xc8e2680e,
      0x5854c06c, 0xc27f312f},
     {20, 68, 0x0}},
    {"uniform_predicate",
     {1, 32, 162816},
     {0x00000000, 0x00000002, 0x00000002, 0x00000001, 0xdf09fe2a, 0xa643c2f2, 0x67899bd7,
      0xcd4782ab, 0x16a741f0, 0xc8db115c, 0x585a7642, 0x8e7275a8, 0xc7be30bd, 0x6080dd1a,
      0x6243c5e3, 0x5450206f},
     {0, 72, 0x9}},
};

INSTANTIATE_TEST_SUITE_P(Mistakes, PtxasReduced, testing::ValuesIn(kReduced),
                         [](const testing::TestParamInfo<Reduced>& i) {
                           return std::string(i.param.name);
                         });

}  // namespace
}  // namespace lockstep::fuzz::differential
