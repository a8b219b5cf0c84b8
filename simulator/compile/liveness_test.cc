// Compares the analysis by basic blocks with the definition: a register is live if some path reads
// it before anything writes it.
#include "simulator/compile/liveness.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "simulator/compile/testing.h"

namespace lockstep::compile {
namespace liveness_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string kernel(const std::string& body) {
  return ".entry k()\n{\n.reg .pred p<4>; .reg .b32 r<8>;\n" + body + "\nret;\n}\n";
}

std::vector<std::string> names(const ptx::Function& f,
                               const std::vector<std::uint32_t>& registers) {
  std::vector<std::string> all;
  for (const std::uint32_t v : registers) all.push_back(f.registers[v].name);
  return all;
}

std::vector<std::string> undefined(const std::string& body) {
  const ptx::Module m = testing::parsed(kernel(body));
  return names(m.functions[0], find_liveness(m.functions[0]).undefined);
}

TEST(Liveness, WhatIsReadBeforeItIsWrittenIsUndefined) {
  EXPECT_THAT(undefined("add.u32 r1, r1, 1;"), ElementsAre("r1"));
  EXPECT_THAT(undefined("mov.u32 r1, 0; add.u32 r1, r1, 1;"), IsEmpty());
  EXPECT_THAT(undefined("setp.eq.u32 p1, r0, 0; @p1 bra L; mov.u32 r1, 0; L: add.u32 r2, r1, 1;"),
              ElementsAre("r0", "r1"));
}

TEST(Liveness, WhatEveryPathHasWrittenBeforeIsDefined) {
  EXPECT_THAT(undefined("mov.u32 r1, 0; bra L; L: add.u32 r2, r1, 1;"), IsEmpty());
  EXPECT_THAT(undefined("setp.eq.u32 p1, 1, 0; @p1 bra L; mov.u32 r1, 0; bra M; L: mov.u32 r1, 1; "
                        "M: add.u32 r2, r1, 1;"),
              IsEmpty());
}

TEST(Liveness, AGuardedWriteDefinesForItsGuardsSake) {
  EXPECT_THAT(undefined("setp.eq.u32 p1, 1, 0; @p1 mov.u32 r1, 0; @p1 add.u32 r2, r1, 1;"),
              IsEmpty());
}

TEST(Liveness, AGuardedWriteKillsNothing) {
  const ptx::Module m = testing::parsed(kernel(
      "mov.u32 r1, 1; setp.eq.u32 p1, r1, 0; bra L; L: @p1 mov.u32 r1, 2; add.u32 r2, r1, 1;"));
  const ptx::Function& f = m.functions[0];
  const Liveness l = find_liveness(f);
  const auto r1 = static_cast<std::uint32_t>(f.body[0].operands[0].index);
  ASSERT_EQ(l.blocks.size(), 2u);
  EXPECT_TRUE(l.blocks[1].in.has(r1));
}

TEST(Liveness, ARegisterThatALoopReadsLivesThroughTheLoop) {
  const ptx::Module m =
      testing::parsed(kernel("mov.u32 r1, 1; mov.u32 r2, 0; L: add.u32 r3, r1, r2; add.u32 r2, r2, "
                             "1; setp.lt.u32 p1, r2, 9; @p1 bra L;"));
  const ptx::Function& f = m.functions[0];
  const Liveness l = find_liveness(f);
  EXPECT_EQ(l.ranges[f.body[0].operands[0].index].last, 5u)
      << "r1 is read again after the branch back";
}

TEST(Liveness, AFunctionWithoutInstructionsHasNoRanges) {
  ptx::Function f;
  f.registers.resize(3);
  const Liveness l = find_liveness(f);
  EXPECT_TRUE(l.blocks.empty());
  EXPECT_EQ(l.ranges.size(), 3u);
  EXPECT_TRUE(l.ranges[0].empty());
}

// Random functions with additions, some of them guarded, and branches forward and back.
std::string random_body(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const unsigned length = 1 + below(24);
  std::string s;
  for (unsigned i = 0; i < length; ++i) {
    s += "L" + std::to_string(i) + ": ";
    const std::string guard = below(3) == 0 ? "@p" + std::to_string(below(4)) + " " : "";
    const auto r = [&] { return "r" + std::to_string(below(8)); };
    switch (below(5)) {
      case 0: s += guard + "bra L" + std::to_string(below(length)) + ";\n"; break;
      case 1:
        s += guard + "setp.lt.u32 p" + std::to_string(below(4)) + ", " + r() + ", " + r() + ";\n";
        break;
      case 2: s += guard + "exit;\n"; break;
      default: s += guard + "add.u32 " + r() + ", " + r() + ", " + r() + ";\n"; break;
    }
  }
  return s;
}

// Whether `v` is live before instruction `at`, by following all paths.
bool live_before(const ptx::Function& f, std::uint32_t at, std::uint32_t v,
                 std::set<std::uint32_t>& seen) {
  if (at >= f.body.size() || !seen.insert(at).second) return false;
  const ptx::Instruction& i = f.body[at];
  bool written = false;
  for (const ptx::RegisterAccess& a : ptx::register_accesses(i)) {
    if (a.index != v) continue;
    if (!a.writes) return true;
    written |= !i.guard.present;
  }
  if (written) return false;
  const ptx::Successors next = ptx::successors(i);
  if (next.next && live_before(f, at + 1, v, seen)) return true;
  return std::ranges::any_of(next.targets,
                             [&](std::uint32_t t) { return live_before(f, t, v, seen); });
}

TEST(Liveness, IsWhatEveryPathSays) {
  std::mt19937 random(7);
  for (int n = 0; n < 500; ++n) {
    const std::string body = random_body(random);
    const ptx::Module m = testing::parsed(kernel(body));
    const ptx::Function& f = m.functions[0];
    const Liveness l = find_liveness(f);
    for (const BasicBlock& b : l.blocks) {
      for (std::uint32_t v = 0; v < f.registers.size(); ++v) {
        std::set<std::uint32_t> seen;
        ASSERT_EQ(b.in.has(v), live_before(f, b.begin, v, seen))
            << f.registers[v].name << " before instruction " << b.begin << " of\n"
            << body;
      }
    }
  }
}

// Whether a path from instruction `at` reads `v` before writing it. A guarded write counts as a
// write.
bool read_unwritten(const ptx::Function& f, std::uint32_t at, std::uint32_t v,
                    std::set<std::uint32_t>& seen) {
  if (at >= f.body.size() || !seen.insert(at).second) return false;
  const ptx::Instruction& i = f.body[at];
  bool written = false;
  for (const ptx::RegisterAccess& a : ptx::register_accesses(i)) {
    if (a.index != v) continue;
    if (!a.writes) return true;
    written = true;
  }
  if (written) return false;
  const ptx::Successors next = ptx::successors(i);
  if (next.next && read_unwritten(f, at + 1, v, seen)) return true;
  return std::ranges::any_of(next.targets,
                             [&](std::uint32_t t) { return read_unwritten(f, t, v, seen); });
}

TEST(Liveness, UndefinedIsWhatSomePathReadsUnwritten) {
  std::mt19937 random(11);
  std::size_t defined = 0, all = 0;
  for (int n = 0; n < 500; ++n) {
    const std::string body = random_body(random);
    const ptx::Module m = testing::parsed(kernel(body));
    const ptx::Function& f = m.functions[0];
    std::vector<std::uint32_t> expected;
    for (std::uint32_t v = 0; v < f.registers.size(); ++v) {
      std::set<std::uint32_t> seen;
      if (read_unwritten(f, 0, v, seen)) expected.push_back(v);
    }
    ASSERT_EQ(find_liveness(f).undefined, expected) << body;
    defined += f.registers.size() - expected.size();
    all += f.registers.size();
  }
  // Neither case is rare.
  EXPECT_GT(defined, all / 10);
  EXPECT_LT(defined, all - all / 10);
}

}  // namespace liveness_test
}  // namespace lockstep::compile
