#include "simulator/ptx/operand_check.h"

#include "simulator/isa/category.h"
#include "simulator/isa/names.h"
#include "simulator/ptx/constant.h"

namespace lockstep::ptx {
namespace {

using Kind = Operand::Kind;
using Role = isa::OperandRule::Role;

// Instructions whose registers may be wider than their type (PTX ISA 9.4.1).
bool allows_wider_registers(Opcode op) {
  return op == Opcode::k_ld || op == Opcode::k_ldu || op == Opcode::k_st || op == Opcode::k_cvt ||
         op == Opcode::k_suld || op == Opcode::k_sust;
}

enum class Class { kBits, kInteger, kFloat, kOther };
Class class_of(Type t) {
  switch (t) {
    case Type::kPred:
    case Type::kB8:
    case Type::kB16:
    case Type::kB32:
    case Type::kB64:
    case Type::kB128: return Class::kBits;
    case Type::kU8:
    case Type::kU16:
    case Type::kU32:
    case Type::kU64:
    case Type::kS8:
    case Type::kS16:
    case Type::kS32:
    case Type::kS64: return Class::kInteger;
    case Type::kF32:
    case Type::kF64: return Class::kFloat;
    default:
      // Half, packed and narrow formats: their registers are .bN or have exactly this type.
      return Class::kOther;
  }
}

// Types of different kinds do not match, even with equal sizes. Bit types match all types of their
// size.
bool agrees(Type reg, Type wanted, bool wider) {
  if ((reg == Type::kPred) != (wanted == Type::kPred)) return false;
  if (wider ? size_of(reg) < size_of(wanted) : size_of(reg) != size_of(wanted)) return false;
  const Class a = class_of(reg), b = class_of(wanted);
  if (a == Class::kBits || b == Class::kBits) return true;
  return a == b && (a != Class::kOther || reg == wanted);
}

std::string spelled(Type t) { return "." + std::string(isa::type_name(t)); }

// Whether an operand's single register may have braces without effect, as with ptxas: in moves of
// bits, in loads and stores, and for metadata and scales of products.
bool braced(const isa::Match& match, const isa::OperandRule& rule, const Operand& given) {
  if (given.kind != Operand::Kind::kVector || given.elements.size() != 1) return false;
  if (rule.role != isa::OperandRule::Role::kDestination &&
      rule.role != isa::OperandRule::Role::kSource)
    return false;
  switch (match.form->row->opcode) {
    case Opcode::k_mov: {
      const Type t = match.modifiers.type;
      return t == Type::kB16 || t == Type::kB32 || t == Type::kB64;
    }
    case Opcode::k_ld:
    case Opcode::k_ldu:
    case Opcode::k_st:
    case Opcode::k_st_async:
    case Opcode::k_suld:
    case Opcode::k_sust: return true;
    case Opcode::k_mma:  // metadata and scales
    case Opcode::k_mma_sp:
    case Opcode::k_wgmma_mma_async_sp:
      return isa::vector_length(rule, match.modifiers) == 0 &&
             given.elements[0].kind == Operand::Kind::kRegister;
    default: return false;
  }
}

struct Checker {
  const isa::Match& match;
  const std::vector<Register>& registers;
  Opcode opcode = match.form->row->opcode;

  std::string reg(const Operand& o, Type wanted) const {
    const Register& r = registers[o.index];
    if (agrees(r.type, wanted, allows_wider_registers(opcode))) return {};
    return r.name + " is a register of " + spelled(r.type) + ", not of " + spelled(wanted);
  }

  std::string immediate(const Operand& o, Type wanted) const {
    const Constant c{o.is_float ? Constant::Kind::kFloat : Constant::Kind::kSigned, o.bits};
    if (class_of(wanted) == Class::kOther)
      return "no constant can be written for " + spelled(wanted);
    if (bits_as(c, wanted)) return {};
    return o.is_float ? "a floating-point constant where " + spelled(wanted) + " is wanted"
                      : "an integer constant where " + spelled(wanted) + " is wanted";
  }

  std::string scalar(const Operand& o, Type wanted, bool destination) const {
    switch (o.kind) {
      case Kind::kRegister: return reg(o, wanted);
      case Kind::kSink: return destination ? std::string() : "'_' is no source";
      case Kind::kImmediate:
        return destination ? "a constant is no destination" : immediate(o, wanted);
      case Kind::kNegatedPredicate: return "'!' is not allowed here";
      case Kind::kSpecialRegister: {
        if (destination) return "a special register is no destination";
        if (opcode != Opcode::k_mov && opcode != Opcode::k_cvt)
          return "only mov and cvt read special registers";
        const Type t = isa::special_register_type(o.special);
        if ((t == Type::kPred) != (wanted == Type::kPred) || size_of(t) < size_of(wanted))
          return std::string(isa::special_register_name(o.special)) + " is of " + spelled(t) +
                 ", not of " + spelled(wanted);
        return {};
      }
      case Kind::kSymbol:
        if (!destination && names_variables()) return {};
        return "'" + o.symbol + "' is no register declared here";
      default: return destination ? "a register is wanted" : "a register or a constant is wanted";
    }
  }

