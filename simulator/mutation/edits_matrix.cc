#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "simulator/isa/names.h"
#include "simulator/isa/opcode.h"
#include "simulator/mutation/edits.h"
#include "simulator/mutation/values.h"

namespace lockstep::mutation {
namespace {

using isa::Opcode;
using isa::Type;
using ptx::Operand;

bool is_of_a_warp(Opcode op) {
  return op == Opcode::k_mma || op == Opcode::k_mma_sp || op == Opcode::k_wmma_mma;
}
bool is_of_a_warpgroup(Opcode op) {
  return op == Opcode::k_wgmma_mma_async || op == Opcode::k_wgmma_mma_async_sp;
}
bool is_of_rows(Opcode op) { return op == Opcode::k_ldmatrix || op == Opcode::k_stmatrix; }
bool is_of_a_fragment(Opcode op) { return op == Opcode::k_wmma_load || op == Opcode::k_wmma_store; }
bool loads(Opcode op) { return op == Opcode::k_ldmatrix || op == Opcode::k_wmma_load; }

// The operand of wgmma that says whether it accumulates. Behind it come the signs of A and B, then
// the transpositions of A, if A is in shared memory, and of B.
std::size_t accumulates_at(const ptx::Instruction& i) {
  return i.opcode == Opcode::k_wgmma_mma_async_sp ? 5 : 3;
}
bool has_a_in_registers(const ptx::Instruction& i) {
  return i.operands[1].kind == Operand::Kind::kVector;
}

void add_accumulator_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (is_of_a_warpgroup(i.opcode)) {
    const std::size_t n = accumulates_at(i);
    const auto with = [&](bool accumulates) {
      std::vector<Operand> operands = i.operands;
      operands[n] = integer_operand(accumulates);
      add(edits, Operator::kAccumulatorChanged,
          accumulates ? "the product is added to what was there" : "the accumulator is left out",
          with_opcode(site, i.text, std::move(operands)));
    };
    if (!is_integer(i, n) || i.operands[n].bits != 0) with(false);
    if (!is_integer(i, n) || i.operands[n].bits == 0) with(true);
    return;
  }
  if (!is_of_a_warp(i.opcode) || i.operands[3].kind != Operand::Kind::kVector) return;
  std::vector<Operand> operands = i.operands;
  std::vector<Operand>& sums = operands[3].elements;
  const auto is_register = [](const Operand& o) { return o.kind == Operand::Kind::kRegister; };
  if (!std::all_of(sums.begin(), sums.end(), is_register)) return;
  const Type type = site.function.registers[sums[0].index].type;
  if (std::all_of(sums.begin(), sums.end(),
                  [&](const Operand& o) { return is_zero(site.function, o, type); }))
    return;
  Sequence s(site, Operator::kAccumulatorChanged, "the accumulator is left out");
  const Operand zero = s.fresh("%zero", type);
  s.emit("mov.b" + std::to_string(8 * isa::size_of(type)), {zero, integer_operand(0)});
  std::fill(sums.begin(), sums.end(), zero);
  s.emit(i.text, std::move(operands));
  s.add_to(edits);
}

void add_fragment_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const auto has_two = [&](std::size_t n) {
    const Operand& o = i.operands[n];
    return o.kind == Operand::Kind::kVector && o.elements.size() > 1 &&
           o.elements[0].index != o.elements[1].index;
  };
  const auto neighbour = [&](std::size_t n, const std::string& name) {
    if (!has_two(n)) return;
    std::vector<Operand> operands = i.operands;
    operands[n].elements[0] = operands[n].elements[1];
    add(edits, Operator::kFragmentChanged, "the first register of " + name + " is the second",
        with_opcode(site, i.text, std::move(operands)));
  };
  if (is_of_a_warp(i.opcode)) {
    neighbour(1, "A");
    neighbour(2, "B");
    neighbour(3, "the accumulator");
  } else if (is_of_a_warpgroup(i.opcode)) {
    neighbour(1, "A");
  } else if (is_of_rows(i.opcode) || is_of_a_fragment(i.opcode)) {
    const std::size_t n = loads(i.opcode) ? 0 : 1;
    if (!has_two(n)) return;
    std::vector<Operand> operands = i.operands;
    std::swap(operands[n].elements[0], operands[n].elements[1]);
    add(edits, Operator::kFragmentChanged, "the first two registers change places",
        with_opcode(site, i.text, std::move(operands)));
  }
}

void add_factor_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const bool warpgroup = is_of_a_warpgroup(i.opcode);
  if (!warpgroup && !is_of_a_warp(i.opcode)) return;
  std::vector<Operand> operands = i.operands;
  std::swap(operands[1], operands[2]);  // only if they have the same number of registers
  add(edits, Operator::kOperandsExchanged, "A and B change places",
      with_opcode(site, i.text, std::move(operands)));
  if (warpgroup) {
    const std::size_t first = accumulates_at(i) + 1;
    for (std::size_t n = first; n < first + 2 && n < i.operands.size(); ++n)
      add(edits, Operator::kSignChanged, n == first ? "A is negated" : "B is negated",
          with_integer(site, n, -i.operands[n].bits));
  }
  const std::string change = i.modifiers.sat ? "the sum does not saturate" : "the sum saturates";
  if (i.modifiers.sat) {
    add(edits, Operator::kSaturationChanged, change,
        with_opcode(site, *replace_word(i.text, ".satfinite", "")));
  } else if (i.modifiers.type == Type::kS32) {
    // wmma has the word at its end, the other instructions have it before the first type.
    const std::string text = i.opcode == Opcode::k_wmma_mma
                                 ? i.text + ".satfinite"
                                 : *replace_word(i.text, ".s32", ".satfinite.s32");
    add(edits, Operator::kSaturationChanged, change, with_opcode(site, text));
  }
}

