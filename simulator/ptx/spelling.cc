#include "simulator/ptx/spelling.h"

#include <cstdio>

#include "simulator/isa/names.h"

namespace lockstep::ptx {

std::string spell(const Operand& o, const Function& f) {
  using Kind = Operand::Kind;
  const auto list = [&](char open, char close) {
    std::string s(1, open);
    for (std::size_t i = 0; i < o.elements.size(); ++i)
      s += (i ? ", " : "") + spell(o.elements[i], f);
    return s + close;
  };
  const std::string offset = o.offset != 0 ? "+" + std::to_string(o.offset) : "";
  switch (o.kind) {
    case Kind::kNone: return "-";
    case Kind::kRegister:
      return (o.minus ? "-" : "") + f.registers[o.index].name +
             (o.selector.count != 0 ? isa::text_of(o.selector) : "");
    case Kind::kNegatedPredicate: return "!" + f.registers[o.index].name;
    case Kind::kImmediate: {
      char text[32];
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(o.bits));
      return text;
    }
    case Kind::kSpecialRegister: return std::string(isa::special_register_name(o.special));
    case Kind::kSymbol: return o.symbol + offset;
    case Kind::kAddress: {
      const std::string coordinates = o.elements.empty() ? "" : ", " + spell(o.elements[0], f);
      return "[" + (o.has_register ? f.registers[o.index].name : o.symbol) + offset + coordinates +
             "]";
    }
    case Kind::kVector: return list('{', '}');
    case Kind::kLabel: return "->" + std::to_string(o.index);
    case Kind::kSink: return "_";
    case Kind::kPair: return spell(o.elements[0], f) + "|" + spell(o.elements[1], f);
    case Kind::kList: return list('(', ')');
  }
  return "?";
}

std::string spell(const Instruction& i, const Function& f) {
  std::string text;
  if (i.guard.present)
    text = std::string("@") + (i.guard.negated ? "!" : "") + f.registers[i.guard.index].name + " ";
  text += i.text.empty() ? "ret" : i.text;
  for (std::size_t n = 0; n < i.operands.size(); ++n)
    text += (n ? ", " : " ") + spell(i.operands[n], f);
  return text;
}

}  // namespace lockstep::ptx
