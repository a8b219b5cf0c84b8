// Random programs, and the generator, judge and reducer for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/fuzz/differential/campaign.h"
#include "simulator/fuzz/differential/catalogue.h"
#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/gpu/helpers.h"
#include "simulator/fuzz/differential/printer.h"
#include "simulator/fuzz/differential/reduce.h"
#include "simulator/fuzz/differential/reference.h"
#include "simulator/fuzz/differential/sums.h"
#include "simulator/fuzz/differential/writer.h"

namespace lockstep::fuzz::differential {
namespace {

std::string text_of(const Program& p) { return module_of(std::span(&p, 1)); }

// With shared and separate register places, with the reference, under three schedules, on one and
// two host threads, with and without checks, for two targets.
TEST(RandomPrograms, GiveTheSameInEveryWay) {
  Plan plan;
  plan.programs = std::getenv("LOCKSTEP_SCALE") ? 4000 : 400;
  plan.seed = 20261122;
  plan.jobs = 1;
  plan.most_mismatches = 3;
  const Tally tally = run(plan, {});
  for (const Mismatch& m : tally.mismatches)
    ADD_FAILURE() << m.judgement.voter << ": " << m.judgement.detail << "\n" << m.ptx;
  EXPECT_EQ(tally.programs, plan.programs);
  EXPECT_GT(tally.referenced, plan.programs * 2 / 5);
  EXPECT_LT(tally.referenced, plan.programs * 4 / 5);
}

TEST(RandomPrograms, AreTheSameForTheSameNumber) {
  const Recipe recipe{12345, 17, false}, again = Recipe::of(recipe.number());
  EXPECT_EQ(text_of(generate(recipe)), text_of(generate(again)));
  EXPECT_NE(text_of(generate(recipe)), text_of(generate({12346, 17, false})));
}

TEST(RandomPrograms, HoldTheRowTheyAreFor) {
  const Catalogue& all = Catalogue::get();
  for (const int row : possible_rows(false)) {
    bool held = false;
    for (std::uint64_t seed = 0; seed < 20 && !held; ++seed) {
      const auto rows = rows_of(generate({seed, row, false}));
      held = std::find(rows.begin(), rows.end(), row) != rows.end();
    }
    EXPECT_TRUE(held) << all.name(row);
  }
}

TEST(RandomPrograms, LeaveOutRowsForAReason) {
  for (const Row& row : Catalogue::get().rows())
    EXPECT_EQ(row.place == Place::kNever, !row.never.empty()) << row.form->syntax;
}

// ptxas accepts programs for silicon at every optimisation level.
TEST(RandomPrograms, AreLegal) {
  std::vector<Program> programs;
  for (std::uint64_t seed = 0; seed < 64; ++seed)
    programs.push_back(generate({seed, seed % 2 ? static_cast<int>(7 * seed) : -1, true}));
  const std::string file = std::string(std::getenv("TEST_TMPDIR")) + "/programs.ptx";
  std::ofstream(file) << module_of(programs);
  for (const char* level : {"-O0", "-O3"}) {
    EXPECT_EQ(std::system((std::string(LOCKSTEP_PTXAS) + " -arch=sm_90 -w " + level +
                           " -o /dev/null " + file)
                              .c_str()),
              0)
        << level;
  }
}

// Instructions that ptxas 13.0.88 assembles wrongly occur only in programs that are not for
// silicon.
TEST(RandomPrograms, ForSiliconLeaveOutWhatPtxasGetsWrong) {
  const std::regex mistakes(
      "@!?p[0-9] testp|@!?p[0-9] set[.][a-z.]*(f32|f16|bf16)[.](f|bf|[busd])[0-9]+ |@!?p[0-9] "
      "set[.][a-z.]*[us]32[.](f16|bf16|[bus]16) |@p[0-9] bra MIDDLE|"
      "cp.async.c[ag][^ ]*L2::cache_hint[^ ]* [[]b_stage|\\nst[.][^ ]*[.][bus]8 [^,]*, "
      "[{]?h[0-3]|cp.async.bulk.shared::cluster.shared::cta");
  // The first line with one of the mistakes. Only guarded lines, stores and copies are searched,
  // because the expression would be slow on all other lines.
  const auto mistake_in = [&](const std::string& text) -> std::string {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const bool may_be = line.find('@') != line.npos || line.starts_with("st.") ||
                          line.find("cp.async") != line.npos;
      if (may_be && std::regex_search("\n" + line, mistakes)) return line;
    }
    return "";
  };
  int others = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    EXPECT_EQ(mistake_in(text_of(generate({seed, -1, true}))), "") << seed;
    if (seed % 10 == 0) others += !mistake_in(text_of(generate({seed, -1, false}))).empty();
  }
  EXPECT_GT(others, 100);
}

