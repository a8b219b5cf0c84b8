// Compares the table of instruction forms with ptxas, and checks it for consistency.
#include "simulator/isa/forms.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/isa/form_examples.h"
#include "simulator/isa/names.h"
#include "simulator/ptx/parser.h"

namespace lockstep::isa {
namespace {

struct Assembled {
  bool ok = false;
  std::set<int> wrong_lines;
  std::string log;
};

// Runs ptxas on `text`; LOCKSTEP_PTXAS, set by the BUILD file, is its path. Optimises for targets
// that end in a letter: without the optimiser, wgmma takes ten times as long.
Assembled assemble(const std::string& text, const std::string& target) {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string base = std::string(folder ? folder : "/tmp") + "/forms";
  std::ofstream(base + ".ptx") << text;
  const std::string level = target.ends_with('a') ? " -O1" : " -O0";
  const std::string command = std::string(LOCKSTEP_PTXAS) + level + " -arch=" + target + " " +
                              base + ".ptx -o /dev/null > " + base + ".log 2>&1";
  Assembled result;
  result.ok = std::system(command.c_str()) == 0;
  std::ifstream log(base + ".log");
  for (std::string line; std::getline(log, line);) {
    result.log += line + "\n";
    int number = 0;
    const std::size_t at = line.find(", line ");
    const bool bad =
        line.find("; error") != std::string::npos || line.find("; fatal") != std::string::npos;
    if (at != std::string::npos && bad && std::sscanf(line.c_str() + at, ", line %d", &number) == 1)
      result.wrong_lines.insert(number);
  }
  return result;
}

const std::vector<Example>& pairs() {
  static const std::vector<Example> examples = pairwise_examples();
  return examples;
}

// The examples, grouped by the oldest target of their rows.
std::map<std::string, std::vector<Example>> by_target(const std::vector<Example>& examples) {
  std::map<std::string, std::vector<Example>> groups;
  for (const Example& e : examples) groups[target_of(*e.spelling.form->row)].push_back(e);
  return groups;
}

TEST(Forms, PtxasAcceptsEveryRowFromTheTargetItClaims) {
  std::size_t count = 0;
  for (const auto& [target, examples] : by_target(pairs())) {
    std::vector<int> lines;
    const std::string text = example_module(examples, "9.0", target, &lines);
    const Assembled result = assemble(text, target);
    count += examples.size();
    EXPECT_TRUE(result.ok) << target << "\n" << result.log.substr(0, 2000);
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_FALSE(result.wrong_lines.contains(lines[i]))
          << target << ": " << examples[i].text << " of " << examples[i].spelling.form->row->syntax;
  }
  EXPECT_GT(count, 20000u);
}

// One example a row, assembled for the next older target. If ptxas accepted it there, the row would
// refuse working programs.
TEST(Forms, PtxasRefusesEveryRowBelowTheTargetItClaims) {
  const std::map<int, int> older{{80, 75}, {86, 80}, {89, 86}, {90, 89}, {100, 90}};
  std::map<std::string, std::vector<Example>> groups;
  // These examples also match an older row; their own row adds words that its first example omits.
  const Form* last = nullptr;
  for (Example& e : all_examples()) {
    const Form* form = e.spelling.form;
    if (form == last || form->row->sm == 75) continue;
    last = form;
    bool elsewhere = false;
    for (const Match& m : match_opcode(e.spelling.text))
      elsewhere |=
          m.form->row->sm < form->row->sm && m.form->operands.size() == form->operands.size();
    if (elsewhere) continue;
    const int below = form->row->suffix != 0 ? form->row->sm : older.at(form->row->sm);
    groups["sm_" + std::to_string(below)].push_back(std::move(e));
  }
  std::size_t count = 0;
  for (const auto& [target, examples] : groups) {
    std::vector<int> lines;
    const Assembled result = assemble(example_module(examples, "9.0", target, &lines), target);
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_TRUE(result.wrong_lines.contains(lines[i]))
          << target << " accepts " << examples[i].text << ", the table claims "
          << target_of(*examples[i].spelling.form->row);
    count += examples.size();
  }
  EXPECT_GT(count, 100u);
}

// One example of each row of targets with a suffix: table and ptxas must agree on the targets that
// have it.
TEST(Forms, PtxasAndTheTableAgreeOnTargetsWithASuffix) {
  std::vector<Example> examples;
  for (Example& e : all_examples()) {
    const FormRow* row = e.spelling.form->row;
    if (row->suffix != 0 && (examples.empty() || examples.back().spelling.form->row != row))
      examples.push_back(std::move(e));
  }
  ASSERT_GT(examples.size(), 50u);
  for (const auto& [number, suffix] : std::vector<std::pair<int, char>>{
           {90, 'a'}, {100, 'a'}, {100, 'f'}, {103, 'a'}, {110, 'a'}, {110, 'f'}, {120, 'a'}}) {
    const std::string target = "sm_" + std::to_string(number) + suffix;
    std::vector<int> lines;
    const Assembled result = assemble(example_module(examples, "9.0", target, &lines), target);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(!result.wrong_lines.contains(lines[i]),
                exists_on(*examples[i].spelling.form->row, number, suffix))
          << target << ": " << examples[i].text;
    }
  }
}

// Makes sure that the list of wrong lines can fill: otherwise the test above is worthless.
TEST(Forms, PtxasIsHeard) {
  std::vector<Example> examples(pairs().begin(), pairs().begin() + 3);
  examples[1].text = "add.u32 r0, r8;";
  std::vector<int> lines;
  const Assembled result = assemble(example_module(examples, "9.0", "sm_75", &lines), "sm_75");
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.wrong_lines, (std::set<int>{lines[1]}));
}

