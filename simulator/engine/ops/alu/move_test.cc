// mov, its packing and unpacking forms, with any overlap of registers.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/ops/alu/alu_test_support.h"

namespace lockstep::engine::alu_test {
namespace {

JUDGES(Move, CopiesEveryWidth, "mov.b32 d, a");
TEST(Move, CopiesEveryWidth) {
  for (const std::string t : {"b16", "u16", "s16"})
    check({"mov." + t, {2, 2}}, {special_int(2)}, [](const Bits* in) { return in[0]; });
  for (const std::string t : {"b32", "u32", "s32", "f32"})
    check({"mov." + t, {4, 4}}, {special_int(4)}, [](const Bits* in) { return in[0]; });
  for (const std::string t : {"b64", "u64", "s64", "f64"})
    check({"mov." + t, {8, 8}}, {special_int(8)}, [](const Bits* in) { return in[0]; });
  check({"mov.pred", {0, 0}}, {both_predicates()}, [](const Bits* in) { return in[0]; });
}

TEST(Move, PacksTwoBytes) {
  check({"mov.b16", {2, 1, 1}}, {special_int(1), special_int(1)},
        [](const Bits* in) { return in[1] << 8 | in[0]; });
}

JUDGES(Move, PacksLeastSignificantFirst, "mov.b32 d, v");
TEST(Move, PacksLeastSignificantFirst) {
  check({"mov.b32", {4, 2, 2}}, {special_int(2), special_int(2)},
        [](const Bits* in) { return in[1] << 16 | in[0]; });
  check({"mov.b64", {8, 4, 4}}, {special_int(4), special_int(4)},
        [](const Bits* in) { return in[1] << 32 | in[0]; });
  check({"mov.b32", {4, 1, 1, 1, 1}},
        {special_int(1), special_int(1), special_int(1), special_int(1)},
        [](const Bits* in) { return in[3] << 24 | in[2] << 16 | in[1] << 8 | in[0]; });
  check({"mov.b64", {8, 2, 2, 2, 2}},
        {special_int(2), special_int(2), special_int(2), special_int(2)},
        [](const Bits* in) { return in[3] << 48 | in[2] << 32 | in[1] << 16 | in[0]; });
}

// Unpacking has several destinations, so the test calls the operation itself. Registers are 512
// bytes apart.
class Unpack : public ::testing::TestWithParam<std::tuple<int, int>> {
};  // bytes of the whole; number of parts

TEST_P(Unpack, SplitsAndSkipsTheSinkAndKeepsInactiveLanes) {
  const auto [whole, parts] = GetParam();
  const int part = whole / parts;
  Form form{"mov.b" + std::to_string(8 * whole), {}};
  for (int i = 0; i < parts; ++i) form.bytes.push_back(part);
  form.bytes.push_back(whole);
  const AluKey key = key_of(form);
  const Handler handler = resolve_alu(key);
  ASSERT_NE(handler, nullptr) << form.text;
  for (int skipped = -1; skipped < parts; ++skipped) {
    for (LaneMask mask : {kAllLanes, LaneMask{0x80000001}, LaneMask{0x00f0ff10}}) {
      alignas(64) unsigned char file[6 * 512];
      for (std::size_t i = 0; i < sizeof file; ++i)
        file[i] = static_cast<unsigned char>(i * 37 + i / 256 * 11);
      unsigned char before[sizeof file];
      std::memcpy(before, file, sizeof file);
      Warp warp{};
      warp.file[0] = reinterpret_cast<std::byte*>(file);
      Op op;
      auto slot = [&](int i) { return i == skipped ? kNoSlot : static_cast<Slot>(512 * (i + 1)); };
      op.src[0] = 0;
      op.dst = slot(0);
      op.dst2 = slot(1);
      if (parts == 4) op.src[1] = slot(2), op.src[2] = slot(3);
      handler(warp, op, mask);
      for (int i = 0; i < parts; ++i) {
        for (int lane = 0; lane < kWarpSize; ++lane) {
          const bool written = i != skipped && ((mask >> lane) & 1);
          const unsigned char* expected =
              written ? before + lane * whole + i * part : before + 512 * (i + 1) + lane * part;
          EXPECT_EQ(std::memcmp(file + 512 * (i + 1) + lane * part, expected, part), 0)
              << form.text << " part " << i << " lane " << lane;
        }
      }
      EXPECT_EQ(std::memcmp(file, before, 512), 0) << "the source changed";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Widths, Unpack,
                         ::testing::Values(std::tuple{2, 2}, std::tuple{4, 2}, std::tuple{8, 2},
                                           std::tuple{16, 2}, std::tuple{4, 4}, std::tuple{8, 4}));

TEST(Move, UnpacksIntoItsOwnSource) {
  const AluKey key = key_of({"mov.b64", {4, 4, 8}});
  alignas(64) std::uint32_t file[256] = {};
  for (std::uint32_t i = 0; i < 64; ++i) file[i] = i * 0x01010101u + 5;
  Warp warp{};
  warp.file[0] = reinterpret_cast<std::byte*>(file);
  Op op;
  op.src[0] = 0;
  op.dst = 0;     // the source's first half
  op.dst2 = 128;  // and its second
  resolve_alu(key)(warp, op, kAllLanes);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(file[lane], 2 * lane * 0x01010101u + 5);
    EXPECT_EQ(file[32 + lane], (2 * lane + 1) * 0x01010101u + 5);
  }
}

TEST(Move, UnknownFormsAreRefused) {
  AluKey k = key_of({"mov.b64", {8, 4, 4}});
  EXPECT_FALSE(refused(k));
  k.register_bytes[2] = 2;
  EXPECT_TRUE(refused(k));
  k = key_of({"mov.b32", {4, 4}});
  k.register_bytes[0] = 8;
  EXPECT_TRUE(refused(k));
  k.modifiers.type = isa::Type::kF16x2;
  EXPECT_TRUE(refused(k));
}

}  // namespace
}  // namespace lockstep::engine::alu_test
