// cvt between integers, f32 and f64, also with registers wider than the types, compared with exact
// values rounded once.
#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"
#include "simulator/engine/ops/alu/alu_test_values.h"

namespace lockstep::engine::alu_test {
namespace {

using exact::Direction;
using exact::Number;

const std::vector<IntegerType> kIntegers = {{"u8", 1, false},  {"s8", 1, true},   {"u16", 2, false},
                                            {"s16", 2, true},  {"u32", 4, false}, {"s32", 4, true},
                                            {"u64", 8, false}, {"s64", 8, true}};

const std::vector<Mode> kIntegerRoundings = {{".rni", Direction::kNearestEven},
                                             {".rzi", Direction::kZero},
                                             {".rmi", Direction::kDown},
                                             {".rpi", Direction::kUp}};

Number number_of(__int128 v) {
  return v < 0 ? exact::integer(true, static_cast<unsigned __int128>(-v))
               : exact::integer(false, static_cast<unsigned __int128>(v));
}

std::vector<int> registers_for(int bytes) {
  std::vector<int> r;
  for (int n = bytes; n <= 8; n *= 2) r.push_back(n);
  return r;
}

JUDGES(Convert, IntegersChopAndExtend, "cvt.s32.s8", "cvt.sat.s16.s32", "cvt.sat.s32.s64",
       "cvt.sat.s64.u64", "cvt.sat.s8.s32", "cvt.sat.u16.s32", "cvt.sat.u32.s8", "cvt.sat.u64.s32",
       "cvt.sat.u8.s32");
TEST(Convert, IntegersChopAndExtend) {
  Options few;
  few.random = 500;
  for (const auto& to : kIntegers) {
    for (const auto& from : kIntegers) {
      for (int d : registers_for(to.bytes)) {
        for (int s : registers_for(from.bytes)) {
          const std::string end = to.name + "." + from.name;
          check(
              {"cvt." + end, {d, s}}, {special_int(s)},
              [&](const Bits* in) { return to.in_register(from.value(in[0])); }, few);
          if (from.lowest() >= to.lowest() && from.highest() <= to.highest())
            continue;  // ptxas refuses .sat where it does nothing
          check(
              {"cvt.sat." + end, {d, s}}, {special_int(s)},
              [&](const Bits* in) {
                const __int128 v = from.value(in[0]);
                return to.in_register(v < to.lowest()    ? to.lowest()
                                      : v > to.highest() ? to.highest()
                                                         : v);
              },
              few);
        }
      }
    }
  }
}

JUDGES(Convert, IntegersToFloat, "cvt.rm.f32.s8");
TEST(Convert, IntegersToFloat) {
  for (const auto& from : kIntegers) {
    for (int s : registers_for(from.bytes)) {
      for (const Mode& mode : kRoundings) {
        for (bool sat : {false, true}) {
          const std::string start = "cvt" + mode.word + (sat ? ".sat" : "");
          auto convert = [&](const exact::Format& f) {
            return [&, f](const Bits* in) {
              const Bits r = exact::encode(number_of(from.value(in[0])), f, mode.direction);
              return sat ? saturated(r, f) : r;
            };
          };
          check({start + ".f32." + from.name, {4, s}}, {special_int(s)}, convert(exact::kF32));
          check({start + ".f64." + from.name, {8, s}}, {special_int(s)}, convert(exact::kF64));
        }
      }
    }
  }
}

// Values near every power of two, including halves, in both formats.
std::vector<Bits> near_integers(const exact::Format& f) {
  std::vector<Bits> v = f.bits() == 32 ? special_f32() : special_f64();
  for (int k = -2; k <= 65; ++k) {
    for (int numerator : {-3, -2, -1, 0, 1, 2, 3}) {
      for (bool negative : {false, true}) {
        const Number power{Number::Class::kFinite, false, exact::Natural(4), k};  // 4 * 2^k
        const Number n = exact::add(
            power,
            {Number::Class::kFinite, numerator < 0,
             exact::Natural(static_cast<unsigned>(numerator < 0 ? -numerator : numerator)), -1},
            Direction::kZero);
        Number signed_n = n;
        signed_n.negative = negative;
        v.push_back(exact::encode(signed_n, f, Direction::kZero));
      }
    }
  }
  return v;
}

JUDGES(Convert, FloatToIntegerRoundsThenClamps, "cvt.rmi.s8.f32", "cvt.rmi.s32.f64");
TEST(Convert, FloatToIntegerRoundsThenClamps) {
  for (bool wide : {false, true}) {
    const exact::Format f = wide ? exact::kF64 : exact::kF32;
    const auto specials = near_integers(f);
    for (const auto& to : kIntegers) {
      for (int d : registers_for(to.bytes)) {
        for (const Mode& mode : kIntegerRoundings) {
          for (int form = 0; form < (wide ? 2 : 4); ++form) {
            const bool sat = form & 1, ftz = form & 2;
            const std::string text = "cvt" + mode.word + (ftz ? ".ftz" : "") +
                                     (sat ? ".sat." : ".") + to.name + (wide ? ".f64" : ".f32");
            check({text, {d, wide ? 8 : 4}}, {specials}, [&](const Bits* in) -> Bits {
              const Number n = exact::to_integral(
                  exact::decode(ftz ? exact::flush(in[0], f) : in[0], f), mode.direction);
              if (n.is_nan())
                return wide || to.bytes == 8 ? to.in_register(__int128{1} << (8 * to.bytes - 1))
                                             : 0;
              const Number low = number_of(to.lowest()), high = number_of(to.highest());
              if (exact::compare(n, low) <= 0) return to.in_register(to.lowest());
              if (exact::compare(n, high) >= 0) return to.in_register(to.highest());
              const Bits magnitude = n.magnitude.shifted_left(n.exponent).from_bit(0);
              return to.in_register(n.negative ? -static_cast<__int128>(magnitude)
                                               : static_cast<__int128>(magnitude));
            });
          }
        }
      }
    }
  }
}

JUDGES(Convert, FloatToFloat, "cvt.rm.f32.f64", "cvt.rmi.f32.f32", "cvt.rmi.f64.f64",
       "cvt.f64.f32");
TEST(Convert, FloatToFloat) {
  for (const Mode& mode : kRoundings) {
    for (int form = 0; form < 4; ++form) {
      const bool sat = form & 1, ftz = form & 2;
      check({"cvt" + mode.word + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32.f64", {4, 8}},
            {special_f64()}, [&](const Bits* in) {
              const Number n = exact::decode(in[0], exact::kF64);
              if (n.is_nan() && !sat)
                return (in[0] >> 32 & 0x80000000) | 0x7fc00000 |
                       (in[0] >> 29 & 0x3fffff);  // sign and payload are kept
              const Bits r = ftz ? exact::encode_flushed(n, exact::kF32, mode.direction)
                                 : exact::encode(n, exact::kF32, mode.direction);
              return sat ? saturated(r, exact::kF32) : r;
            });
    }
  }
  // Random f64 values are rarely in f32's range: a denser set is needed.
  std::vector<Bits> dense;
  for (Bits b : special_f32()) {
    const Bits widened =
        exact::encode(exact::decode(b, exact::kF32), exact::kF64, Direction::kZero);
    for (Bits d : {Bits{0}, Bits{1}, ~Bits{0}, Bits{0x10000000}, Bits{0x0fffffff}, Bits{0x10000001},
                   Bits{0x20000000}})
      dense.push_back(widened + d);
  }
  for (const Mode& mode : kRoundings) {
    check({"cvt" + mode.word + ".f32.f64", {4, 8}}, {dense}, [&](const Bits* in) {
      const Number n = exact::decode(in[0], exact::kF64);
      if (n.is_nan()) return (in[0] >> 32 & 0x80000000) | 0x7fc00000 | (in[0] >> 29 & 0x3fffff);
      return exact::encode(n, exact::kF32, mode.direction);
    });
  }
  for (int form = 0; form < 4; ++form) {
    const bool sat = form & 1, ftz = form & 2;
    check({std::string("cvt") + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f64.f32", {8, 4}},
          {special_f32()}, [&](const Bits* in) -> Bits {
            const Bits a = ftz ? exact::flush(in[0], exact::kF32) : in[0];
            if (exact::is_nan_bits(a, exact::kF32) && !sat && ftz)
              return 0x7fffffffe0000000;  // f32's canonical NaN, widened
            if (exact::is_nan_bits(a, exact::kF32) && !sat)
              return (a & 0x80000000) << 32 | 0x7ff8000000000000 | (a & 0x7fffff) << 29;
            const Bits r =
                exact::encode(exact::decode(a, exact::kF32), exact::kF64, Direction::kNearestEven);
            return sat ? saturated(r, exact::kF64) : r;
          });
  }
  for (const Mode& mode : kIntegerRoundings) {
    for (int form = 0; form < 4; ++form) {
      const bool sat = form & 1, ftz = form & 2;
      auto round = [&](const exact::Format& f) {
        return [&, f](const Bits* in) {
          const Bits a = ftz ? exact::flush(in[0], f) : in[0];
          if (f.bits() == 64 && exact::is_nan_bits(a, f) && !sat) return exact::f64_nan(&a, 1);
          const Bits r = exact::encode(exact::to_integral(exact::decode(a, f), mode.direction), f,
                                       mode.direction);
          return sat ? saturated(r, f) : r;
        };
      };
      const std::string start = "cvt" + mode.word + (ftz ? ".ftz" : "") + (sat ? ".sat" : "");
      check({start + ".f32.f32", {4, 4}}, {near_integers(exact::kF32)}, round(exact::kF32));
      if (!ftz)
        check({start + ".f64.f64", {8, 8}}, {near_integers(exact::kF64)}, round(exact::kF64));
    }
  }
}

TEST(Convert, UnknownFormsAreRefused) {
  AluKey k = key_of({"cvt.rn.f32.s32", {4, 4}});
  EXPECT_FALSE(refused(k));
  k.modifiers.rounding = isa::Rounding::kNone;
  EXPECT_TRUE(refused(k));
  k.modifiers.rounding = isa::Rounding::kIntZero;
  EXPECT_TRUE(refused(k));
  k = key_of({"cvt.u32.u64", {4, 8}});
  EXPECT_FALSE(refused(k));
  k.register_bytes[0] = 2;  // narrower than its type
  EXPECT_TRUE(refused(k));
  k = key_of({"cvt.rzi.s32.f64", {4, 8}});
  k.modifiers.ftz = true;
  EXPECT_TRUE(refused(k));
  k = key_of({"cvt.rzi.s32.f32", {4, 4}});
  k.modifiers.rounding = isa::Rounding::kNearestEven;
  EXPECT_TRUE(refused(k));
  k.modifiers.source_type = isa::Type::kNone;
  EXPECT_TRUE(refused(k));
}

}  // namespace
}  // namespace lockstep::engine::alu_test
