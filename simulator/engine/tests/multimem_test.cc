// multimem compared with a model (PTX ISA 9.7.9.14): memory of two or three devices at one
// multicast address, loaded, stored and reduced value by value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace multimem_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kThreads = 64, kStretch = 16, kBytes = kThreads * kStretch;

// A floating-point format of up to 16 bits, as the list of its values.
class Format {
 public:
  Format(int exponent, int fraction, bool has_infinity)
      : exponent_(exponent), fraction_(fraction), has_infinity_(has_infinity) {
    for (std::uint32_t code = 0; code < 1u << (exponent + fraction); ++code) {
      const double v = value(code);
      if (!std::isnan(v) && !std::isinf(v)) values_.push_back(v);
    }
  }
  double value(std::uint32_t code) const {
    const std::uint32_t sign = 1u << (exponent_ + fraction_), magnitude = code & (sign - 1),
                        field = magnitude >> fraction_, rest = magnitude & ((1u << fraction_) - 1),
                        top = (1u << exponent_) - 1;
    double v = std::ldexp(
        field == 0 ? rest : rest + (1 << fraction_),
        static_cast<int>(field == 0 ? 1 : field) - (1 << (exponent_ - 1)) + 1 - fraction_);
    if (field == top && has_infinity_) v = rest == 0 ? INFINITY : NAN;
    if (!has_infinity_ && magnitude == sign - 1) v = NAN;
    return code & sign ? -v : v;
  }
  // Rounds to the nearest value, ties to the even code. `saturates`: never to infinity.
  std::uint32_t code(double v, bool saturates) const {
    const std::uint32_t sign = std::signbit(v) ? 1u << (exponent_ + fraction_) : 0;
    const double m = std::fabs(v);
    const auto above = static_cast<std::uint32_t>(
        std::lower_bound(values_.begin(), values_.end(), m) - values_.begin());
    if (above == values_.size()) {
      const std::uint32_t last = above - 1;
      const double half_step = (values_[last] - values_[last - 1]) / 2;
      return sign | (saturates || m < values_[last] + half_step ? last : last + 1);
    }
    if (above == 0 || values_[above] == m) return sign | above;
    const double up = values_[above] - m, down = m - values_[above - 1];
    return sign | (up < down || (up == down && above % 2 == 0) ? above : above - 1);
  }

 private:
  int exponent_, fraction_;
  bool has_infinity_;
  std::vector<double> values_;  // the finite ones by their codes, in ascending order
};

struct Type {
  const char* name;
  std::uint32_t bytes;  // of an element
  char kind;            // u, s, f (f32), d (f64), or that of a Format
  const Format* format = nullptr;
};
const Format& half() {
  static const auto* const f = new Format(5, 10, true);
  return *f;
}
const Format& brain() {
  static const auto* const f = new Format(8, 7, true);
  return *f;
}
const Format& e4m3() {
  static const auto* const f = new Format(4, 3, false);
  return *f;
}
const Format& e5m2() {
  static const auto* const f = new Format(5, 2, true);
  return *f;
}

double decoded(const Type& t, std::uint64_t bits) {
  if (t.kind == 'f')
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (t.kind == 'd') return std::bit_cast<double>(bits);
  return t.format->value(static_cast<std::uint32_t>(bits));
}
std::uint64_t encoded(const Type& t, double v) {
  if (t.kind == 'f') return std::bit_cast<std::uint32_t>(static_cast<float>(v));
  if (t.kind == 'd') return std::bit_cast<std::uint64_t>(v);
  return t.format->code(v, t.bytes == 1);
}

std::uint64_t reduced(const std::string& op, const Type& t, std::uint64_t a, std::uint64_t b) {
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  const std::uint64_t mask = t.bytes == 8 ? ~0ull : (1ull << 8 * t.bytes) - 1;
  if (t.kind == 'u' || t.kind == 's') {
    if (op == "add") return (a + b) & mask;
    const auto order = [&](std::uint64_t x) {  // order as unsigned numbers
      return t.kind == 's' ? (x ^ (1ull << (8 * t.bytes - 1))) : x;
    };
    return (order(a) < order(b)) == (op == "min") ? a : b;
  }
  const double x = decoded(t, a), y = decoded(t, b);
  if (op == "add") return encoded(t, x + y);
  const bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return less == (op == "min") ? a : b;
}