// A program with one instruction, whose result is judged.
Program with(Instruction i) {
  Program p;
  p.referenced = true;
  Statement s;
  s.unit.push_back(std::move(i));
  p.body.push_back(s);
  return p;
}
Operand register32(int n) { return of({Class::k32, static_cast<std::uint8_t>(n)}); }

TEST(RandomPrograms, DifferWhereOneInstructionDoes) {
  const Program add = with(instruction("add.u32", {register32(0), register32(1), register32(2)}));
  const Program sub = with(instruction("sub.u32", {register32(0), register32(1), register32(2)}));
  Simulator simulator;
  EXPECT_EQ(judge(add, simulator).voter, "");
  ASSERT_EQ(simulator.load(std::span(&add, 1), {}), "");
  const Result r = simulator.run(add, 0, {});
  EXPECT_EQ(r.error, "");
  EXPECT_EQ(r.memory, reference_result(add));
  EXPECT_NE(r.memory, reference_result(sub));
  EXPECT_NE(digest(r.memory), digest(reference_result(sub)));
  EXPECT_NE(first_difference(sub, r.memory, reference_result(sub), "reference")
                .find("block 0, thread 0: r0 is "),
            std::string::npos);
}

TEST(RandomPrograms, WithARaceAreFound) {
  // Every thread stores to the same place in shared memory, as if the board belonged to a single
  // thread.
  Program p = with(instruction("add.u32", {register32(0), register32(1), register32(2)}));
  Statement s;
  s.kind = Statement::Kind::kText;
  s.lines = {"mov.u64 a0, k0_board;", "st.shared.b32 [a0], r0;"};
  Statement board;
  board.kind = Statement::Kind::kExchange;
  Operand to, from;
  to.kind = Operand::Kind::kAddress;
  to.address.region = Region::kBoard;
  from.kind = Operand::Kind::kVector;
  from.elements.assign(4, {Class::k32, 0});
  board.unit.push_back(instruction("st.shared.v4.b32", {to, from}));
  board.body.push_back(s);
  p.body.push_back(board);
  Simulator simulator;
  const Judgement j = judge(p, simulator);
  EXPECT_EQ(j.voter, "finding");
  EXPECT_NE(j.detail.find("race"), std::string::npos) << j.detail;
}

TEST(Reducer, LeavesWhatShowsIt) {
  // Programs that contain a maximum, however deeply nested, must be reduced to it.
  const auto takes_maximum = [](const Program& p) {
    return text_of(p).find("max.") != std::string::npos;
  };
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 400 && tried < 10; ++seed) {
    const Program p = generate({seed, -1, false});
    if (!takes_maximum(p)) continue;
    ++tried;
    const Program small = reduced(p, takes_maximum);
    EXPECT_TRUE(takes_maximum(small));
    EXPECT_LE(size_of(small), 12u) << text_of(small);
    EXPECT_LT(size_of(small), size_of(p));
  }
  EXPECT_EQ(tried, 10);
}