// Exchanges the n-th of the words .row and .col of an opcode, counted from 0. nullopt if there are
// fewer.
std::optional<std::string> with_layout_turned(const std::string& opcode, int n) {
  for (std::size_t dot = opcode.find('.'); dot != std::string::npos;
       dot = opcode.find('.', dot + 1)) {
    const std::string word = opcode.substr(dot, opcode.find('.', dot + 1) - dot);
    if ((word != ".row" && word != ".col") || n-- > 0) continue;
    return opcode.substr(0, dot) + (word == ".row" ? ".col" : ".row") +
           opcode.substr(dot + word.size());
  }
  return std::nullopt;
}

void add_layout_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const auto turned = [&](int n, const std::string& name) {
    const auto text = with_layout_turned(i.text, n);
    if (text)
      add(edits, Operator::kLayoutChanged, name + " lies the other way", with_opcode(site, *text));
  };
  const auto replaced = [&](const std::string& change, const std::optional<std::string>& text) {
    if (text) add(edits, Operator::kLayoutChanged, change, with_opcode(site, *text));
  };
  if (i.opcode == Opcode::k_mma) {  // the layouts of wmma.mma only repeat those of its loads
    turned(0, "A");
    turned(1, "B");
  } else if (is_of_a_fragment(i.opcode)) {
    turned(0, "the matrix");
  } else if (i.opcode == Opcode::k_movmatrix) {
    add(edits, Operator::kLayoutChanged, "the matrix is not transposed",
        with_opcode(site, "mov.b32"));
  } else if (is_of_rows(i.opcode) && (i.modifiers.shape.m != 8 || i.modifiers.shape.n != 8)) {
    return;  // bytes have one layout only
  } else if (is_of_rows(i.opcode) && i.modifiers.transposed) {
    replaced("the matrices are not transposed", replace_word(i.text, ".trans", ""));
  } else if (is_of_rows(i.opcode)) {
    for (const std::string count : {".x1", ".x2", ".x4"})
      replaced("the matrices are transposed", replace_word(i.text, count, count + ".trans"));
  } else if (is_of_a_warpgroup(i.opcode)) {
    const std::size_t first = accumulates_at(i) + 3;
    for (std::size_t n = first; n < i.operands.size(); ++n) {
      const std::string name = n == first && !has_a_in_registers(i) ? "A" : "B";
      add(edits, Operator::kLayoutChanged, name + " lies the other way",
          with_integer(site, n, i.operands[n].bits ^ 1));
    }
  }
}

// Fields of the descriptor of a matrix in shared memory (PTX ISA 9.7.15.5.1.2). Its distances are
// in units of 16 bytes.
struct DescriptorEdit {
  Operator op;
  const char *operation, *change;
  std::uint64_t by;
};
constexpr std::array<DescriptorEdit, 3> kDescriptorEdits = {{
    {Operator::kAddressShifted, "add.s64", " begins 16 bytes further", 1},
    {Operator::kLayoutChanged, "add.s64", " has its parts of eight rows 16 bytes further apart",
     std::uint64_t{1} << 32},
    {Operator::kLayoutChanged, "xor.b64", " is swizzled in another way", std::uint64_t{3} << 62},
}};

void add_matrix_place_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (is_of_a_warpgroup(i.opcode)) {
    for (const std::size_t n : {1, 2}) {
      if (i.operands[n].kind != Operand::Kind::kRegister) continue;
      for (const DescriptorEdit& e : kDescriptorEdits) {
        Sequence s(site, e.op, std::string(n == 1 ? "A" : "B") + e.change);
        std::vector<Operand> operands = i.operands;
        operands[n] = s.fresh("%described", Type::kB64);
        s.emit(e.operation, {operands[n], i.operands[n], integer_operand(e.by)});
        s.emit(i.text, std::move(operands));
        s.add_to(edits);
      }
    }
  }
  const bool fragment = is_of_a_fragment(i.opcode);
  if (!fragment && !is_of_rows(i.opcode)) return;
  // A row of an 8 x 8 matrix, or the alignment of a fragment.
  const std::int64_t bytes = fragment ? 32 : 16;
  for (const std::int64_t by : {bytes, -bytes}) {
    ptx::Instruction moved = i;
    moved.operands[loads(i.opcode) ? 1 : 0].offset += by;
    add(edits, Operator::kAddressShifted,
        "the access is " + std::to_string(bytes) + (by > 0 ? " bytes further" : " bytes before"),
        std::move(moved));
  }
  if (!fragment || i.operands.size() < 3) return;
  const auto elements = static_cast<std::uint64_t>(16 * 8 / isa::bits_of(i.modifiers.type));
  const std::string change = "the rows are 16 bytes further apart";
  if (is_integer(i, 2)) {
    add(edits, Operator::kAddressShifted, change,
        with_integer(site, 2, i.operands[2].bits + elements));
    return;
  }
  Sequence s(site, Operator::kAddressShifted, change);
  std::vector<Operand> operands = i.operands;
  operands[2] = s.fresh("%stride", Type::kB32);
  s.emit("add.s32", {operands[2], i.operands[2], integer_operand(elements)});
  s.emit(i.text, std::move(operands));
  s.add_to(edits);
}

}  // namespace

void add_matrix_edits(const Site& site, std::vector<Edit>& edits) {
  add_accumulator_edits(site, edits);
  add_fragment_edits(site, edits);
  add_factor_edits(site, edits);
  add_layout_edits(site, edits);
  add_matrix_place_edits(site, edits);
}

}  // namespace lockstep::mutation