class MultimemTest : public ::testing::Test {
 protected:
  // Memory of `devices` devices with random bytes, and a multicast address for all.
  void bind(int devices, const Type& t) {
    parts.clear();
    before.clear();
    range = {};
    range.bytes = kBytes;
    for (int d = 0; d < devices; ++d) {
      Bytes bytes(kBytes);
      for (std::uint32_t at = 0; at < kBytes; at += t.bytes) {
        std::uint64_t bits = next_mixed(state);
        // Avoids NaN and infinity; exponents are near one another.
        if (t.format != nullptr || t.kind == 'f' || t.kind == 'd')
          bits = encoded(
              t, std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits % 4001)) - 2000,
                            static_cast<int>(bits >> 32 & 3) - 6));
        std::memcpy(&bytes[at], &bits, t.bytes);
      }
      before.push_back(bytes);
      parts.push_back(gpu.buffer(bytes, "part"));
      range.devices.push_back(d);
      range.parts.push_back({d, 0, kBytes, parts.back()});
    }
    address = gpu.memory.reserve_range(2 << 20, 2 << 20);
    gpu.memory.multicast.assign({{address, range}});
  }
  std::uint64_t at(const Bytes& bytes, std::uint32_t place, std::uint32_t count) const {
    std::uint64_t v = 0;
    std::memcpy(&v, &bytes[place], count);
    return v;
  }
  Outcome run(const std::string& body, memory::Address other) {
    gpu.config.compute_capability = 100;
    gpu.load_text(
        ".version 9.0\n.target sm_100a\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n"
        ".reg .b8 c<16>; .reg .b16 h<16>; .reg .b32 r<16>; .reg .b64 d<24>; .reg .pred p<3>;\n"
        "ld.param.u64 d10, [a]; ld.param.u64 d11, [b]; mov.u32 r15, %tid.x;\n"
        "mul.wide.u32 d12, r15, 16; add.u64 d10, d10, d12; add.u64 d11, d11, d12;\n" +
        body + "ret;\n}\n");
    return gpu.launch("k", 1, kThreads, address, other);
  }
  static std::string registers(std::uint32_t bytes, std::uint32_t count) {
    const char* const name = bytes == 1 ? "c" : bytes == 2 ? "h" : bytes == 4 ? "r" : "d";
    std::string s;
    for (std::uint32_t i = 0; i < count; ++i) s += (i ? ", " : "") + (name + std::to_string(i));
    return count == 1 ? s : "{" + s + "}";
  }
  static std::string vector(std::uint32_t count) {
    return count == 1 ? "" : ".v" + std::to_string(count);
  }
  // Loads or stores `count` consecutive registers of `bytes` bytes at [d11].
  static std::string moves(bool loads, std::uint32_t bytes, std::uint32_t count) {
    std::string s;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string reg = (bytes == 1   ? "c"
                               : bytes == 2 ? "h"
                               : bytes == 4 ? "r"
                                            : "d") +
                              std::to_string(i),
                        place = "[d11+" + std::to_string(i * bytes) + "]",
                        type = ".b" + std::to_string(8 * bytes);
      s += loads ? "ld.global" + type + " " + reg + ", " + place + ";\n"
                 : "st.global" + type + " " + place + ", " + reg + ";\n";
    }
    return s;
  }

  void load_reduce(const std::string& words, const std::string& op, const std::string& suffix,
                   const Type& t, std::uint32_t bytes, std::uint32_t count, char acc = 0) {
    for (const int devices : {1, 2, 3}) {
      bind(devices, t);
      const memory::Address out = gpu.buffer(Bytes(kBytes), "out");
      const std::string name = "multimem.ld_reduce" + words + "." + op + suffix;
      const Outcome o = run(
          name + " " + registers(bytes, count) + ", [d10];\n" + moves(false, bytes, count), out);
      ASSERT_TRUE(o.findings.empty()) << name << " " << text(o);
      const Bytes seen = gpu.fetch<std::uint8_t>(out, kBytes);
      for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
        for (std::uint32_t b = 0; b < bytes * count; b += t.bytes) {
          const std::uint32_t place = thread * kStretch + b;
          std::uint64_t expected = at(before[0], place, t.bytes);
          double sum = acc != 0 ? decoded(t, expected) : 0;
          for (int d = 1; d < devices; ++d) {
            const std::uint64_t next = at(before[static_cast<std::size_t>(d)], place, t.bytes);
            if (acc == 0) {
              expected = reduced(op, t, expected, next);
            } else {
              sum += decoded(t, next);
              sum = acc == 'f' ? static_cast<double>(static_cast<float>(sum))
                               : half().value(half().code(sum, false));
            }
          }
          if (acc != 0) expected = encoded(t, sum);
          ASSERT_EQ(at(seen, place, t.bytes), expected) << name << " " << devices << " " << place;
        }
      }
    }
  }
  // Writes the data at [d11] to all devices.
  void write(const std::string& name, const std::string& op, const Type& t, std::uint32_t bytes,
             std::uint32_t count) {
    bind(3, t);
    const Bytes values = before[2];
    const memory::Address from = gpu.buffer(values, "from");
    const Outcome o =
        run(moves(true, bytes, count) + name + " [d10], " + registers(bytes, count) + ";\n", from);
    ASSERT_TRUE(o.findings.empty()) << name << " " << text(o);
    for (std::size_t d = 0; d < parts.size(); ++d) {
      Bytes expected = before[d];
      for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
        for (std::uint32_t b = 0; b < bytes * count; b += t.bytes) {
          const std::uint32_t place = thread * kStretch + b;
          const std::uint64_t value = at(values, place, t.bytes),
                              now = op.empty()
                                        ? value
                                        : reduced(op, t, at(before[d], place, t.bytes), value);
          std::memcpy(&expected[place], &now, t.bytes);
        }
      }
      ASSERT_EQ(gpu.fetch<std::uint8_t>(parts[d], kBytes), expected) << name << " " << d;
    }
  }

  Machine gpu;
  std::uint64_t state = 7;
  memory::MulticastRange range;
  std::vector<memory::Address> parts;
  std::vector<Bytes> before;
  memory::Address address = 0;
};

