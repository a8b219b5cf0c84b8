#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "simulator/isa/category.h"
#include "simulator/isa/forms.h"
#include "simulator/isa/names.h"
#include "simulator/mutation/edits.h"
#include "simulator/mutation/values.h"

namespace lockstep::mutation {
namespace {

using isa::Category;
using isa::Opcode;
using isa::Rounding;
using isa::Type;
using ptx::Operand;

// Replaces the first of the words that occurs in the opcode, if the result is valid PTX.
template <std::size_t n>
void add_replaced(const Site& site, Operator op, const std::array<Words, n>& table,
                  std::vector<Edit>& edits) {
  const std::string& text = site.instruction().text;
  for (const Words& w : table) {
    if (!has_word(text, w.from)) continue;
    add(edits, op,
        std::string(w.from.substr(1)) +
            (w.to.empty() ? " is left out" : " became " + std::string(w.to.substr(1))),
        with_opcode(site, *replace_word(text, w.from, w.to)));
    return;
  }
}

bool is_float(Type t) { return t == Type::kF32 || t == Type::kF64; }

// "add.ftz.f32" -> "add" and ".ftz.f32".
std::pair<std::string, std::string> divided(const std::string& opcode) {
  const std::size_t dot = opcode.find('.');
  return {opcode.substr(0, dot), dot == std::string::npos ? "" : opcode.substr(dot)};
}

void add_rounding_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  constexpr std::array<Words, 8> kRoundings = {{{".rn", ".rz"},
                                                {".rz", ".rn"},
                                                {".rm", ".rp"},
                                                {".rp", ".rm"},
                                                {".rni", ".rzi"},
                                                {".rzi", ".rni"},
                                                {".rmi", ".rpi"},
                                                {".rpi", ".rmi"}}};
  add_replaced(site, Operator::kRoundingChanged, kRoundings, edits);
  const bool has_rounding = i.modifiers.rounding != Rounding::kNone;
  const auto [name, rest] = divided(i.text);
  const bool sums =
      i.opcode == Opcode::k_add || i.opcode == Opcode::k_sub || i.opcode == Opcode::k_mul;
  if (!has_rounding && sums && is_float(i.modifiers.type))
    add(edits, Operator::kRoundingChanged, "rounds toward zero",
        with_opcode(site, name + ".rz" + rest));
  const bool quotient =
      i.opcode == Opcode::k_div || i.opcode == Opcode::k_sqrt || i.opcode == Opcode::k_rcp;
  if (quotient && i.modifiers.type == Type::kF32 && has_word(i.text, ".rn"))
    add(edits, Operator::kRoundingChanged, "is the approximate one",
        with_opcode(site, *replace_word(i.text, ".rn", ".approx")));
}

void add_flush_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (i.modifiers.type != Type::kF32 || isa::category_of(i.opcode) == Category::kConvert) return;
  if (i.modifiers.ftz) {
    add(edits, Operator::kFlushChanged, "keeps subnormal numbers",
        with_opcode(site, *replace_word(i.text, ".ftz", "")));
  } else if (const auto flushed = replace_word(i.text, ".f32", ".ftz.f32")) {
    add(edits, Operator::kFlushChanged, "flushes subnormal numbers to zero",
        with_opcode(site, *flushed));
  }
}

