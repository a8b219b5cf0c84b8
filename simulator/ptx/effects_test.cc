#include "simulator/ptx/effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "simulator/isa/form_examples.h"
#include "simulator/ptx/parser.h"

namespace lockstep::ptx {
namespace effects_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Module parsed(const std::string& text) {
  auto result = parse(text);
  if (const auto* error = std::get_if<ParseError>(&result)) {
    ADD_FAILURE() << error->to_string();
    return {};
  }
  return std::get<Module>(std::move(result));
}

// The registers of one instruction, in order: "r1" is read, "=r1" written.
std::vector<std::string> accesses(const std::string& instruction) {
  const Module m = parsed(
      ".version 9.0\n.target sm_90\n.address_size 64\n.func (.param .b32 z) f(.param .b32 "
      "y)\n{\nret;\n}\n.entry k(.param .b64 x)\n{\n"
      ".reg .pred p<8>; .reg .b16 h<8>; .reg .b32 r<8>; .reg .b64 d<8>; .reg .b128 q<8>;\n"
      "t: .branchtargets L, M;\n" +
      instruction + "\nL: ret;\nM: ret;\n}\n");
  std::vector<std::string> all;
  if (m.functions.empty()) return all;
  const Function& f = m.functions.back();
  for (const RegisterAccess& a : register_accesses(f.body.front()))
    all.push_back((a.writes ? "=" : "") + f.registers[a.index].name);
  return all;
}

TEST(Effects, ReadsComeBeforeWrites) {
  EXPECT_THAT(accesses("add.s64 d1, d1, d2;"), ElementsAre("d1", "d2", "=d1"));
  EXPECT_THAT(accesses("@!p3 mov.b32 r1, r2;"), ElementsAre("p3", "r2", "=r1"));
  EXPECT_THAT(accesses("setp.lt.and.s32 p1|p2, r1, r2, !p3;"),
              ElementsAre("r1", "r2", "p3", "=p1", "=p2"));
}

TEST(Effects, AddressesAreRead) {
  EXPECT_THAT(accesses("st.global.v2.u32 [d1+8], {r1, r2};"), ElementsAre("d1", "r1", "r2"));
  EXPECT_THAT(accesses("ld.global.v2.u32 {r1, r2}, [d1];"), ElementsAre("d1", "=r1", "=r2"));
  EXPECT_THAT(accesses("atom.global.add.u32 r1, [d1], r1;"), ElementsAre("d1", "r1", "=r1"));
  EXPECT_THAT(accesses("red.global.add.u32 [d1], r1;"), ElementsAre("d1", "r1"));
  EXPECT_THAT(accesses("cp.async.ca.shared.global [r1], [d1], 4;"), ElementsAre("r1", "d1"));
  EXPECT_THAT(accesses("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1], "
                       "[d1], r2, [r3];"),
              ElementsAre("r1", "d1", "r2", "r3"));
  EXPECT_THAT(accesses("cp.async.mbarrier.arrive.shared.b64 [r1];"), ElementsAre("r1"));
  EXPECT_THAT(accesses("mbarrier.init.shared.b64 [r1], r2;"), ElementsAre("r1", "r2"));
  EXPECT_THAT(accesses("mbarrier.inval.shared.b64 [r1];"), ElementsAre("r1"));
  EXPECT_THAT(accesses("mbarrier.expect_tx.shared.b64 [r1], r2;"), ElementsAre("r1", "r2"));
  EXPECT_THAT(accesses("mbarrier.complete_tx.shared.b64 [r1], r2;"), ElementsAre("r1", "r2"));
  EXPECT_THAT(accesses("mbarrier.arrive.shared.b64 d1, [r1];"), ElementsAre("r1", "=d1"));
  EXPECT_THAT(accesses("discard.global.L2 [d1], 128;"), ElementsAre("d1"));
  EXPECT_THAT(accesses("applypriority.global.L2::evict_normal [d1], 128;"), ElementsAre("d1"));
}

TEST(Effects, CallsWriteTheirResultsAlone) {
  EXPECT_THAT(accesses("call (r1), f, (r2);"), ElementsAre("r2", "=r1"));
}

TEST(Effects, UnpackingWritesItsParts) {
  EXPECT_THAT(accesses("mov.b32 {h1, h2}, r1;"), ElementsAre("r1", "=h1", "=h2"));
  EXPECT_THAT(accesses("mov.b32 r1, {h1, h2};"), ElementsAre("h1", "h2", "=r1"));
}

// In the manual, a destination is named d, p or vd and comes first; all other operands are read.
TEST(Effects, OfEveryRowTheFirstOperandAloneIsWrittenAndOnlyWhenItIsADestination) {
  int rows = 0;
  const isa::FormRow* last = nullptr;
  for (const isa::Example& e : isa::pairwise_examples()) {
    const isa::FormRow& row = *e.spelling.form->row;
    if (&row == last || row.opcode == Opcode::k_call) continue;
    last = &row;
    ++rows;
    const Module m = parsed(isa::example_module({&e, 1}, "9.0", isa::target_of(row)));
    ASSERT_FALSE(m.functions.empty()) << e.text;
    const Function& f = m.functions.back();
    std::set<std::string> written, wanted;
    for (const RegisterAccess& a : register_accesses(f.body.front())) {
      if (a.writes) written.insert(f.registers[a.index].name);
    }
    const std::size_t space = row.syntax.find(' ');
    const char first = space == std::string_view::npos ? ' ' : row.syntax[space + 1];
    const bool vector = row.syntax.find(" vd") != std::string_view::npos;
    if (first == 'd' || first == 'p' || vector) {
      // Registers of the first operand, which form_examples numbers below 8.
      const std::string operands = e.text.substr(e.text.find(' '));
      const std::string text =
          operands.substr(0, operands[1] == '{' ? operands.find('}') : operands.find(','));
      const char* const letters = "pcrhdq";
      for (std::size_t at = text.find_first_of(letters); at != std::string::npos;
           at = text.find_first_of(letters, at + 1)) {
        if (at == 0 || text[at - 1] != '.') wanted.insert(text.substr(at, 2));  // not a selector
      }
    }
    if (const std::size_t bar = e.text.find("}|"); bar != std::string::npos)
      wanted.insert(e.text.substr(bar + 2, 2));
    // The reduction of the loaded values goes to a register behind the vector.
    if (row.syntax.find(", d1:") != std::string_view::npos)
      wanted.insert(e.text.substr(e.text.find("}, ") + 3, 2));
    EXPECT_EQ(written, wanted) << e.text << "  of  " << row.syntax;
  }
  EXPECT_GT(rows, 400);
}

TEST(Effects, WhereExecutionGoesOn) {
  const auto after = [](const std::string& instruction) {
    const Module m = parsed(
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .pred p<8>; .reg .b32 "
        "r<8>;\n"
        "t: .branchtargets L, M;\n" +
        instruction + "\nL: ret;\nM: ret;\n}\n");
    return m.functions.empty() ? Successors{} : successors(m.functions.back().body.front());
  };
  EXPECT_TRUE(after("mov.b32 r1, r2;").next);
  EXPECT_FALSE(after("bra M;").next);
  EXPECT_THAT(after("bra M;").targets, ElementsAre(2));
  EXPECT_TRUE(after("@p1 bra M;").next);
  EXPECT_THAT(after("brx.idx r1, t;").targets, ElementsAre(1, 2));
  EXPECT_FALSE(after("brx.idx r1, t;").next);
  for (const char* end : {"ret;", "exit;", "trap;"}) {
    EXPECT_FALSE(after(end).next) << end;
    EXPECT_TRUE(after(std::string("@p1 ") + end).next) << end;
    EXPECT_THAT(after(end).targets, IsEmpty());
  }
}

}  // namespace effects_test
}  // namespace lockstep::ptx