const Type kU32{"u32", 4, 'u'}, kS32{"s32", 4, 's'}, kU64{"u64", 8, 'u'}, kS64{"s64", 8, 's'},
    kF32{"f32", 4, 'f'}, kF64{"f64", 8, 'd'};

JUDGES(MultimemTest, LoadsReduceIntegers, "multimem.ld_reduce.global.min.s64",
       "multimem.ld_reduce.relaxed.gpu.global.min.s64", "multimem.ld_reduce.global.add.u32",
       "multimem.ld_reduce.acquire.sys.global.add.u32", "multimem.ld_reduce.global.and.b64",
       "multimem.ld_reduce.relaxed.gpu.global.and.b64");
TEST_F(MultimemTest, LoadsReduceIntegers) {
  for (const char* words : {".global", ".weak", ".relaxed.gpu.global", ".acquire.sys.global"}) {
    for (const Type& t : {kU32, kS32, kU64, kS64}) {
      load_reduce(words, "min", "." + std::string(t.name), t, t.bytes, 1);
      load_reduce(words, "max", "." + std::string(t.name), t, t.bytes, 1);
      if (&t != &kS64 && std::string(t.name) != "s64")
        load_reduce(words, "add", "." + std::string(t.name), t, t.bytes, 1);
    }
    for (const char* op : {"and", "or", "xor"}) {
      load_reduce(words, op, ".b32", kU32, 4, 1);
      load_reduce(words, op, ".b64", kU64, 8, 1);
    }
  }
}

JUDGES(MultimemTest, LoadsReduceFloats, "multimem.ld_reduce.global.add.v2.f32",
       "multimem.ld_reduce.relaxed.gpu.global.add.v2.f32", "multimem.ld_reduce.global.add.f16x2",
       "multimem.ld_reduce.relaxed.gpu.global.add.f16x2", "multimem.ld_reduce.global.min.v2.bf16x2",
       "multimem.ld_reduce.relaxed.gpu.global.min.v2.bf16x2",
       "multimem.ld_reduce.global.max.v8.f16", "multimem.ld_reduce.relaxed.gpu.global.max.v8.f16",
       "multimem.ld_reduce.global.add.acc::f32.f16x2",
       "multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.f16x2",
       "multimem.ld_reduce.global.add.acc::f32.v4.bf16x2",
       "multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.v4.bf16x2",
       "multimem.ld_reduce.global.add.acc::f32.v8.bf16",
       "multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.v8.bf16");