void add_product_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const auto [name, rest] = divided(i.text);
  // A product plus zero has one rounding either way.
  if (i.opcode == Opcode::k_fma && i.operands.size() == 4 &&
      !is_zero(site.function, i.operands[3], i.modifiers.type)) {
    const Type type = site.function.registers[i.operands[0].index].type;
    std::vector<ptx::Register> registers = site.function.registers;
    registers.push_back({"%product", type});
    const Site at{site.module, site.function, site.index, &registers};
    const Operand product =
        register_operand(static_cast<std::uint32_t>(site.function.registers.size()));
    auto multiply = with_opcode(at, "mul" + rest, {product, i.operands[1], i.operands[2]});
    auto sum = with_opcode(at, "add" + rest, {i.operands[0], product, i.operands[3]});
    if (multiply && sum) {
      Edit& edit = edits.emplace_back();
      edit.op = Operator::kProductSplit;
      edit.change = "rounds its product";
      edit.registers.push_back(registers.back());
      edit.instead = {std::move(*multiply), std::move(*sum)};
    }
  }
  if ((i.opcode != Opcode::k_add && i.opcode != Opcode::k_sub) || !is_float(i.modifiers.type))
    return;
  // A product computed shortly before in the same basic block, and read only here.
  for (const std::size_t n : {1, 2}) {
    if (i.opcode == Opcode::k_sub && n == 2) break;  // a - b * c needs a negation
    if (i.operands[n].kind != Operand::Kind::kRegister ||
        reads_of(site.function, i.operands[n].index) != 1)
      continue;
    for (std::uint32_t before = site.index; before-- > 0 && site.index - before < 16;) {
      const ptx::Instruction& other = site.function.body[before];
      if (isa::category_of(other.opcode) == Category::kControl) break;
      if (other.opcode != Opcode::k_mul || other.modifiers.type != i.modifiers.type ||
          other.operands[0].index != i.operands[n].index)
        continue;
      if (i.opcode == Opcode::k_sub) break;
      add(edits, Operator::kProductFused, "is fused with the multiplication",
          with_opcode(site,
                      "fma.rn" + std::string(i.modifiers.ftz ? ".ftz" : "") +
                          (i.modifiers.type == Type::kF32 ? ".f32" : ".f64"),
                      {i.operands[0], other.operands[1], other.operands[2], i.operands[3 - n]}));
      break;
    }
  }
}

void add_conversion_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (i.opcode != Opcode::k_cvt) return;
  if (i.modifiers.sat)
    add(edits, Operator::kConversionChanged, "does not saturate",
        with_opcode(site, *replace_word(i.text, ".sat", "")));
  constexpr std::array<Words, 6> kNarrower = {{{".u64", ".u32"},
                                               {".s64", ".s32"},
                                               {".u32", ".u16"},
                                               {".s32", ".s16"},
                                               {".u16", ".u8"},
                                               {".s16", ".s8"}}};
  // The last word is the type of the source.
  const std::size_t dot = i.text.rfind('.');
  const std::string head = i.text.substr(0, dot), type = i.text.substr(dot);
  for (const Words& w : kNarrower) {
    if (type != w.from) continue;
    // A narrower type changes nothing if the destination has no more bits, or if the source's value
    // always fits it.
    const Type narrow = isa::type_from_name(w.to.substr(1));
    if (isa::size_of(i.modifiers.type) <= isa::size_of(narrow)) continue;
    if (const auto bound = most(site.function, i.operands[1]); bound && *bound <= largest(narrow))
      continue;
    add(edits, Operator::kConversionChanged, "is from " + std::string(w.to.substr(1)),
        with_opcode(site, head + std::string(w.to)));
  }
}

// Changes the constant operands. The type of a float constant determines how its bits are read.
void add_constant_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (!isa::computes(isa::category_of(i.opcode))) {
    const Category c = isa::category_of(i.opcode);
    // Stores, atomics and the counts of an mbarrier have constants too.
    if (c != Category::kLoadStore && c != Category::kAtomic && c != Category::kMbarrier) return;
  }
  for (std::size_t n = 0; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    if (o.kind != Operand::Kind::kImmediate) continue;
    const auto changed = [&](std::uint64_t bits, const std::string& change) {
      if (bits == o.bits) return;
      ptx::Instruction other = i;
      other.operands[n].bits = bits;
      add(edits, Operator::kConstantChanged, change, std::move(other));
    };
    if (o.is_float && i.modifiers.type == Type::kF64) {
      const double value = std::bit_cast<double>(o.bits);
      changed(std::bit_cast<std::uint64_t>(value + 1), "the constant is one more");
      changed(std::bit_cast<std::uint64_t>(value - 1), "the constant is one less");
      changed(0, "the constant is zero");
    } else if (o.is_float) {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(o.bits));
      changed(std::bit_cast<std::uint32_t>(value + 1), "the constant is one more");
      changed(std::bit_cast<std::uint32_t>(value - 1), "the constant is one less");
      changed(0, "the constant is zero");
    } else {
      const Type type =
          i.rules == nullptr ? i.modifiers.type : isa::operand_type((*i.rules)[n], i.modifiers);
      const int bytes = std::max(1, isa::size_of(type));
      const std::uint64_t mask =
          bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
      // A signed right shift by the width or more leaves only the sign, as does a shift by one bit
      // less.
      const bool sign = i.opcode == Opcode::k_shr && n == 2 && isa::is_signed(i.modifiers.type) &&
                        o.bits + 1 >= 8u * isa::size_of(i.modifiers.type);
      if (!sign) changed((o.bits + 1) & mask, "the constant is one more");
      changed((o.bits - 1) & mask, "the constant is one less");
      if (o.bits != 1) changed(0, "the constant is zero");  // one less than 1 is zero
    }
  }
}

