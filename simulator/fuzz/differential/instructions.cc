#include <unordered_map>

#include "simulator/fuzz/differential/writer.h"

namespace lockstep::fuzz::differential {

using isa::Type;

Operand of(Register r) {
  Operand o;
  o.reg = r;
  return o;
}

Operand immediate(std::uint64_t bits, std::string text) {
  Operand o;
  o.kind = Operand::Kind::kImmediate;
  o.bits = bits;
  o.text = text.empty() ? std::to_string(bits) : std::move(text);
  return o;
}

Instruction instruction(std::string_view opcode, std::vector<Operand> operands) {
  thread_local std::unordered_map<std::string, int> known;
  const auto is_vector = [&](std::size_t n) {
    return operands.size() > n && operands[n].kind == Operand::Kind::kVector;
  };
  const int variant = is_vector(1) ? 1 : is_vector(0) ? 2 : 0;
  const std::string key =
      std::string(opcode) + " " + std::to_string(operands.size()) + " " + std::to_string(variant);
  const auto found = known.find(key);
  Instruction i;
  i.example = found != known.end()
                  ? found->second
                  : known[key] = Catalogue::get().find(opcode, operands.size(), variant);
  i.operands = std::move(operands);
  return i;
}

Class class_of(Type type) {
  if (type == Type::kPred) return Class::kPredicate;
  switch (isa::size_of(type)) {
    case 1:
    case 2: return Class::k16;
    case 4: return Class::k32;
    case 8: return Class::k64;
    default: return Class::k128;
  }
}

bool is_float(Type t) {
  switch (t) {
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBF16:
    case Type::kBF16x2:
    case Type::kTF32:
    case Type::kF32:
    case Type::kF32x2:
    case Type::kF64: return true;
    default: return false;
  }
}

void make_nan_canonical(Register r, Type type, std::vector<Instruction>& to) {
  const Register p{Class::kPredicate, 6}, h{Class::k16, 6}, low{Class::k16, 7};
  const auto half = [&](Register x, const char* infinity, std::uint64_t bits) {
    const Register t{Class::k16, 5};
    to.push_back(instruction("and.b16", {of(t), of(x), immediate(0x7fff, "0x7fff")}));
    to.push_back(instruction("setp.gt.u16", {of(p), of(t), immediate(bits, infinity)}));
    to.push_back(instruction("selp.b16", {of(x), immediate(0x7fff, "0x7fff"), of(x), of(p)}));
  };
  const auto both = [&](auto each, const char* type_of_whole, Register a, Register b) {
    Operand v;
    v.kind = Operand::Kind::kVector;
    v.elements = {a, b};
    to.push_back(instruction(type_of_whole, {v, of(r)}));
    each(a);
    each(b);
    to.push_back(instruction(type_of_whole, {of(r), v}));
  };
  const auto single = [&](Register x) {
    to.push_back(instruction("setp.nan.f32", {of(p), of(x), of(x)}));
    to.push_back(
        instruction("selp.b32", {of(x), immediate(0x7fffffff, "0x7fffffff"), of(x), of(p)}));
  };
  switch (type) {
    case Type::kF32: single(r); break;
    case Type::kTF32:  // the low bits, which have no meaning
      single(r);
      to.push_back(instruction("and.b32", {of(r), of(r), immediate(0xffffe000, "0xffffe000")}));
      break;
    case Type::kF64:
      to.push_back(instruction("setp.nan.f64", {of(p), of(r), of(r)}));
      to.push_back(instruction(
          "selp.b64", {of(r), immediate(0x7ff8000000000000, "0x7ff8000000000000"), of(r), of(p)}));
      break;
    case Type::kF16: half(r, "0x7c00", 0x7c00); break;
    case Type::kBF16: half(r, "0x7f80", 0x7f80); break;
    case Type::kF16x2:
      both([&](Register x) { half(x, "0x7c00", 0x7c00); }, "mov.b32", h, low);
      break;
    case Type::kBF16x2:
      both([&](Register x) { half(x, "0x7f80", 0x7f80); }, "mov.b32", h, low);
      break;
    case Type::kF32x2: both(single, "mov.b64", {Class::k32, 14}, {Class::k32, 15}); break;
    default: break;
  }
}

}  // namespace lockstep::fuzz::differential