TEST_F(MultimemTest, LoadsReduceFloats) {
  const Type h{"f16", 2, 'h', &half()}, b{"bf16", 2, 'b', &brain()};
  for (const char* words : {".global", ".relaxed.gpu.global"}) {
    load_reduce(words, "add", ".f32", kF32, 4, 1);
    load_reduce(words, "add", ".f64", kF64, 8, 1);
    for (const std::uint32_t n : {2u, 4u})
      load_reduce(words, "add", vector(n) + ".f32", kF32, 4, n);
    for (const Type& t : {h, b}) {
      const std::string name = t.name;
      for (const char* op : {"add", "min", "max"}) {
        for (const std::uint32_t n : {1u, 2u, 4u})
          load_reduce(words, op, vector(n) + "." + name + "x2", t, 4, n);
        for (const std::uint32_t n : {2u, 4u, 8u})
          load_reduce(words, op, vector(n) + "." + name, t, 2, n);
      }
      for (const std::uint32_t n : {1u, 2u, 4u})
        load_reduce(words, "add", ".acc::f32" + vector(n) + "." + name + "x2", t, 4, n, 'f');
      for (const std::uint32_t n : {2u, 4u, 8u})
        load_reduce(words, "add", ".acc::f32" + vector(n) + "." + name, t, 2, n, 'f');
    }
  }
}

JUDGES(MultimemTest, LoadsReduceEightBits, "multimem.ld_reduce.global.add.e4m3x4",
       "multimem.ld_reduce.relaxed.gpu.global.add.e4m3x4",
       "multimem.ld_reduce.global.min.v2.e5m2x4",
       "multimem.ld_reduce.relaxed.gpu.global.min.v2.e5m2x4",
       "multimem.ld_reduce.global.add.v8.e4m3x2",
       "multimem.ld_reduce.relaxed.gpu.global.add.v8.e4m3x2",
       "multimem.ld_reduce.global.add.v4.e4m3", "multimem.ld_reduce.relaxed.gpu.global.add.v4.e4m3",
       "multimem.ld_reduce.global.add.acc::f16.e4m3x4",
       "multimem.ld_reduce.relaxed.gpu.global.add.acc::f16.e4m3x4",
       "multimem.ld_reduce.global.add.acc::f16.v2.e4m3x4",
       "multimem.ld_reduce.relaxed.gpu.global.add.acc::f16.v2.e4m3x4",
       "multimem.ld_reduce.global.add.acc::f16.v2.e5m2x2",
       "multimem.ld_reduce.relaxed.gpu.global.add.acc::f16.v2.e5m2x2",
       "multimem.ld_reduce.global.add.acc::f16.v4.e5m2",
       "multimem.ld_reduce.relaxed.gpu.global.add.acc::f16.v4.e5m2");
TEST_F(MultimemTest, LoadsReduceEightBits) {
  for (const char* words : {".global", ".relaxed.gpu.global"}) {
    for (const Type& t : {Type{"e4m3", 1, '4', &e4m3()}, Type{"e5m2", 1, '5', &e5m2()}}) {
      const std::string name = t.name;
      for (const bool wide : {false, true}) {
        for (const char* op : {"add", "min", "max"}) {
          if (wide && op != std::string("add")) continue;
          const std::string acc = wide ? ".acc::f16" : "";
          const char how = wide ? 'h' : char{0};
          for (const std::uint32_t n : {1u, 2u, 4u})
            load_reduce(words, op, acc + vector(n) + "." + name + "x4", t, 4, n, how);
          for (const std::uint32_t n : {2u, 4u, 8u})
            load_reduce(words, op, acc + vector(n) + "." + name + "x2", t, 2, n, how);
          for (const std::uint32_t n : {4u, 8u})
            load_reduce(words, op, acc + vector(n) + "." + name, t, 1, n, how);
        }
      }
    }
  }
}

