#include "simulator/mutation/edit.h"

#include <algorithm>
#include <map>
#include <utility>

#include "simulator/isa/forms.h"
#include "simulator/mutation/edits.h"
#include "simulator/mutation/values.h"
#include "simulator/ptx/operand_check.h"

namespace lockstep::mutation {
namespace {

// Caches the matches of an opcode: a module has few opcodes and many instructions.
const std::vector<isa::Match>& matches_of(const std::string& opcode) {
  static auto& known = *new std::map<std::string, std::vector<isa::Match>>;
  const auto [it, first] = known.try_emplace(opcode);
  if (first) it->second = isa::match_opcode(opcode);
  return it->second;
}

bool available(const isa::FormRow& row, const ptx::Module& module) {
  return row.ptx <= module.version_major * 10 + module.version_minor &&
         isa::exists_on(row, module.target_number, module.target_suffix);
}

void move_labels(ptx::Operand& o, std::uint32_t index, std::int64_t by) {
  if (o.kind == ptx::Operand::Kind::kLabel && o.index > index)
    o.index = static_cast<std::uint32_t>(o.index + by);
  for (ptx::Operand& e : o.elements) move_labels(e, index, by);
}

bool is_part_of(const ptx::Operand& o, const std::string& symbol) {
  return o.symbol == symbol ||
         std::any_of(o.elements.begin(), o.elements.end(),
                     [&](const ptx::Operand& e) { return is_part_of(e, symbol); });
}

// Moves the variable to local memory. Instructions that access shared memory can access local
// memory too.
void remove_sharing(ptx::Function& function, const std::string& symbol) {
  for (ptx::Variable& v : function.variables)
    if (v.name == symbol) v.space = ptx::Space::kLocal;
  for (ptx::Instruction& i : function.body)
    if (i.modifiers.space == ptx::Space::kShared &&
        (i.opcode == ptx::Opcode::k_ld || i.opcode == ptx::Opcode::k_st))
      i.modifiers.space = ptx::Space::kLocal;
}

}  // namespace

std::optional<ptx::Instruction> with_opcode(const Site& site, const std::string& opcode,
                                            std::vector<ptx::Operand> operands) {
  const ptx::Instruction& from = site.instruction();
  for (const isa::Match& match : matches_of(opcode)) {
    if (!available(*match.form->row, site.module)) continue;
    for (const auto& rules : match.form->operands) {
      if (!ptx::check_operands(
               match, rules, operands,
               site.registers != nullptr ? *site.registers : site.function.registers)
               .reason.empty())
        continue;
      ptx::Instruction i;
      i.opcode = match.form->row->opcode;
      i.modifiers = match.modifiers;
      i.guard = from.guard;
      i.operands = std::move(operands);
      i.rules = &rules;
      i.row = match.form->row;
      i.source = from.source;
      i.ptx_line = from.ptx_line;
      i.text = opcode;
      return i;
    }
  }
  return std::nullopt;
}

std::optional<ptx::Instruction> with_opcode(const Site& site, const std::string& opcode) {
  return with_opcode(site, opcode, site.instruction().operands);
}

std::optional<std::string> replace_word(std::string_view opcode, std::string_view word,
                                        std::string_view by) {
  for (std::size_t at = opcode.find(word); at != std::string_view::npos;
       at = opcode.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (end != opcode.size() && opcode[end] != '.') continue;
    return std::string(opcode.substr(0, at)) + std::string(by) + std::string(opcode.substr(end));
  }
  return std::nullopt;
}

bool has_word(std::string_view opcode, std::string_view word) {
  return replace_word(opcode, word, "").has_value();
}

ptx::Operand register_operand(std::uint32_t index) {
  ptx::Operand o;
  o.kind = ptx::Operand::Kind::kRegister;
  o.index = index;
  return o;
}

ptx::Operand integer_operand(std::uint64_t bits) {
  ptx::Operand o;
  o.kind = ptx::Operand::Kind::kImmediate;
  o.bits = bits;
  return o;
}

void add(std::vector<Edit>& to, Operator op, std::string change,
         std::optional<ptx::Instruction> instead) {
  if (!instead) return;
  Edit& edit = to.emplace_back();
  edit.op = op;
  edit.change = std::move(change);
  edit.instead.push_back(std::move(*instead));
}

void add_removal(std::vector<Edit>& to, Operator op, std::string change) {
  Edit& edit = to.emplace_back();
  edit.op = op;
  edit.change = std::move(change);
}

bool is_integer(const ptx::Instruction& i, std::size_t n) {
  return n < i.operands.size() && i.operands[n].kind == ptx::Operand::Kind::kImmediate;
}

std::optional<ptx::Instruction> with_integer(const Site& site, std::size_t n, std::uint64_t bits) {
  std::vector<ptx::Operand> operands = site.instruction().operands;
  operands[n].bits = bits;
  return with_opcode(site, site.instruction().text, std::move(operands));
}

Sequence::Sequence(const Site& site, Operator op, std::string change)
    : site_(site), registers_(site.function.registers) {
  edit_.op = op;
  edit_.change = std::move(change);
}

ptx::Operand Sequence::fresh(std::string name, isa::Type type) {
  edit_.registers.push_back({std::move(name), type});
  registers_.push_back(edit_.registers.back());
  return register_operand(static_cast<std::uint32_t>(registers_.size() - 1));
}

void Sequence::emit(const std::string& opcode, std::vector<ptx::Operand> operands) {
  auto instruction = with_opcode({site_.module, site_.function, site_.index, &registers_}, opcode,
                                 std::move(operands));
  whole_ = whole_ && instruction.has_value();
  if (instruction) edit_.instead.push_back(std::move(*instruction));
}

void Sequence::add_to(std::vector<Edit>& edits) {
  if (whole_) edits.push_back(std::move(edit_));
}

std::vector<Edit> edits_of(const Site& site) {
  std::vector<Edit> edits;
  if (site.instruction().row == nullptr) return edits;  // the end of a function
  if (chooses_division(site.function, site.index)) return edits;
  add_thread_edits(site, edits);
  add_memory_edits(site, edits);
  add_control_edits(site, edits);
  add_arithmetic_edits(site, edits);
  add_copy_edits(site, edits);
  add_matrix_edits(site, edits);
  return edits;
}

void apply(ptx::Function& function, std::uint32_t index, Edit edit) {
  if (edit.removes_sharing) {
    const std::string symbol = function.body[index].operands.at(1).symbol;
    remove_sharing(function, symbol);
    return;
  }
  const auto by = static_cast<std::int64_t>(edit.instead.size()) - 1;
  std::move(edit.registers.begin(), edit.registers.end(), std::back_inserter(function.registers));
  const auto at = function.body.erase(function.body.begin() + index);
  function.body.insert(at, std::make_move_iterator(edit.instead.begin()),
                       std::make_move_iterator(edit.instead.end()));
  for (ptx::Instruction& i : function.body)
    for (ptx::Operand& o : i.operands) move_labels(o, index, by);
}

}  // namespace lockstep::mutation