void add_exchange_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const bool ordered = (i.opcode == Opcode::k_setp || i.opcode == Opcode::k_set) &&
                       i.modifiers.compare != isa::Compare::kEq &&
                       i.modifiers.compare != isa::Compare::kNe;
  switch (i.opcode) {
    case Opcode::k_sub:
    case Opcode::k_div:
    case Opcode::k_rem:
    case Opcode::k_shl:
    case Opcode::k_shr:
    case Opcode::k_selp:
    case Opcode::k_copysign:
    case Opcode::k_prmt: break;
    default:
      if (!ordered) return;
  }
  if (i.operands.size() < 3) return;
  std::vector<Operand> operands = i.operands;
  std::swap(operands[1], operands[2]);
  add(edits, Operator::kOperandsExchanged, "its operands change places",
      with_opcode(site, i.text, std::move(operands)));
}

void add_replacement_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  constexpr std::array<Words, 9> kSiblings = {{{"add", "sub"},
                                               {"sub", "add"},
                                               {"min", "max"},
                                               {"max", "min"},
                                               {"and", "or"},
                                               {"or", "and"},
                                               {"shl", "shr"},
                                               {"shr", "shl"},
                                               {"xor", "or"}}};
  const auto [name, rest] = divided(i.text);
  for (const Words& w : kSiblings) {
    if (name != w.from) continue;
    auto sibling = with_opcode(site, std::string(w.to) + rest);
    // Left shifts operate on bits, right shifts on numbers.
    if (!sibling && name == "shl")
      sibling = with_opcode(site, "shr" + std::string(rest == ".b64"   ? ".u64"
                                                      : rest == ".b16" ? ".u16"
                                                                       : ".u32"));
    if (!sibling && name == "shr") sibling = with_opcode(site, "shl.b" + rest.substr(2));
    add(edits, Operator::kOperationReplaced, name + " became " + std::string(w.to),
        std::move(sibling));
  }
  const bool copies = i.opcode == Opcode::k_cp_reduce_async_bulk ||
                      i.opcode == Opcode::k_cp_reduce_async_bulk_tensor;
  if (isa::category_of(i.opcode) != Category::kAtomic && !copies) return;
  constexpr std::array<Words, 8> kAtomics = {{{".exch", ".add"},
                                              {".min", ".max"},
                                              {".max", ".min"},
                                              {".and", ".or"},
                                              {".or", ".and"},
                                              {".xor", ".or"},
                                              {".inc", ".dec"},
                                              {".dec", ".inc"}}};
  add_replaced(site, Operator::kOperationReplaced, kAtomics, edits);
  // An exchange operates on bits; a reduction has no exchange.
  if (!has_word(i.text, ".add")) return;
  const std::string other =
      *replace_word(i.text, ".add", i.opcode != Opcode::k_atom ? ".max" : ".exch");
  const std::string type = "." + std::string(isa::type_name(i.modifiers.type)),
                    bits = ".b" + std::to_string(8 * isa::size_of(i.modifiers.type));
  if (i.opcode != Opcode::k_atom) {
    add(edits, Operator::kOperationReplaced, "add became max", with_opcode(site, other));
  } else if (const auto exchange = replace_word(other, type, bits)) {
    add(edits, Operator::kOperationReplaced, "add became exch", with_opcode(site, *exchange));
  }
}

}  // namespace

void add_arithmetic_edits(const Site& site, std::vector<Edit>& edits) {
  add_constant_edits(site, edits);
  add_replacement_edits(site, edits);
  const Category category = isa::category_of(site.instruction().opcode);
  if (!isa::computes(category)) return;
  add_rounding_edits(site, edits);
  add_flush_edits(site, edits);
  add_product_edits(site, edits);
  add_conversion_edits(site, edits);
  add_exchange_edits(site, edits);
}

}  // namespace lockstep::mutation