JUDGES(MultimemTest, StoresReachAllDevices, "multimem.st.global.b64",
       "multimem.st.relaxed.gpu.global.b64", "multimem.st.global.v4.f32",
       "multimem.st.relaxed.gpu.global.v4.f32", "multimem.st.global.v4.bf16x2",
       "multimem.st.relaxed.gpu.global.v4.bf16x2", "multimem.st.global.v8.f16",
       "multimem.st.relaxed.gpu.global.v8.f16", "multimem.st.global.e4m3x4",
       "multimem.st.relaxed.gpu.global.e4m3x4", "multimem.st.global.v2.e4m3x4",
       "multimem.st.relaxed.gpu.global.v2.e4m3x4", "multimem.st.global.v8.e5m2x2",
       "multimem.st.relaxed.gpu.global.v8.e5m2x2", "multimem.st.global.v8.e5m2",
       "multimem.st.relaxed.gpu.global.v8.e5m2");
TEST_F(MultimemTest, StoresReachAllDevices) {
  for (const std::string words :
       {".global", ".weak", ".relaxed.gpu.global", ".release.sys.global"}) {
    const auto all = [&](const std::string& suffix, std::uint32_t bytes, std::uint32_t count) {
      write("multimem.st" + words + vector(count) + suffix, "", bytes == 8 ? kU64 : kU32, bytes,
            count);
    };
    for (const char* type : {".b32", ".u32", ".s32", ".f32", ".f16x2", ".bf16x2", ".e4m3x4"})
      all(type, 4, 1);
    for (const char* type : {".b64", ".u64", ".s64", ".f64"}) all(type, 8, 1);
    for (const std::uint32_t n : {2u, 4u}) {
      for (const char* type : {".f32", ".f16x2", ".bf16x2", ".e4m3x4", ".e5m2x4"}) all(type, 4, n);
    }
    for (const std::uint32_t n : {2u, 4u, 8u}) {
      for (const char* type : {".f16", ".bf16", ".e4m3x2", ".e5m2x2"}) all(type, 2, n);
    }
    for (const std::uint32_t n : {4u, 8u}) {
      for (const char* type : {".e4m3", ".e5m2"}) all(type, 1, n);
    }
  }
}

JUDGES(MultimemTest, ReductionsReachAllDevices, "multimem.red.global.min.s64",
       "multimem.red.relaxed.gpu.global.min.s64", "multimem.red.global.add.u32",
       "multimem.red.relaxed.gpu.global.add.u32", "multimem.red.global.xor.b64",
       "multimem.red.relaxed.gpu.global.xor.b64", "multimem.red.global.add.v4.f32",
       "multimem.red.relaxed.gpu.global.add.v4.f32", "multimem.red.global.add.v4.bf16x2",
       "multimem.red.relaxed.gpu.global.add.v4.bf16x2", "multimem.red.global.add.v8.f16",
       "multimem.red.relaxed.gpu.global.add.v8.f16");
TEST_F(MultimemTest, ReductionsReachAllDevices) {
  const Type h{"f16", 2, 'h', &half()}, b{"bf16", 2, 'b', &brain()};
  for (const std::string words : {".global", ".relaxed.gpu.global", ".release.sys.global"}) {
    const auto all = [&](const std::string& op, const std::string& suffix, const Type& t,
                         std::uint32_t bytes, std::uint32_t count) {
      write("multimem.red" + words + "." + op + vector(count) + suffix, op, t, bytes, count);
    };
    for (const Type& t : {kU32, kS32, kU64, kS64}) {
      all("min", "." + std::string(t.name), t, t.bytes, 1);
      all("max", "." + std::string(t.name), t, t.bytes, 1);
    }
    for (const Type& t : {kU32, kS32, kU64, kF32, kF64})
      all("add", "." + std::string(t.name), t, t.bytes, 1);
    for (const char* op : {"and", "or", "xor"}) {
      all(op, ".b32", kU32, 4, 1);
      all(op, ".b64", kU64, 8, 1);
    }
    for (const std::uint32_t n : {2u, 4u}) all("add", ".f32", kF32, 4, n);
    for (const Type& t : {h, b}) {
      for (const std::uint32_t n : {1u, 2u, 4u})
        all("add", "." + std::string(t.name) + "x2", t, 4, n);
      for (const std::uint32_t n : {2u, 4u, 8u}) all("add", "." + std::string(t.name), t, 2, n);
    }
  }
}

// ---- What is found
// -------------------------------------------------------------------------------------------------

