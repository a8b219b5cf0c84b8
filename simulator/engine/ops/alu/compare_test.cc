// setp, set, selp, slct and testp, compared with comparisons of exact values.
#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"
#include "simulator/engine/ops/alu/alu_test_support.h"
#include "simulator/engine/ops/alu/exact_reference.h"

namespace lockstep::engine::alu_test {
namespace {

// Orders two values of a type: -1, 0, 1, or 2 when unordered.
using Order = std::function<int(Bits, Bits)>;

struct Compared {
  std::string name;
  int bytes;
  const std::vector<Bits>& specials;
  Order order;
  std::vector<std::string> operators;
};

int integer_order(Bits a, Bits b, int bytes, bool is_signed) {
  const int spare = 64 - 8 * bytes;
  if (is_signed) {
    const auto x = static_cast<std::int64_t>(a << spare), y = static_cast<std::int64_t>(b << spare);
    return x < y ? -1 : x > y;
  }
  return a << spare < b << spare ? -1 : a << spare > b << spare;
}
int float_order(Bits a, Bits b, const exact::Format& f) {
  return exact::compare(exact::decode(a, f), exact::decode(b, f));
}

std::vector<Compared> integer_types() {
  std::vector<Compared> v;
  for (int n : {2, 4, 8}) {
    const std::string bits = std::to_string(8 * n);
    auto order = [n](bool is_signed) {
      return [n, is_signed](Bits a, Bits b) { return integer_order(a, b, n, is_signed); };
    };
    v.push_back({"b" + bits, n, special_int(n), order(false), {"eq", "ne"}});
    v.push_back({"s" + bits, n, special_int(n), order(true), {"eq", "ne", "lt", "le", "gt", "ge"}});
    v.push_back({"u" + bits,
                 n,
                 special_int(n),
                 order(false),
                 {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"}});
  }
  return v;
}
std::vector<Compared> float_types() {
  const std::vector<std::string> all = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                        "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  return {
      {"f32", 4, special_f32(), [](Bits a, Bits b) { return float_order(a, b, exact::kF32); }, all},
      {"ftz.f32", 4, special_f32(),
       [](Bits a, Bits b) {
         return float_order(exact::flush(a, exact::kF32), exact::flush(b, exact::kF32),
                            exact::kF32);
       },
       all},
      {"f64", 8, special_f64(), [](Bits a, Bits b) { return float_order(a, b, exact::kF64); },
       all}};
}

// Whether the operator holds for an order. A trailing u also accepts unordered.
bool holds(const std::string& op, int order) {
  if (op == "num") return order != 2;
  if (op == "nan") return order == 2;
  const bool unordered_too = op.size() == 3;
  if (order == 2) return unordered_too;
  const std::string o = op.substr(0, 2);
  if (o == "eq") return order == 0;
  if (o == "ne") return order != 0;
  if (o == "lt" || o == "lo") return order < 0;
  if (o == "le" || o == "ls") return order <= 0;
  if (o == "gt" || o == "hi") return order > 0;
  return order >= 0;
}

bool combine(const std::string& op, bool a, bool c) {
  return op == "and" ? a && c : op == "or" ? a || c : a != c;
}

// Every third value: other tests check the comparison itself for all pairs.
std::vector<Bits> thinned(const std::vector<Bits>& all) {
  std::vector<Bits> v;
  for (std::size_t i = 0; i < all.size(); i += 3) v.push_back(all[i]);
  return v;
}

void check_setp(const Compared& t, bool with_combinations) {
  const int n = t.bytes;
  Options few;
  few.random = 1000;
  const auto thin = thinned(t.specials);
  for (const std::string& op : t.operators) {
    auto result = [&](const Bits* in) { return holds(op, t.order(in[0], in[1])); };
    check(
        {"setp." + op + "." + t.name, {0, n, n}}, {t.specials, t.specials},
        [&](const Bits* in) { return Bits{result(in)}; }, few);
    Options pair = few;
    pair.second = [&](const Bits* in) { return Bits{!result(in)}; };
    check(
        {"setp." + op + "." + t.name, {0, n, n}, true}, {thin, thin},
        [&](const Bits* in) { return Bits{result(in)}; }, pair);
    if (!with_combinations) continue;
    for (const std::string bool_op : {"and", "or", "xor"}) {
      for (bool negated : {false, true}) {
        Options options = few;
        options.flags = negated ? 4 : 0;
        options.second = [&](const Bits* in) {
          return Bits{combine(bool_op, !result(in), (in[2] != 0) != negated)};
        };
        check(
            {"setp." + op + "." + bool_op + "." + t.name, {0, n, n, 0}, true},
            {thin, thin, both_predicates()},
            [&](const Bits* in) {
              return Bits{combine(bool_op, result(in), (in[2] != 0) != negated)};
            },
            options);
      }
    }
  }
}

JUDGES(Compare, SetpOnIntegers, "setp.eq.or.b32", "setp.eq.or.s32", "setp.hi.or.u32", "setp.eq.b32",
       "setp.eq.s32", "setp.hi.u32");
TEST(Compare, SetpOnIntegers) {
  for (const auto& t : integer_types()) check_setp(t, true);
}
JUDGES(Compare, SetpOnFloats, "setp.eq.or.f64", "setp.eq.or.f32", "setp.eq.f64", "setp.eq.f32");
TEST(Compare, SetpOnFloats) {
  for (const auto& t : float_types()) check_setp(t, t.name == "f32" || t.name == "f64");
}

JUDGES(Compare, SetGivesAllOnesOrOne, "set.lt.or.f32.f64", "set.lt.or.f32.s16", "set.lt.or.f32.f32",
       "set.eq.f32.f64", "set.eq.f32.b16", "set.eq.f32.s16", "set.hi.f32.u16", "set.eq.f32.f32");
TEST(Compare, SetGivesAllOnesOrOne) {
  auto types = integer_types();
  for (const auto& t : float_types()) types.push_back(t);
  Options few;
  few.random = 500;
  for (const auto& t : types) {
    const auto thin = thinned(t.specials);
    const bool ftz = t.name.starts_with("ftz.");
    const std::string source = ftz ? t.name.substr(4) : t.name;
    for (const std::string& op : t.operators) {
      for (const std::string destination : {"u32", "s32", "f32"}) {
        const Bits truth = destination == "f32" ? 0x3f800000 : 0xffffffff;
        const std::string end = (ftz ? ".ftz." : ".") + destination + "." + source;
        check(
            {"set." + op + end, {4, t.bytes, t.bytes}}, {thin, thin},
            [&](const Bits* in) { return holds(op, t.order(in[0], in[1])) ? truth : 0; }, few);
        if (op != "lt") continue;
        for (const std::string bool_op : {"and", "or", "xor"}) {
          check(
              {"set." + op + "." + bool_op + end, {4, t.bytes, t.bytes, 0}},
              {thin, thin, both_predicates()},
              [&](const Bits* in) {
                return combine(bool_op, holds(op, t.order(in[0], in[1])), in[2]) ? truth : 0;
              },
              few);
        }
      }
    }
  }
}

JUDGES(Compare, SelectByPredicateAndBySign, "selp.b32", "slct.b16.s32", "slct.b16.f32");
TEST(Compare, SelectByPredicateAndBySign) {
  for (int n : {2, 4, 8}) {
    const auto& v = special_int(n);
    for (const std::string t : {"b", "u", "s"}) {
      const std::string type = t + std::to_string(8 * n);
      for (bool negated : {false, true}) {
        Options options;
        options.flags = negated ? 4 : 0;
        check(
            {"selp." + type, {n, n, n, 0}}, {v, v, both_predicates()},
            [=](const Bits* in) { return in[(in[2] != 0) != negated ? 0 : 1]; }, options);
      }
      check({"slct." + type + ".s32", {n, n, n, 4}}, {v, v, special_int(4)},
            [](const Bits* in) { return in[in[2] >> 31 ? 1 : 0]; });
      for (bool ftz : {false, true}) {
        check({std::string("slct.") + (ftz ? "ftz." : "") + type + ".f32", {n, n, n, 4}},
              {v, v, special_f32()}, [=](const Bits* in) {
                const int order =
                    float_order(ftz ? exact::flush(in[2], exact::kF32) : in[2], 0, exact::kF32);
                return in[order == 0 || order == 1 ? 0 : 1];
              });
      }
    }
  }
}

JUDGES(Compare, TestpClassifies, "testp.finite.f32");
TEST(Compare, TestpClassifies) {
  for (bool wide : {false, true}) {
    const exact::Format f = wide ? exact::kF64 : exact::kF32;
    const auto& specials = wide ? special_f64() : special_f32();
    const int n = wide ? 8 : 4;
    auto test = [&](const char* op, auto holds_for) {
      check({std::string("testp.") + op + (wide ? ".f64" : ".f32"), {0, n}}, {specials},
            [&](const Bits* in) { return Bits{holds_for(exact::decode(in[0], f), in[0])}; });
    };
    using exact::Number;
    test("finite", [](const Number& x, Bits) { return !x.is_nan() && !x.is_infinite(); });
    test("infinite", [](const Number& x, Bits) { return x.is_infinite(); });
    test("number", [](const Number& x, Bits) { return !x.is_nan(); });
    test("notanumber", [](const Number& x, Bits) { return x.is_nan(); });
    test("normal", [&](const Number& x, Bits b) {
      return !x.is_nan() && !x.is_infinite() && !exact::is_subnormal(b, f);
    });  // zeros too
    test("subnormal", [&](const Number&, Bits b) { return exact::is_subnormal(b, f); });
  }
}

TEST(Compare, UnknownFormsAreRefused) {
  AluKey k = key_of({"setp.lt.s32", {0, 4, 4}});
  EXPECT_FALSE(refused(k));
  k.modifiers.compare = isa::Compare::kLo;  // unsigned only
  EXPECT_TRUE(refused(k));
  k.modifiers.compare = isa::Compare::kLtu;  // floats only
  EXPECT_TRUE(refused(k));
  k.modifiers.compare = isa::Compare::kNone;
  EXPECT_TRUE(refused(k));
  k = key_of({"setp.eq.b32", {0, 4, 4}});
  k.modifiers.compare = isa::Compare::kLt;
  EXPECT_TRUE(refused(k));
  k = key_of({"setp.lt.f64", {0, 8, 8}});
  k.modifiers.ftz = true;
  EXPECT_TRUE(refused(k));
  k = key_of({"setp.lt.and.f64", {0, 8, 8, 0}});
  k.operand_count = 3;  // the predicate is missing
  EXPECT_TRUE(refused(k));
}

}  // namespace
}  // namespace lockstep::engine::alu_test