// A program with one statement for a row. Afterwards, every thread only stores its registers, or
// loads its own bytes of shared or local memory.
Program alone(int row, std::uint64_t seed, Region read_back = Region::kInput) {
  Program p;
  p.target = 100;
  p.suffix = 'a';
  p.referenced = true;
  p.threads = 64;
  p.input_offset = 256;
  Choices choose(seed);
  Writer(choose, p, Menu::of(p.target, false, true), false).write(row, {}, p.body);
  if (read_back == Region::kInput) return p;
  Statement loads;
  for (std::uint32_t half = 0; half < 2; ++half) {
    Operand to, from;
    to.kind = Operand::Kind::kVector;
    for (std::uint32_t i = 0; i < 4; ++i)
      to.elements.push_back({Class::k32, static_cast<std::uint8_t>(4 * half + i)});
    from.kind = Operand::Kind::kAddress;
    from.address.region = read_back;
    from.address.offset = 16 * half;
    loads.unit.push_back(instruction(
        read_back == Region::kShared ? "ld.shared.v4.b32" : "ld.local.v4.b32", {to, from}));
  }
  p.body.push_back(loads);
  return p;
}

// Rows whose results the reference computes. For text, it knows only the registers that the text
// declares. Barriers that only wait have no result, and the text ignores the result of
// mbarrier.pending_count.
std::vector<int> referenced_rows() {
  const Catalogue& all = Catalogue::get();
  std::vector<int> rows;
  for (std::size_t r = 0; r < all.rows().size(); ++r) {
    const int row = static_cast<int>(r);
    const isa::FormRow& form = *all.rows()[r].form;
    if (Menu::of(100, false, true).examples[r].empty() ||
        form.opcode == isa::Opcode::k_mbarrier_pending_count)
      continue;
    const Place place = all.rows()[r].place;
    if (place == Place::kControl ||
        (place == Place::kBarrier && form.syntax.find(".red.") == std::string_view::npos))
      continue;
    const Program p = alone(row, 1);
    if (p.body.empty() || (place == Place::kText && p.body.front().effects.empty())) continue;
    rows.push_back(row);
  }
  return rows;
}

JUDGES_ROWS(Reference, JudgesEveryRowAlone, [] {
  std::vector<const isa::FormRow*> forms;
  for (const int row : referenced_rows())
    forms.push_back(Catalogue::get().rows()[static_cast<std::size_t>(row)].form);
  return forms;
});
TEST(Reference, JudgesEveryRowAlone) {
  Simulator simulator;
  for (const int row : referenced_rows()) {
    std::set<const isa::FormRow*> executed;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      for (const Region read_back : {Region::kInput, Region::kShared, Region::kLocal}) {
        const Program p = alone(row, seed, read_back);
        ASSERT_EQ(simulator.load(std::span(&p, 1), {}), "") << text_of(p);
        const Result r = simulator.run(p, 0, {.rows = &executed});
        ASSERT_EQ(r.error, "") << text_of(p);
        const auto expected = reference_result(p);
        ASSERT_EQ(r.memory, expected)
            << first_difference(p, r.memory, expected, "reference") << "\n"
            << text_of(p);
      }
    }
    const isa::FormRow* form = Catalogue::get().rows()[static_cast<std::size_t>(row)].form;
    if (executed.contains(form)) coverage::ran(*form, {});
  }
}

// Prepares and digests the programs' memory with the GPU's kernels, here on the simulated GPU.
TEST(Helpers, PrepareAndDigestAsTheHostDoes) {
  const Program small = generate({1, -1, true}), large = generate({2, -1, true});
  const Layout layouts[] = {Layout(small), Layout(large)};
  constexpr std::uint32_t kStride = Layout::kWhole;
  engine::testing::Machine gpu;
  gpu.load_text(kHelpers);
  std::vector<std::uint8_t> noise(2 * kStride, 0xa5);
  const auto memory = gpu.buffer(noise);
  const auto sizes = gpu.buffer<std::uint32_t>(
      {layouts[0].bytes, layouts[0].sums, layouts[1].bytes, layouts[1].sums});
  const auto digests = gpu.buffer<std::uint64_t>({0, 0});
  EXPECT_EQ(engine::testing::text(
                gpu.launch("prepare", 2, 128, memory, sizes, kStride, kSumStart, kSums)),
            "");
  const Program* programs[] = {&small, &large};
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<std::uint8_t> expected(layouts[i].bytes);
    prepare(*programs[i], expected);
    const auto all = gpu.fetch<std::uint8_t>(memory, noise.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(i * kStride)));
    EXPECT_EQ(all[i * kStride + layouts[i].bytes], 0xa5) << "beyond";
  }
  const auto arena =
      gpu.buffer<std::uint32_t>({input_data().begin(), input_data().begin() + 2 * kStride / 4});
  EXPECT_EQ(engine::testing::text(gpu.launch("digest", 2, 128, arena, sizes, kStride, digests)),
            "");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(input_data().data());
  EXPECT_THAT(gpu.fetch<std::uint64_t>(digests, 2),
              testing::ElementsAre(digest({bytes, layouts[0].bytes}),
                                   digest({bytes + kStride, layouts[1].bytes})));
}

