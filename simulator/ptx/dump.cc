// Prints what the parser understands of a PTX file: one line an instruction.
//
//   bazel run //simulator/ptx:dump -- kernel.ptx
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "simulator/isa/names.h"
#include "simulator/ptx/parser.h"

namespace {

using namespace lockstep::ptx;

std::string show(const Operand& o, const Function& f) {
  using Kind = Operand::Kind;
  auto list = [&](char open, char close, const char* separator) {
    std::string s(1, open);
    for (std::size_t i = 0; i < o.elements.size(); ++i) s += (i ? separator : "") + show(o.elements[i], f);
    return s + close;
  };
  const std::string offset = o.offset != 0 ? "+" + std::to_string(o.offset) : "";
  switch (o.kind) {
    case Kind::kNone: return "-";
    case Kind::kRegister: return f.registers[o.index].name;
    case Kind::kNegatedPredicate: return "!" + f.registers[o.index].name;
    case Kind::kImmediate: {
      char text[32];
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(o.bits));
      return text;
    }
    case Kind::kSpecialRegister: return std::string(lockstep::isa::special_register_name(o.special));
    case Kind::kSymbol: return o.symbol + offset;
    case Kind::kAddress: return "[" + (o.has_register ? f.registers[o.index].name : o.symbol) + offset + "]";
    case Kind::kVector: return list('{', '}', ", ");
    case Kind::kLabel: return "->" + std::to_string(o.index);
    case Kind::kSink: return "_";
    case Kind::kPair: return show(o.elements[0], f) + "|" + show(o.elements[1], f);
    case Kind::kList: return list('(', ')', ", ");
  }
  return "?";
}

void print(const Variable& v, const char* indent) {
  std::printf("%s.%s %s: %llu bytes, aligned to %u%s%s, %zu addresses\n", indent, std::string(lockstep::isa::space_name(v.space)).c_str(), v.name.c_str(),
              static_cast<unsigned long long>(v.size), v.alignment, v.is_extern ? ", extern" : "", v.initial.empty() ? "" : ", initialised",
              v.relocations.size());
}

void print(const Module& m, const Function& f) {
  std::printf("%s %s%s: %zu registers, %zu instructions\n", f.is_kernel ? "kernel" : "function", f.name.c_str(), f.is_declaration ? " (declared)" : "",
              f.registers.size(), f.body.size());
  for (const Variable& v : f.parameters) print(v, "  ");
  for (const Variable& v : f.variables) print(v, "    ");
  for (std::size_t i = 0; i < f.body.size(); ++i) {
    const Instruction& in = f.body[i];
    std::printf("  %5zu  ", i);
    if (in.guard.present) std::printf("@%s%s ", in.guard.negated ? "!" : "", f.registers[in.guard.index].name.c_str());
    std::printf("%s", in.text.c_str());
    for (std::size_t n = 0; n < in.operands.size(); ++n) std::printf("%s%s", n ? ", " : " ", show(in.operands[n], f).c_str());
    if (in.source.line != 0) {
      const bool known = in.source.file >= 0 && static_cast<std::size_t>(in.source.file) < m.files.size();
      std::printf("  // %s:%d", known ? m.files[static_cast<std::size_t>(in.source.file)].c_str() : "?", in.source.line);
      for (int s = in.source.inlined_at; s >= 0; s = m.inline_sites[static_cast<std::size_t>(s)].caller.inlined_at) {
        const InlineSite& site = m.inline_sites[static_cast<std::size_t>(s)];
        std::printf(" in %s, from line %d", site.function.c_str(), site.caller.line);
      }
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: dump FILE.ptx\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", argv[1]);
    return 1;
  }
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto result = parse(text);
  if (const auto* error = std::get_if<ParseError>(&result)) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error->to_string().c_str());
    return 1;
  }
  const Module& m = std::get<Module>(result);
  std::printf("PTX %d.%d for %s, %zu files\n", m.version_major, m.version_minor, m.target.c_str(), m.files.size());
  for (const Variable& v : m.variables) print(v, "");
  for (const Function& f : m.functions) print(m, f);
}
