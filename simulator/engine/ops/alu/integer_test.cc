// Integer arithmetic, compared with 128-bit arithmetic on sign- or zero-extended operands.
#include <gtest/gtest.h>

#include <algorithm>

#include "simulator/coverage/judged.h"
#include "simulator/engine/ops/alu/alu_test_values.h"

namespace lockstep::engine::alu_test {
namespace {

using Wide = __int128;
using UWide = unsigned __int128;

const std::vector<IntegerType> kTypes = {{"u16", 2, false}, {"s16", 2, true},  {"u32", 4, false},
                                         {"s32", 4, true},  {"u64", 8, false}, {"s64", 8, true}};

std::vector<std::vector<Bits>> sources(int n, int bytes) {
  return std::vector<std::vector<Bits>>(n, special_int(bytes));
}

Wide clamp32(Wide v) {
  return v > 2147483647 ? 2147483647 : v < -Wide{2147483648} ? -Wide{2147483648} : v;
}

// The exact product: 64-bit operands fit 128 bits, signed or unsigned.
UWide product(const IntegerType& t, Bits a, Bits b) {
  return static_cast<UWide>(t.value(a)) * static_cast<UWide>(t.value(b));
}
Bits high(const IntegerType& t, Bits a, Bits b) {
  if (t.is_signed) return static_cast<Bits>((t.value(a) * t.value(b)) >> (8 * t.bytes));
  return static_cast<Bits>(product(t, a, b) >> (8 * t.bytes));
}

JUDGES(Integer, AddSubtractAndMultiplyKeepTheLowBits, "add.u32", "add.s32", "mad.hi.s32",
       "mad.wide.s32", "mul.hi.s32", "mul.wide.s32", "sub.u32", "sub.s32");
TEST(Integer, AddSubtractAndMultiplyKeepTheLowBits) {
  for (const auto& t : kTypes) {
    const int n = t.bytes;
    check({"add." + t.name, {n, n, n}}, sources(2, n),
          [&](const Bits* in) { return static_cast<Bits>(t.value(in[0]) + t.value(in[1])); });
    check({"sub." + t.name, {n, n, n}}, sources(2, n),
          [&](const Bits* in) { return static_cast<Bits>(t.value(in[0]) - t.value(in[1])); });
    check({"mul.lo." + t.name, {n, n, n}}, sources(2, n),
          [&](const Bits* in) { return static_cast<Bits>(product(t, in[0], in[1])); });
    check({"mul.hi." + t.name, {n, n, n}}, sources(2, n),
          [&](const Bits* in) { return high(t, in[0], in[1]); });
    check({"mad.lo." + t.name, {n, n, n, n}}, sources(3, n),
          [&](const Bits* in) { return static_cast<Bits>(product(t, in[0], in[1])) + in[2]; });
    check({"mad.hi." + t.name, {n, n, n, n}}, sources(3, n),
          [&](const Bits* in) { return high(t, in[0], in[1]) + in[2]; });
    if (n < 8) {
      check({"mul.wide." + t.name, {2 * n, n, n}}, sources(2, n),
            [&](const Bits* in) { return static_cast<Bits>(product(t, in[0], in[1])); });
      check({"mad.wide." + t.name, {2 * n, n, n, 2 * n}},
            {special_int(n), special_int(n), special_int(2 * n)},
            [&](const Bits* in) { return static_cast<Bits>(product(t, in[0], in[1])) + in[2]; });
    }
  }
}

JUDGES(Integer, SaturatingFormsClamp, "add.sat.s32", "mad.hi.sat.s32", "mad24.hi.sat.s32",
       "sub.sat.s32");
TEST(Integer, SaturatingFormsClamp) {
  const auto& t = kTypes[3];
  check({"add.sat.s32", {4, 4, 4}}, sources(2, 4), [&](const Bits* in) {
    return static_cast<Bits>(clamp32(t.value(in[0]) + t.value(in[1])));
  });
  check({"sub.sat.s32", {4, 4, 4}}, sources(2, 4), [&](const Bits* in) {
    return static_cast<Bits>(clamp32(t.value(in[0]) - t.value(in[1])));
  });
  check({"mad.hi.sat.s32", {4, 4, 4, 4}}, sources(3, 4), [&](const Bits* in) {
    return static_cast<Bits>(clamp32(((t.value(in[0]) * t.value(in[1])) >> 32) + t.value(in[2])));
  });
  check({"mad24.hi.sat.s32", {4, 4, 4, 4}}, sources(3, 4), [&](const Bits* in) {
    auto low24 = [](Bits b) { return static_cast<Wide>(static_cast<std::int64_t>(b << 40) >> 40); };
    const auto high =
        static_cast<std::int32_t>(static_cast<std::int64_t>(low24(in[0]) * low24(in[1])) >> 16);
    return static_cast<Bits>(clamp32(Wide{high} + t.value(in[2])));
  });
}

JUDGES(Integer, TwentyFourBitProducts, "mad24.hi.s32", "mul24.hi.s32");
TEST(Integer, TwentyFourBitProducts) {
  for (const auto& t : {kTypes[2], kTypes[3]}) {
    auto low24 = [&](Bits b) {
      return t.is_signed ? static_cast<std::int64_t>(b << 40) >> 40
                         : static_cast<std::int64_t>(b & 0xffffff);
    };
    check({"mul24.lo." + t.name, {4, 4, 4}}, sources(2, 4),
          [&](const Bits* in) { return static_cast<Bits>(low24(in[0]) * low24(in[1])); });
    check({"mul24.hi." + t.name, {4, 4, 4}}, sources(2, 4),
          [&](const Bits* in) { return static_cast<Bits>(low24(in[0]) * low24(in[1])) >> 16; });
    check({"mad24.lo." + t.name, {4, 4, 4, 4}}, sources(3, 4),
          [&](const Bits* in) { return static_cast<Bits>(low24(in[0]) * low24(in[1])) + in[2]; });
    check({"mad24.hi." + t.name, {4, 4, 4, 4}}, sources(3, 4), [&](const Bits* in) {
      return (static_cast<Bits>(low24(in[0]) * low24(in[1])) >> 16) + in[2];
    });
  }
}

JUDGES(Integer, DivisionNeverTrapsAndRoundsTowardZero, "div.s32", "rem.s32");
TEST(Integer, DivisionNeverTrapsAndRoundsTowardZero) {
  for (const auto& t : kTypes) {
    const int n = t.bytes;
    check({"div." + t.name, {n, n, n}}, sources(2, n), [&](const Bits* in) {
      return t.value(in[1]) == 0 ? ~Bits{0} : static_cast<Bits>(t.value(in[0]) / t.value(in[1]));
    });
    check({"rem." + t.name, {n, n, n}}, sources(2, n), [&](const Bits* in) {
      return t.value(in[1]) == 0 ? ~Bits{0} : static_cast<Bits>(t.value(in[0]) % t.value(in[1]));
    });
  }
}

JUDGES(Integer, OrderingAndMagnitude, "abs.s32", "max.relu.s32", "max.s32", "max.u32",
       "min.relu.s32", "min.s32", "min.u32", "neg.s32", "sad.s32");
TEST(Integer, OrderingAndMagnitude) {
  for (const auto& t : kTypes) {
    const int n = t.bytes;
    check({"min." + t.name, {n, n, n}}, sources(2, n),
          [&](const Bits* in) { return t.value(in[0]) < t.value(in[1]) ? in[0] : in[1]; });
    check({"max." + t.name, {n, n, n}}, sources(2, n),
          [&](const Bits* in) { return t.value(in[0]) > t.value(in[1]) ? in[0] : in[1]; });
    check({"sad." + t.name, {n, n, n, n}}, sources(3, n), [&](const Bits* in) {
      const Wide d = t.value(in[0]) - t.value(in[1]);
      return static_cast<Bits>(d < 0 ? -d : d) + in[2];
    });
    if (t.is_signed) {
      check({"abs." + t.name, {n, n}}, sources(1, n), [&](const Bits* in) {
        return static_cast<Bits>(t.value(in[0]) < 0 ? -t.value(in[0]) : t.value(in[0]));
      });
      check({"neg." + t.name, {n, n}}, sources(1, n),
            [&](const Bits* in) { return static_cast<Bits>(-t.value(in[0])); });
    }
  }
  const auto& t = kTypes[3];
  check({"min.relu.s32", {4, 4, 4}}, sources(2, 4), [&](const Bits* in) {
    return static_cast<Bits>(std::max<Wide>(0, std::min(t.value(in[0]), t.value(in[1]))));
  });
  check({"max.relu.s32", {4, 4, 4}}, sources(2, 4), [&](const Bits* in) {
    return static_cast<Bits>(std::max<Wide>(0, std::max(t.value(in[0]), t.value(in[1]))));
  });
}

JUDGES(Integer, PackedHalvesAreIndependent, "add.s16x2", "max.u16x2", "max.s16x2", "min.u16x2",
       "min.s16x2");
TEST(Integer, PackedHalvesAreIndependent) {
  for (const auto& t : {kTypes[0], kTypes[1]}) {
    auto each = [&](const Bits* in, auto f) {
      const Bits low =
          static_cast<Bits>(f(t.value(in[0] & 0xffff), t.value(in[1] & 0xffff))) & 0xffff;
      const Bits high = static_cast<Bits>(f(t.value(in[0] >> 16), t.value(in[1] >> 16))) & 0xffff;
      return high << 16 | low;
    };
    const std::string x2 = t.name + "x2";
    check({"add." + x2, {4, 4, 4}}, sources(2, 4),
          [&](const Bits* in) { return each(in, [](Wide a, Wide b) { return a + b; }); });
    check({"min." + x2, {4, 4, 4}}, sources(2, 4),
          [&](const Bits* in) { return each(in, [](Wide a, Wide b) { return std::min(a, b); }); });
    check({"max." + x2, {4, 4, 4}}, sources(2, 4),
          [&](const Bits* in) { return each(in, [](Wide a, Wide b) { return std::max(a, b); }); });
    if (t.is_signed) {
      check({"min.relu." + x2, {4, 4, 4}}, sources(2, 4), [&](const Bits* in) {
        return each(in, [](Wide a, Wide b) { return std::max<Wide>(0, std::min(a, b)); });
      });
      check({"max.relu." + x2, {4, 4, 4}}, sources(2, 4), [&](const Bits* in) {
        return each(in, [](Wide a, Wide b) { return std::max<Wide>(0, std::max(a, b)); });
      });
    }
  }
}

JUDGES(Integer, DotProducts, "dp2a.hi.s32.s32", "dp4a.s32.s32");
TEST(Integer, DotProducts) {
  for (bool a_signed : {false, true}) {
    for (bool b_signed : {false, true}) {
      const std::string types =
          std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
      auto element = [](Bits v, int at, int bits, bool is_signed) -> Wide {
        const Bits e = v >> at & ((Bits{1} << bits) - 1);
        return is_signed && e >> (bits - 1) ? static_cast<Wide>(e) - (Wide{1} << bits)
                                            : static_cast<Wide>(e);
      };
      check({"dp4a" + types, {4, 4, 4, 4}}, sources(3, 4), [&](const Bits* in) {
        Wide sum = in[2];
        for (int i = 0; i < 4; ++i)
          sum += element(in[0], 8 * i, 8, a_signed) * element(in[1], 8 * i, 8, b_signed);
        return static_cast<Bits>(sum);
      });
      for (int start : {0, 16}) {
        check({std::string("dp2a") + (start ? ".hi" : ".lo") + types, {4, 4, 4, 4}}, sources(3, 4),
              [&](const Bits* in) {
                Wide sum = in[2];
                for (int i = 0; i < 2; ++i)
                  sum += element(in[0], 16 * i, 16, a_signed) *
                         element(in[1], start + 8 * i, 8, b_signed);
                return static_cast<Bits>(sum);
              });
      }
    }
  }
}

JUDGES(Integer, CarriesAndBorrowsChain, "add.cc.s32", "addc.s32", "mad.hi.cc.s32", "madc.hi.s32",
       "sub.cc.s32", "subc.s32");
TEST(Integer, CarriesAndBorrowsChain) {
  for (const auto& t : {kTypes[2], kTypes[3], kTypes[4], kTypes[5]}) {
    const int n = t.bytes, bits = 8 * n;
    auto sum = [=](Bits a, Bits b, Bits c) { return static_cast<UWide>(a) + b + c; };
    auto difference = [=](Bits a, Bits b, Bits c) { return static_cast<UWide>(a) - b - c; };
    auto carry = [=](UWide v) { return static_cast<Bits>(v >> bits) & 1; };
    auto no_borrow = [=](UWide v) { return carry(v) ^ 1; };  // silicon's CC.CF after a difference
    Options first, middle;
    first.carry_out = [=](const Bits* in) { return carry(sum(in[0], in[1], 0)); };
    check(
        {"add.cc." + t.name, {n, n, n}}, sources(2, n),
        [=](const Bits* in) { return static_cast<Bits>(sum(in[0], in[1], 0)); }, first);
    check({"addc." + t.name, {n, n, n}}, sources(2, n),
          [=](const Bits* in) { return static_cast<Bits>(sum(in[0], in[1], in[2])); });
    middle.carry_out = [=](const Bits* in) { return carry(sum(in[0], in[1], in[2])); };
    check(
        {"addc.cc." + t.name, {n, n, n}}, sources(2, n),
        [=](const Bits* in) { return static_cast<Bits>(sum(in[0], in[1], in[2])); }, middle);
    first.carry_out = [=](const Bits* in) { return no_borrow(difference(in[0], in[1], 0)); };
    check(
        {"sub.cc." + t.name, {n, n, n}}, sources(2, n),
        [=](const Bits* in) { return static_cast<Bits>(difference(in[0], in[1], 0)); }, first);
    check({"subc." + t.name, {n, n, n}}, sources(2, n),
          [=](const Bits* in) { return static_cast<Bits>(difference(in[0], in[1], in[2] ^ 1)); });
    middle.carry_out = [=](const Bits* in) {
      return no_borrow(difference(in[0], in[1], in[2] ^ 1));
    };
    check(
        {"subc.cc." + t.name, {n, n, n}}, sources(2, n),
        [=](const Bits* in) { return static_cast<Bits>(difference(in[0], in[1], in[2] ^ 1)); },
        middle);
    for (bool hi : {false, true}) {
      const std::string mode = hi ? ".hi" : ".lo";
      auto half = [=](const Bits* in) {
        const Bits h = hi ? high(t, in[0], in[1]) : static_cast<Bits>(product(t, in[0], in[1]));
        return n == 4 ? h & 0xffffffffu : h;
      };
      first.carry_out = [=](const Bits* in) { return carry(sum(half(in), in[2], 0)); };
      check(
          {"mad" + mode + ".cc." + t.name, {n, n, n, n}}, sources(3, n),
          [=](const Bits* in) { return static_cast<Bits>(sum(half(in), in[2], 0)); }, first);
      check({"madc" + mode + "." + t.name, {n, n, n, n}}, sources(3, n),
            [=](const Bits* in) { return static_cast<Bits>(sum(half(in), in[2], in[3])); });
      middle.carry_out = [=](const Bits* in) { return carry(sum(half(in), in[2], in[3])); };
      check(
          {"madc" + mode + ".cc." + t.name, {n, n, n, n}}, sources(3, n),
          [=](const Bits* in) { return static_cast<Bits>(sum(half(in), in[2], in[3])); }, middle);
    }
  }
}

TEST(Integer, UnknownFormsAreRefused) {
  AluKey key = key_of({"add.s32", {4, 4, 4}});
  EXPECT_FALSE(refused(key));
  auto with = [&](auto change) {
    AluKey k = key;
    change(k);
    return refused(k);
  };
  EXPECT_TRUE(with([](AluKey& k) { k.modifiers.ftz = true; }));
  EXPECT_TRUE(with([](AluKey& k) { k.modifiers.relu = true; }));
  EXPECT_TRUE(with([](AluKey& k) { k.modifiers.vector = 2; }));
  EXPECT_TRUE(with([](AluKey& k) { k.modifiers.type = isa::Type::kU32, k.modifiers.sat = true; }));
  EXPECT_TRUE(with([](AluKey& k) { k.modifiers.type = isa::Type::kB32; }));
  EXPECT_TRUE(with([](AluKey& k) { k.modifiers.type = isa::Type::kS8; }));
  EXPECT_TRUE(with([](AluKey& k) { k.modifiers.source_type = isa::Type::kF16; }));
  EXPECT_TRUE(with([](AluKey& k) { k.modifiers.half = isa::Half::kLo; }));
  EXPECT_TRUE(with([](AluKey& k) { k.modifiers.rounding = isa::Rounding::kNearestEven; }));
  EXPECT_TRUE(with([](AluKey& k) { k.operand_count = 4; }));
  EXPECT_TRUE(with([](AluKey& k) { k.register_bytes[1] = 8; }));
  EXPECT_TRUE(with([](AluKey& k) { k.opcode = isa::Opcode::kInvalid; }));
  EXPECT_TRUE(with([](AluKey& k) { k.opcode = isa::Opcode::k_ld; }));
  EXPECT_TRUE(with([](AluKey& k) { k.opcode = isa::Opcode::k_mul; }));  // neither lo, hi nor wide
}

JUDGES(Video, AbsoluteDifferencesOfFourBytes, "vabsdiff4.s32.s32.s32.add", "vabsdiff4.s32.s32.s32");
TEST(Video, AbsoluteDifferencesOfFourBytes) {
  const auto byte = [](Bits v, int i, bool is_signed) {
    const auto b = static_cast<std::uint8_t>(v >> (8 * i));
    return is_signed ? static_cast<int>(static_cast<std::int8_t>(b)) : static_cast<int>(b);
  };
  for (const bool d_signed : {false, true}) {
    for (const bool a_signed : {false, true}) {
      for (const bool b_signed : {false, true}) {
        const std::string types = std::string(d_signed ? ".s32" : ".u32") +
                                  (a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
        const auto difference = [=](const Bits* in, int i) {
          const int d = byte(in[0], i, a_signed) - byte(in[1], i, b_signed);
          return d < 0 ? -d : d;
        };
        const std::vector<std::vector<Bits>> specials(3, special_int(4));
        for (const bool sat : {false, true}) {
          check({"vabsdiff4" + types + (sat ? ".sat" : ""), {4, 4, 4, 4}}, specials,
                [=](const Bits* in) {
                  Bits r = 0;
                  for (int i = 0; i < 4; ++i) {
                    int d = difference(in, i);
                    if (sat) d = std::min(d, d_signed ? 127 : 255);
                    r |= Bits{static_cast<std::uint8_t>(d)} << (8 * i);
                  }
                  return r;
                });
        }
        check({"vabsdiff4" + types + ".add", {4, 4, 4, 4}}, specials, [=](const Bits* in) {
          Bits r = in[2];
          for (int i = 0; i < 4; ++i) r += static_cast<Bits>(difference(in, i));
          return r;
        });
      }
    }
  }
}

JUDGES(Video, ExtremesOfFourBytes, "vmin4.s32.s32.s32", "vmax4.s32.s32.s32");
TEST(Video, ExtremesOfFourBytes) {
  const auto byte = [](Bits v, int i, bool is_signed) {
    const auto b = static_cast<std::uint8_t>(v >> (8 * i));
    return is_signed ? static_cast<int>(static_cast<std::int8_t>(b)) : static_cast<int>(b);
  };
  const std::vector<std::vector<Bits>> specials(3, special_int(4));
  for (int signs = 0; signs < 32; ++signs) {
    const bool d_signed = signs & 1, a_signed = signs & 2, b_signed = signs & 4, sat = signs & 8,
               greater = signs & 16;
    const std::string types = std::string(d_signed ? ".s32" : ".u32") +
                              (a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
    check({(greater ? "vmax4" : "vmin4") + types + (sat ? ".sat" : ""), {4, 4, 4, 4}}, specials,
          [=](const Bits* in) {
            Bits r = 0;
            for (int i = 0; i < 4; ++i) {
              const int a = byte(in[0], i, a_signed), b = byte(in[1], i, b_signed);
              int d = greater ? std::max(a, b) : std::min(a, b);
              if (sat) d = std::clamp(d, d_signed ? -128 : 0, d_signed ? 127 : 255);
              r |= Bits{static_cast<std::uint8_t>(d)} << (8 * i);
            }
            return r;
          });
  }
}

}  // namespace
}  // namespace lockstep::engine::alu_test
