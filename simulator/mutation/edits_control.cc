#include <array>
#include <string>
#include <utility>

#include "simulator/isa/opcode.h"
#include "simulator/mutation/edits.h"
#include "simulator/mutation/values.h"

namespace lockstep::mutation {
namespace {

using isa::Opcode;

struct Pair {
  std::string_view word, edge, negated;
};
// The negation of an ordered float comparison is unordered: !(a < b) is true for NaN.
constexpr std::array<Pair, 16> kComparisons = {{
    {".lt", ".le", ".ge"},
    {".le", ".lt", ".gt"},
    {".gt", ".ge", ".le"},
    {".ge", ".gt", ".lt"},
    {".lo", ".ls", ".hs"},
    {".ls", ".lo", ".hi"},
    {".hi", ".hs", ".ls"},
    {".hs", ".hi", ".lo"},
    {".ltu", ".leu", ".ge"},
    {".leu", ".ltu", ".gt"},
    {".gtu", ".geu", ".le"},
    {".geu", ".gtu", ".lt"},
    {".eq", "", ".ne"},
    {".ne", "", ".eq"},
    {".equ", "", ".ne"},
    {".neu", "", ".eq"},
}};

void add_comparison_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (i.opcode != Opcode::k_setp && i.opcode != Opcode::k_set) return;
  for (const Pair& p : kComparisons) {
    if (!has_word(i.text, p.word)) continue;
    const auto to = [&](Operator op, std::string_view word) {
      add(edits, op, std::string(p.word.substr(1)) + " became " + std::string(word.substr(1)),
          with_opcode(site, *replace_word(i.text, p.word, word)));
    };
    if (!p.edge.empty() && !chooses_extreme(site.function, site.index))
      to(Operator::kCompareEdge, p.edge);
    to(Operator::kCompareNegated, p.negated);
    return;
  }
}

void add_guard_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (!i.guard.present) return;
  const bool branch = i.opcode == Opcode::k_bra;
  ptx::Instruction always = i;
  always.guard = {};
  add(edits, Operator::kGuardRemoved,
      branch ? "the branch is always taken" : "is done whatever the condition", std::move(always));
  Edit& never = edits.emplace_back();
  never.op = Operator::kGuardRemoved;
  never.change = branch ? "the branch is never taken" : "is never done";
}

}  // namespace

void add_control_edits(const Site& site, std::vector<Edit>& edits) {
  add_comparison_edits(site, edits);
  add_guard_edits(site, edits);
}

}  // namespace lockstep::mutation