  // Whether a variable's address may replace a register operand.
  bool names_variables() const {
    switch (opcode) {
      case Opcode::k_mov:
      case Opcode::k_mapa:
      case Opcode::k_getctarank: return true;
      case Opcode::k_cvta: return !match.modifiers.to;
      default: return false;
    }
  }

  std::string vector(const Operand& o, Type wanted, std::size_t count, bool destination) const {
    if (o.kind != Kind::kVector) return "a vector of " + std::to_string(count) + " is wanted";
    if (o.elements.size() != count)
      return "a vector of " + std::to_string(count) + " is wanted, this has " +
             std::to_string(o.elements.size());
    for (const Operand& e : o.elements)
      if (std::string why = scalar(e, wanted, destination); !why.empty()) return why;
    return {};
  }

  // Checks {a, b} that forms one value of type `whole`.
  std::string packed(const Operand& o, Type whole, bool destination) const {
    if (o.kind != Kind::kVector) return "a vector is wanted";
    const int count = static_cast<int>(o.elements.size());
    if (count != 2 && count != 4 && count != 8) return "a vector of 2 or 4 is wanted";
    const int bytes = size_of(whole) / count;
    for (const Operand& e : o.elements) {
      if (e.kind == Kind::kSink && destination) continue;
      if (e.kind == Kind::kImmediate && !destination) continue;
      if (e.kind != Kind::kRegister) return "a vector of registers is wanted";
      if (registers[e.index].type == Type::kPred || size_of(registers[e.index].type) != bytes)
        return registers[e.index].name + " is not " + std::to_string(bytes * 8) + " bits wide";
    }
    return {};
  }

  // Checks [a, {x, y}]: an object's handle and its coordinates. A single coordinate needs no
  // braces.
  std::string image(const Operand& o, Type type) const {
    if (o.kind != Kind::kAddress || !o.has_register || o.offset != 0 || o.elements.size() != 1)
      return "[image, {coordinates}] is wanted";
    if (size_of(registers[o.index].type) != 8)
      return "an image is named by its handle, in a register of 64 bits";
    const isa::Geometry g = match.modifiers.geometry;
    const Operand& c = o.elements[0];
    if (c.kind != Kind::kVector)
      return isa::coordinates_of(g) == 1 ? scalar(c, type, false)
                                         : "a vector of coordinates is wanted";
    if (c.elements.size() != static_cast<std::size_t>(isa::coordinates_of(g)))
      return std::to_string(isa::coordinates_of(g)) + " coordinates are wanted";
    for (std::size_t i = 0; i < c.elements.size(); ++i) {
      if (std::string why =
              scalar(c.elements[i], isa::is_layered(g) && i == 0 ? Type::kU32 : type, false);
          !why.empty())
        return why;
    }
    return {};
  }
  // Checks [map, {x, y}]: the address of a tensor map, and coordinates.
  std::string tensor(const Operand& o, Type type) const {
    if (o.kind != Kind::kAddress || !o.has_register || o.offset != 0 || o.elements.size() != 1)
      return "[tensor map, {coordinates}] is wanted";
    if (size_of(registers[o.index].type) != 8)
      return "a tensor map is named by its address, in a register of 64 bits";
    return vector(o.elements[0], type,
                  static_cast<std::size_t>(isa::tensor_coordinates_of(match.modifiers)), false);
  }
  std::string gradient(const Operand& o, Type type) const {
    const auto count = static_cast<std::size_t>(isa::gradients_of(match.modifiers.geometry));
    return o.kind != Kind::kVector && count == 1 ? scalar(o, type, false)
                                                 : vector(o, type, count, false);
  }

