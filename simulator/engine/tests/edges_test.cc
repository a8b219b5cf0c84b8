// Limits of a legal access, in each state space and for a warp's row of lanes. Its address must be
// a multiple of its whole size, not of half its size. Its last byte must be inside the allocation,
// also if that has an odd size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace edges_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

// How a thread obtains the address of memory in a state space, the state space in its instructions,
// and the memory's name in a finding.
struct Place {
  const char *space, *address, *name;
};
constexpr Place kGlobal = {".global", "ld.param.u64 d0, [x];", "'x'"};
constexpr Place kShared = {".shared", "mov.u64 d0, s;", "'s'"};
constexpr Place kLocal = {".local", "mov.u64 d0, l;", "'l'"};
constexpr Place kConstant = {".const", "mov.u64 d0, c;", "'c'"};
constexpr Place kGenericGlobal = {"", "ld.param.u64 d0, [x];", "'x'"};
constexpr Place kGenericShared = {"", "mov.u64 d0, s; cvta.shared.u64 d0, d0;", "'s'"};
constexpr Place kGenericLocal = {"", "mov.u64 d0, l; cvta.local.u64 d0, d0;", "'l'"};

enum Use { kLoad, kStore, kAtomic };
struct Access {
  Use use;
  std::uint32_t bytes;
  const char* text;  // with $ for the state space
};
constexpr Access kAccesses[] = {
    {kLoad, 1, "ld$.u8 r0, [d0];"},
    {kLoad, 2, "ld$.u16 h0, [d0];"},
    {kLoad, 4, "ld$.u32 r0, [d0];"},
    {kLoad, 4, "ld$.v2.u16 {h0, h1}, [d0];"},
    {kLoad, 8, "ld$.u64 d1, [d0];"},
    {kLoad, 8, "ld$.v2.u32 {r0, r1}, [d0];"},
    {kLoad, 16, "ld$.v4.u32 {r0, r1, r2, r3}, [d0];"},
    {kLoad, 16, "ld$.v2.u64 {d1, d2}, [d0];"},
    {kLoad, 16, "ld$.b128 q0, [d0];"},
    {kStore, 1, "st$.u8 [d0], r0;"},
    {kStore, 2, "st$.u16 [d0], h0;"},
    {kStore, 4, "st$.u32 [d0], r0;"},
    {kStore, 8, "st$.u64 [d0], d1;"},
    {kStore, 16, "st$.v4.u32 [d0], {r0, r1, r2, r3};"},
    {kStore, 16, "st$.v2.f64 [d0], {d1, d2};"},
    {kStore, 16, "st$.b128 [d0], q0;"},
    {kAtomic, 2, "atom$.cas.b16 h0, [d0], h0, h1;"},
    {kAtomic, 4, "atom$.add.u32 r0, [d0], r1;"},
    {kAtomic, 4, "red$.max.s32 [d0], r1;"},
    {kAtomic, 8, "atom$.exch.b64 d1, [d0], d2;"},
    {kAtomic, 16, "atom$.exch.b128 q0, [d0], q0;"},
    {kAtomic, 16, "atom$.cas.b128 q0, [d0], q0, q0;"},
};

bool exists(const Place& place, const Access& access) {
  if (place.name == kConstant.name) return access.use == kLoad;
  return place.name != kLocal.name || access.use != kAtomic;
}

// One thread accesses initialised memory of `bytes` bytes at `offset`.
Outcome access(const Place& place, const Access& what, std::uint32_t bytes, std::uint32_t offset) {
  std::string instruction = what.text;
  instruction.replace(instruction.find('$'), 1, place.space);
  const std::string size = std::to_string(bytes);
  Machine gpu;
  gpu.load_text(".version 9.0\n.target sm_90\n.address_size 64\n.const .align 32 .b8 c[" + size +
                "] = {1};\n"
                ".visible .entry k(.param .u64 x)\n{\n"
                ".reg .pred p; .reg .b16 h<2>; .reg .b32 r<9>; .reg .b64 d<9>; .reg .b128 q<2>;\n"
                ".shared .align 32 .b8 s[" +
                size + "];\n.local .align 32 .b8 l[" + size +
                "];\n"
                "mov.u64 d1, s; mov.u64 d2, l; mov.u32 r0, 0;\n"
                "mov.u16 h0, 0; mov.u16 h1, 1;\n"
                "W: st.shared.u8 [d1], r0; st.local.u8 [d2], r0;\n"
                "add.u64 d1, d1, 1; add.u64 d2, d2, 1; add.u32 r0, r0, 1;\n"
                "setp.lt.u32 p, r0, " +
                size +
                ";\n"
                "@p bra W;\n"
                "mov.u32 r1, 1; mov.u32 r2, 2; mov.u32 r3, 3; mov.b128 q0, {d1, d2};\n" +
                place.address + "\nadd.u64 d0, d0, " + std::to_string(offset) + ";\n" +
                instruction + "\nret;\n}\n");
  return gpu.launch("k", 1, 1, gpu.buffer(std::vector<std::uint8_t>(bytes, 1), "x"));
}

class Edges : public ::testing::TestWithParam<Place> {};