TEST(Forms, TheParserReadsEveryExampleAndFindsItsModifiers) {
  for (const auto& [target, examples] : by_target(pairs())) {
    const auto parsed = ptx::parse(example_module(examples, "9.0", target));
    if (const auto* error = std::get_if<ptx::ParseError>(&parsed)) {
      ADD_FAILURE() << target << ": " << error->to_string();
      continue;
    }
    std::size_t next = 0;
    for (const ptx::Function& f : std::get<ptx::Module>(parsed).functions) {
      if (!f.is_kernel) continue;
      for (std::size_t i = 0; i + 2 < f.body.size(); ++i, ++next) {  // the last two end the kernel
        const Example& e = examples[next];
        ASSERT_EQ(f.body[i].text, e.spelling.text);
        EXPECT_EQ(f.body[i].opcode, e.spelling.form->row->opcode) << e.text;
        if (e.spelling.form->row->opcode != Opcode::k_call) {
          EXPECT_EQ(f.body[i].operands.size(), e.operands->size()) << e.text;
        }
        // Another row may accept the same spelling; it must have the same meaning.
        EXPECT_EQ(std::memcmp(&f.body[i].modifiers, &e.spelling.modifiers, sizeof(Modifiers)), 0)
            << e.text;
      }
    }
    EXPECT_EQ(next, examples.size());
  }
}

// Words without effect in the simulator, and what they are replaced with.
std::vector<std::pair<std::string, std::string>> synonyms() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const char* hint : {".L1::evict_normal",
                           ".L1::evict_unchanged",
                           ".L1::evict_first",
                           ".L1::evict_last",
                           ".L1::no_allocate",
                           ".L2::evict_last",
                           ".L2::evict_normal",
                           ".L2::evict_first",
                           ".L2::evict_unchanged",
                           ".L2::cache_hint",
                           ".L2::64B",
                           ".L2::128B",
                           ".L2::256B",
                           ".L1",
                           ".collector::a::fill",
                           ".collector::a::use",
                           ".collector::a::lastuse",
                           ".collector::a::discard",
                           ".block32",
                           ".scale_vec::1X",
                           ".scale_vec::2X",
                           ".L2",
                           "::entry",
                           "::func"})
    list.emplace_back(hint, "");
  for (const char* buffer : {"b0", "b1", "b2", "b3"}) {
    for (const char* use : {"fill", "use", "lastuse", "discard"})
      list.emplace_back(std::string(".collector::") + buffer + "::" + use, "");
  }
  list.emplace_back(".scale_vec::4X", ".block16");
  list.emplace_back(".shared::cta", ".shared");
  return list;
}

std::string without_synonyms(std::string text) {
  static const auto list = synonyms();
  for (const auto& [from, to] : list) {
    for (std::size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  }
  for (const std::string word : {"bar", "barrier"}) {
    if (text.starts_with(word + ".cta")) text.erase(word.size(), 4);
  }
  return text;
}

// If two spellings of an opcode had the same modifiers, a word would have been ignored.
TEST(Forms, DifferentSpellingsHaveDifferentModifiers) {
  std::map<std::string, std::string> seen;
  for (const Spelling& s : enumerate_forms()) {
    std::string key(opcode_name(s.form->row->opcode));
    key.append(reinterpret_cast<const char*>(&s.modifiers), sizeof(Modifiers));
    const std::string spelling = without_synonyms(s.text);
    const auto [it, inserted] = seen.emplace(key, spelling);
    EXPECT_EQ(it->second, spelling);
  }
}

TEST(Forms, EveryOpcodeHasARow) {
  std::set<Opcode> with_row;
  for (const Form& f : forms()) with_row.insert(f.row->opcode);
  for (int i = 1; i < static_cast<int>(Opcode::kCount); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    if (opcode == Opcode::k_istypep)
      continue;  // textures: whether the address is a reference; handles are not
    EXPECT_TRUE(with_row.contains(opcode)) << opcode_name(opcode);
  }
}

TEST(Forms, WordsInAnotherOrderAreAcceptedAsPtxasDoes) {
  const auto matches = match_opcode("atom.global.cta.add.u32");
  ASSERT_FALSE(matches.empty());
  EXPECT_EQ(matches[0].modifiers.scope, Scope::kCta);
  EXPECT_EQ(matches[0].modifiers.space, Space::kGlobal);
  EXPECT_EQ(matches[0].modifiers.atom, AtomOp::kAdd);
}

TEST(Forms, TwoTypesKeepTheirOrder) {
  const auto matches = match_opcode("cvt.rn.f32.s64");
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].modifiers.type, Type::kF32);
  EXPECT_EQ(matches[0].modifiers.source_type, Type::kS64);
}

TEST(Forms, NothingMatchesWhatIsNotInTheTable) {
  for (const char* opcode :
       {"add.f33", "add", "add.rn.s32", "mul.u32", "ld.global", "ld.global.nc.local.f32", "fma.f32",
        "add.f32.f32", "setp.num.u32", "st.const.u32", "cvt.f32.f64", "atom.add.s64",
        "shfl.idx.b32", "bar", "frobnicate.u32", "", "."})
    EXPECT_TRUE(match_opcode(opcode).empty()) << opcode;
}

TEST(Forms, MessagesNameWhatMayFollow) {
  EXPECT_EQ(explain_no_match("bar.wait"),
            "after 'bar' there may be .arrive .cta .red .sync .warp, not .wait");
  EXPECT_EQ(explain_no_match("fma.rn.ftz"),
            "after 'fma.rn.ftz' there may be .f16 .f16x2 .f32 .f32x2 .relu .sat");
  EXPECT_EQ(explain_no_match("frobnicate"), "");
}

}  // namespace
}  // namespace lockstep::isa