  std::string one(const isa::OperandRule& rule, const Operand& given) const {
    const int length = isa::vector_length(rule, match.modifiers);
    const Operand& o = braced(match, rule, given) ? given.elements[0] : given;
    const Type type = isa::operand_type(rule, match.modifiers);
    const bool is_vector = length != 0;
    const auto count = static_cast<std::size_t>(length);
    switch (rule.role) {
      case Role::kDestination:
        // As with ptxas: of the instructions with one result, only atom and mbarrier arrivals may
        // discard it (setp's result is a predicate).
        if (o.kind == Kind::kSink && opcode != Opcode::k_atom &&
            opcode != Opcode::k_mbarrier_arrive && opcode != Opcode::k_mbarrier_arrive_drop) {
          return "the result cannot be discarded";
        }
        return is_vector ? vector(o, type, count, true) : scalar(o, type, true);
      case Role::kSource: return is_vector ? vector(o, type, count, false) : scalar(o, type, false);
      case Role::kDestinationPredicate: return scalar(o, Type::kPred, true);
      case Role::kDestinationPair:
        if (o.kind != Kind::kPair)
          return rule.second_optional ? scalar(o, type, true) : "a pair a|b is wanted";
        if (std::string why = is_vector ? vector(o.elements[0], type, count, true)
                                        : scalar(o.elements[0], type, true);
            !why.empty()) {
          return why;
        }
        return scalar(o.elements[1], rule.second, true);
      case Role::kSourcePredicate:
        if (o.kind == Kind::kNegatedPredicate) return reg(o, Type::kPred);
        return scalar(o, Type::kPred, false);
      case Role::kDestinationVector: return packed(o, type, true);
      case Role::kSourceVector: return packed(o, type, false);
      case Role::kAddress:
        return o.kind == Kind::kAddress ? std::string() : "an address [..] is wanted";
      case Role::kImage: return image(o, type);
      case Role::kTensor: return tensor(o, type);
      case Role::kOffsets:
        return vector(o, type, static_cast<std::size_t>(isa::im2col_values_of(match.modifiers)),
                      false);
      case Role::kGradient: return gradient(o, type);
      case Role::kInteger:
        return o.kind == Kind::kImmediate && !o.is_float ? std::string()
                                                         : "an integer constant is wanted";
      case Role::kLabel:
        return o.kind == Kind::kSymbol && o.offset == 0 ? std::string() : "a label is wanted";
      case Role::kLabelList:
        return o.kind == Kind::kSymbol && o.offset == 0 ? std::string()
                                                        : "the label of a .branchtargets is wanted";
      case Role::kSink: return o.kind == Kind::kSink ? std::string() : "'_' is wanted";
      case Role::kFunction: return {};
    }
    return {};
  }
};

bool takes_vector(const isa::OperandRule& rule) {
  return rule.role == Role::kDestinationVector || rule.role == Role::kSourceVector ||
         rule.role == Role::kOffsets;
}

void settle_immediate(Operand& o, Type type) {
  if (o.kind != Kind::kImmediate) return;
  const Constant c{o.is_float ? Constant::Kind::kFloat : Constant::Kind::kSigned, o.bits};
  if (const auto bits = bits_as(c, type)) o.bits = *bits;
}

}  // namespace

namespace {

// The error about a selector or minus sign that is not allowed here; empty if there is none. `rule`
// is nullptr within a vector or pair.
std::string misplaced(const isa::Match& match, const isa::OperandRule* rule, const Operand& o) {
  for (const Operand& e : o.elements) {
    if (std::string why = misplaced(match, nullptr, e); !why.empty()) return why;
  }
  const char last = match.form->first_word.back();
  const int lanes = last == '2' ? 2 : last == '4' ? 4 : 1;
  if (o.minus && (rule == nullptr || !rule->may_be_minus || o.kind != Kind::kRegister))
    return "'-' is not allowed here";
  if (!fits(o.selector, rule == nullptr ? isa::Selects::kNothing : rule->selects, lanes))
    return "the selector '" + text_of(o.selector) + "' is not allowed here";
  if (rule != nullptr && rule->selector_wanted && o.selector.count == 0)
    return "a selector is wanted";
  // SIMD instructions accept only registers.
  if (rule != nullptr && lanes != 1 &&
      isa::category_of(match.form->row->opcode) == isa::Category::kVideo &&
      o.kind == Kind::kImmediate)
    return "a register is wanted";
  return {};
}

}  // namespace

Misfit check_operands(const isa::Match& match, const std::vector<isa::OperandRule>& rules,
                      const std::vector<Operand>& operands,
                      const std::vector<Register>& registers) {
  const Checker checker{match, registers};
  if (rules.size() != operands.size())
    return {"takes " + std::to_string(rules.size()) + " operands, not " +
                std::to_string(operands.size()),
            0};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::string why = checker.one(rules[i], operands[i]);
    if (why.empty()) why = misplaced(match, &rules[i], operands[i]);
    if (why.empty()) continue;
    // A form without a vector here is not the intended one.
    const bool other_form = operands[i].kind == Kind::kVector && !takes_vector(rules[i]) &&
                            isa::vector_length(rules[i], match.modifiers) == 0;
    return {"operand " + std::to_string(i + 1) + ": " + why, other_form ? i : i + 1};
  }
  return {};
}

void settle_operands(const isa::Match& match, const std::vector<isa::OperandRule>& rules,
                     std::vector<Operand>& operands) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Type type = isa::operand_type(rules[i], match.modifiers);
    Operand& o = operands[i];
    if (rules[i].role == Role::kInteger) continue;
    if (braced(match, rules[i], o)) {
      Operand element = std::move(o.elements[0]);
      o = std::move(element);
    }
    settle_immediate(o, type);
    if (rules[i].role == Role::kTensor) {
      for (Operand& e : o.elements[0].elements) settle_immediate(e, type);
      continue;
    }
    if (rules[i].role == Role::kImage) {
      const bool layered = isa::is_layered(match.modifiers.geometry);
      Operand& c = o.elements[0];
      settle_immediate(c, type);
      for (std::size_t n = 0; n < c.elements.size(); ++n)
        settle_immediate(c.elements[n], layered && n == 0 ? Type::kU32 : type);
      continue;
    }
    if (o.kind == Kind::kVector && !takes_vector(rules[i]))
      for (Operand& e : o.elements) settle_immediate(e, type);
  }
}

}  // namespace lockstep::ptx