TEST_P(Edges, AnAccessLiesAtAMultipleOfItsWholeSize) {
  for (const Access& a : kAccesses) {
    if (a.bytes == 1 || !exists(GetParam(), a)) continue;
    for (const std::uint32_t offset : {a.bytes, 2 * a.bytes}) {
      const Outcome right = access(GetParam(), a, 64, offset);
      EXPECT_TRUE(right.findings.empty()) << a.text << "\n" << text(right);
    }
    for (const std::uint32_t offset : {a.bytes / 2, a.bytes + a.bytes / 2, a.bytes - 1}) {
      const Outcome wrong = access(GetParam(), a, 64, offset);
      ASSERT_TRUE(wrong.failed()) << a.text << " at " << offset;
      EXPECT_EQ(wrong.findings[0].kind, Kind::kMisaligned) << a.text << "\n" << text(wrong);
      EXPECT_THAT(text(wrong), HasSubstr("no multiple of " + std::to_string(a.bytes))) << a.text;
    }
  }
}

TEST_P(Edges, TheLastByteOfAnAccessIsInside) {
  for (const Access& a : kAccesses) {
    if (!exists(GetParam(), a)) continue;
    const Outcome right = access(GetParam(), a, 32 + a.bytes, 32);
    EXPECT_TRUE(right.findings.empty()) << a.text << "\n" << text(right);
    // Allocations of odd sizes, except the first: each access ends one byte past the end.
    const Outcome wrong = access(GetParam(), a, 32 + a.bytes - 1, 32);
    ASSERT_TRUE(wrong.failed()) << a.text << " ends a byte past the end";
    EXPECT_EQ(wrong.findings[0].kind, Kind::kOutOfBounds) << a.text << "\n" << text(wrong);
    EXPECT_THAT(text(wrong),
                HasSubstr(a.bytes == 1 ? std::string("just past the end of ") + GetParam().name
                                       : std::string("begins inside ") + GetParam().name))
        << a.text;
    if (a.bytes != 1) {
      EXPECT_THAT(text(wrong), HasSubstr("ends 1 byte past its end")) << a.text;
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Place>& info) {
  const std::string space = info.param.space, name = info.param.name;
  return (space.empty() ? "generic_" : space.substr(1) + "_") + name.substr(1, name.size() - 2);
}
INSTANTIATE_TEST_SUITE_P(, Edges,
                         ::testing::Values(kGlobal, kShared, kLocal, kConstant, kGenericGlobal,
                                           kGenericShared, kGenericLocal),
                         name_of);

// Consecutive rows of 32 lanes over memory that ends one byte before the last row does.
class Rows : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Rows, TheLastLanesLastByteIsInside) {
  const std::uint32_t width = GetParam(), row = 32 * width;
  const std::string bits = std::to_string(8 * width), value = width == 8   ? "d7"
                                                              : width == 4 ? "r7"
                                                                           : "h7";
  for (const bool store : {false, true}) {
    for (const bool shared : {false, true}) {
      const std::string space = shared ? ".shared" : ".global";
      const std::string instruction = store ? "st" + space + ".b" + bits + " [A], " + value
                                            : "ld" + space + ".b" + bits + " " + value + ", [A]";
      const auto run = [&](std::uint32_t bytes) {
        std::string body = "W: " + instruction + ";\n";
        body.replace(body.find('A'), 1, shared ? "r1" : "d1");
        Machine gpu;
        gpu.config.checks &= ~check::kInitialisation;  // the shared memory is unwritten
        gpu.load(
            ".visible .entry k(.param .u64 x)\n{\n.reg .pred p; .reg .b16 h<9>; .reg .b32 r<9>; "
            ".reg .b64 d<9>;\n.shared .align 16 .b8 s[" +
            std::to_string(bytes) +
            "];\n"
            "mov.u16 h7, 1; mov.u32 r7, 1; mov.u64 d7, 1; mov.u32 r3, 0;\n"
            "ld.param.u64 d1, [x]; mov.u32 r1, s; mov.u32 r0, %tid.x;\n"
            "mad.wide.u32 d1, r0, " +
            std::to_string(width) + ", d1;\nmad.lo.u32 r1, r0, " + std::to_string(width) +
            ", r1;\n" + body + "add.u64 d1, d1, " + std::to_string(row) + ";\nadd.u32 r1, r1, " +
            std::to_string(row) +
            ";\nadd.u32 r3, r3, 1;\nsetp.lt.u32 p, r3, 3;\n@p bra W;\nret;\n}\n");
        return gpu.launch("k", 1, 32, gpu.buffer(std::vector<std::uint8_t>(bytes, 1), "x"));
      };
      const Outcome right = run(3 * row);
      EXPECT_TRUE(right.findings.empty()) << instruction << "\n" << text(right);
      const Outcome wrong = run(3 * row - 1);
      ASSERT_TRUE(wrong.failed()) << instruction;
      EXPECT_EQ(wrong.findings[0].kind, Kind::kOutOfBounds) << instruction << "\n" << text(wrong);
      EXPECT_EQ(wrong.findings[0].access.thread.x, 31u) << instruction << "\n" << text(wrong);
      EXPECT_EQ(wrong.findings[0].occurrences, 1u) << instruction << "\n" << text(wrong);
      EXPECT_THAT(text(wrong),
                  HasSubstr(width == 1 ? "just past the end" : "ends 1 byte past its end"))
          << instruction;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(OfBytes, Rows, ::testing::Values(1, 2, 4, 8),
                         ::testing::PrintToStringParamName());

}  // namespace edges_test
}  // namespace lockstep::engine