void expect_finding(const Outcome& o, Kind kind, const std::string& words) {
  ASSERT_FALSE(o.findings.empty());
  EXPECT_EQ(o.findings[0].kind, kind) << text(o);
  EXPECT_THAT(o.findings[0].to_string(), HasSubstr(words));
}

TEST_F(MultimemTest, AnAddressOfNoObjectIsFound) {
  bind(2, kU32);
  expect_finding(run("multimem.red.global.add.u32 [d11], r15;\n", parts[0]),
                 Kind::kInvalidInstruction, "the address is none of a multicast object");
}

TEST_F(MultimemTest, WhatReachesBeyondTheObjectIsFound) {
  bind(2, kU32);
  expect_finding(
      run("multimem.red.global.add.u32 [d10+" + std::to_string(kBytes) + "], r15;\n", parts[0]),
      Kind::kInvalidInstruction, "the address is none of a multicast object");
}

TEST_F(MultimemTest, OrdinaryAccessesOfItsAddressesAreFound) {
  bind(2, kU32);
  expect_finding(run("st.global.u32 [d10], r15;\n", parts[0]), Kind::kOutOfBounds, "");
  expect_finding(run("ld.global.u32 r1, [d10]; st.global.u32 [d11], r1;\n", parts[0]),
                 Kind::kOutOfBounds, "");
}

TEST_F(MultimemTest, ADeviceWithoutMemoryIsFound) {
  bind(2, kU32);
  range.parts.pop_back();
  gpu.memory.multicast.assign({{address, range}});
  expect_finding(run("multimem.st.global.b32 [d10], r15;\n", parts[0]), Kind::kInvalidInstruction,
                 "device 1 has no memory bound");
}

TEST_F(MultimemTest, AnAddressThatIsNotAlignedIsFound) {
  bind(2, kU32);
  expect_finding(
      run("multimem.ld_reduce.global.add.u32 r1, [d10+2]; st.global.u32 [d11], r1;\n", parts[0]),
      Kind::kMisaligned, "no multiple of 4");
  expect_finding(run("multimem.ld_reduce.global.add.v4.f32 {r0, r1, r2, r3}, [d10+8];\n", parts[0]),
                 Kind::kMisaligned, "no multiple of 16");
}

TEST_F(MultimemTest, MemoryThatNobodyWroteIsFound) {
  bind(1, kU32);
  range.devices.push_back(1);
  range.parts.push_back({1, 0, kBytes, gpu.unwritten(kBytes, "new")});
  gpu.memory.multicast.assign({{address, range}});
  expect_finding(
      run("multimem.ld_reduce.global.add.u32 r1, [d10]; st.global.u32 [d11], r1;\n", parts[0]),
      Kind::kUninitialised, "'new'");
  // A store does not read: it needs no written memory.
  EXPECT_TRUE(run("multimem.st.global.b32 [d10], r15;\n", parts[0]).findings.empty());
}

// A multicast store races with an ordinary access to one device's memory. A strong store does not
// race with a strong access.
TEST_F(MultimemTest, AccessesThatNothingOrdersAreFound) {
  bind(2, kU32);
  const std::string first =
      "sub.u64 d10, d10, d12; sub.u64 d11, d11, d12; setp.eq.u32 p0, r15, 0; setp.eq.u32 p1, r15, "
      "32;\n";
  expect_finding(run(first + "@p0 multimem.st.weak.global.b32 [d10], 5;\n@p1 ld.global.u32 r1, "
                             "[d11];\n@p1 st.global.u32 [d11+512], r1;\n",
                     parts[1]),
                 Kind::kRace, "");
  const Outcome strong =
      run(first + "multimem.red.relaxed.gpu.global.add.u32 [d10], 1;\n", parts[1]);
  EXPECT_TRUE(strong.findings.empty()) << text(strong);
  const Outcome ordered =
      run(first +
              "@p0 multimem.st.weak.global.b32 [d10], 5;\nbar.sync 0;\n@p1 ld.global.u32 r1, "
              "[d11];\n@p1 st.global.u32 [d11+512], r1;\n",
          parts[1]);
  EXPECT_TRUE(ordered.findings.empty()) << text(ordered);
}

}  // namespace multimem_test
}  // namespace lockstep::engine
