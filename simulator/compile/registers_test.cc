// Slots of registers: registers that are live together have different slots.
#include "simulator/compile/registers.h"

#include <random>

#include "simulator/compile/liveness.h"
#include "simulator/compile/testing.h"
#include "simulator/isa/opcode.h"

namespace lockstep::compile {
namespace registers_test {

using program::RegisterPlaces;

std::string random_function(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto r = [&] { return "r" + std::to_string(below(12)); };
  const auto d = [&] { return "d" + std::to_string(below(6)); };
  const auto p = [&] { return "p" + std::to_string(below(4)); };
  const unsigned length = 2 + below(40);
  std::string s = ".entry k()\n{\n.reg .pred p<4>; .reg .b32 r<12>; .reg .b64 d<6>;\n";
  for (unsigned i = 0; i < length; ++i) {
    s += "L" + std::to_string(i) + ": " + (below(4) == 0 ? "@" + p() + " " : "");
    switch (below(6)) {
      case 0: s += "bra L" + std::to_string(below(length)) + ";\n"; break;
      case 1: s += "setp.lt.u32 " + p() + ", " + r() + ", " + r() + ";\n"; break;
      case 2: s += "mul.wide.u32 " + d() + ", " + r() + ", " + r() + ";\n"; break;
      case 3: s += "cvt.u32.u64 " + r() + ", " + d() + ";\n"; break;
      default: s += "add.u32 " + r() + ", " + r() + ", " + r() + ";\n"; break;
    }
  }
  return s + "ret;\n}\n";
}

std::uint32_t bytes_of(isa::Type t) {
  return t == isa::Type::kPred ? 4
                               : static_cast<std::uint32_t>(program::kWarpSize * isa::size_of(t));
}

// The registers that are live at an instruction, including those that it uses.
std::vector<std::uint32_t> together(const ptx::Function& f, const Liveness& l, std::uint32_t at) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t v = 0; v < f.registers.size(); ++v) {
    if (!l.ranges[v].empty() && l.ranges[v].first <= at && at <= l.ranges[v].last) all.push_back(v);
  }
  return all;
}

void expect_apart(const ptx::Function& f, const RegisterAllocation& a,
                  const std::vector<std::uint32_t>& registers) {
  for (const std::uint32_t v : registers) {
    ASSERT_NE(a.slots[v], program::kNoSlot) << f.registers[v].name;
    ASSERT_LE(a.slots[v] + bytes_of(f.registers[v].type), a.bytes);
    for (const std::uint32_t w : registers) {
      if (v == w) continue;
      const bool before = a.slots[v] + bytes_of(f.registers[v].type) <= a.slots[w],
                 after = a.slots[w] + bytes_of(f.registers[w].type) <= a.slots[v];
      ASSERT_TRUE(before || after)
          << f.registers[v].name << " and " << f.registers[w].name << " share bytes";
    }
  }
}

TEST(Registers, ThatAreLiveTogetherShareNoByte) {
  std::mt19937 random(3);
  for (int n = 0; n < 300; ++n) {
    const std::string text = random_function(random);
    SCOPED_TRACE(text);
    const ptx::Module m = testing::parsed(text);
    const ptx::Function& f = m.functions[0];
    const RegisterAllocation a = allocate_registers(f, RegisterPlaces::kShared);
    const Liveness l = find_liveness(f);
    for (std::uint32_t at = 0; at < f.body.size(); ++at) expect_apart(f, a, together(f, l, at));
    if (HasFatalFailure()) return;
  }
}

TEST(Registers, EachHaveAPlaceOfTheirOwnWhenAsked) {
  std::mt19937 random(4);
  for (int n = 0; n < 50; ++n) {
    const ptx::Module m = testing::parsed(random_function(random));
    const ptx::Function& f = m.functions[0];
    const RegisterAllocation a = allocate_registers(f, RegisterPlaces::kSeparate);
    std::vector<std::uint32_t> named;
    for (std::uint32_t v = 0; v < f.registers.size(); ++v) {
      if (a.slots[v] != program::kNoSlot) named.push_back(v);
    }
    expect_apart(f, a, named);
    if (HasFatalFailure()) return;
  }
}

TEST(Registers, ThatAreNeverLiveTogetherShareRoom) {
  std::string text = ".entry k()\n{\n.reg .b32 r<100>;\nmov.u32 r0, 0;\n";
  for (int i = 1; i < 100; ++i)
    text += "add.u32 r" + std::to_string(i) + ", r" + std::to_string(i - 1) + ", 1;\n";
  const ptx::Module m = testing::parsed(text + "ret;\n}\n");
  const RegisterAllocation shared = allocate_registers(m.functions[0], RegisterPlaces::kShared);
  const RegisterAllocation separate = allocate_registers(m.functions[0], RegisterPlaces::kSeparate);
  EXPECT_LE(shared.bytes, 3u * 128);
  EXPECT_EQ(separate.bytes, 100u * 128);
  EXPECT_EQ(shared.live, 2);
}

TEST(Registers, ThatNobodyWroteBeforeTheyAreReadAreNamed) {
  const ptx::Module m =
      testing::parsed(".entry k()\n{\n.reg .b32 r<3>;\nadd.u32 r1, r1, r2;\nret;\n}\n");
  EXPECT_EQ(allocate_registers(m.functions[0], RegisterPlaces::kShared).undefined.size(), 2u);
}

}  // namespace registers_test
}  // namespace lockstep::compile