struct Case {
  const char* opcode;
  std::vector<std::uint64_t> sources;
  std::uint64_t result;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.opcode; }

class ByHand : public testing::TestWithParam<Case> {};

// Values that were computed by hand from the manual.
TEST_P(ByHand, GivesWhatTheManualSays) {
  const Catalogue& all = Catalogue::get();
  const int example = all.find(GetParam().opcode, GetParam().sources.size() + 1, 0);
  bool carry = false;
  Values v;
  ASSERT_TRUE(evaluate(all.example(example).spelling, GetParam().sources, carry, v));
  EXPECT_EQ(v.first, GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(
    Manual, ByHand,
    testing::Values(
        Case{"add.sat.s32", {0x7fffffff, 1}, 0x7fffffff},
        Case{"mul.hi.s32", {0xffffffff, 2}, 0xffffffff},
        Case{"mul.wide.u16", {0xffff, 0xffff}, 0xfffe0001},
        Case{"mad24.lo.s32", {0x00ffffff, 3, 5}, 2}, Case{"sad.s32", {3, 0xfffffffe, 1}, 6},
        Case{"rem.s32", {0xfffffff9, 3}, 0xffffffff}, Case{"popc.b64", {0xff00000000000001}, 9},
        Case{"bfind.s32", {0xfffffff0}, 3}, Case{"bfe.s32", {0x00000f00, 8, 4}, 0xffffffff},
        Case{"bfi.b32", {0xff, 0, 4, 8}, 0xff0}, Case{"fns.b32", {0x00000050, 0, 2}, 6},
        Case{"lop3.b32", {0xf0, 0xcc, 0xaa, 0xe4}, 0xe4},
        Case{"shf.l.clamp.b32", {0x12345678, 0x9abcdef0, 40}, 0x12345678},
        Case{"shf.r.wrap.b32", {0x12345678, 0x9abcdef0, 36}, 0x01234567},
        Case{"prmt.b32", {0x33221100, 0x77665544, 0x8073}, 0x00007733},
        Case{"dp4a.s32.s32", {0xff010203, 0x01010101, 10}, 15},
        Case{"add.rn.f32", {0x3f800000, 0x33800000}, 0x3f800000},
        Case{"add.rp.f32", {0x3f800000, 0x33800000}, 0x3f800001},
        Case{"fma.rn.f32", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
        Case{"add.ftz.f32", {0x00000001, 0x00000001}, 0},
        Case{"min.f32", {0x7fc00000, 0x40000000}, 0x40000000},
        Case{"min.f32", {0x00000000, 0x80000000}, 0x80000000},
        Case{"sqrt.rn.f64", {0x4010000000000000}, 0x4000000000000000},
        Case{"cvt.rzi.s32.f32", {0xc0200000}, 0xfffffffffffffffe},
        Case{"cvt.sat.u8.s32", {0x12c}, 255}, Case{"cvt.rn.f16.f32", {0x477ff000}, 0x7c00},
        Case{"cvt.rn.satfinite.bf16.f32", {0x7f800000}, 0x7f7f},
        Case{"add.rn.f16x2", {0x3c003c00, 0x40003c00}, 0x42004000},
        Case{"set.lt.u32.s32", {0xffffffff, 0}, 0xffffffff},
        Case{"slct.b32.f32", {1, 2, 0x80000000}, 1}, Case{"testp.normal.f32", {0}, 1},
        Case{"cvt.pack.sat.u16.s32", {0x12345, 0xffffffff}, 0xffff0000}));

}  // namespace
}  // namespace lockstep::fuzz::differential
