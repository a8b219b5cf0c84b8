// Prints how the parser interprets a PTX file, one line an instruction.
//
//   bazel run //simulator/ptx:dump -- kernel.ptx
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "simulator/isa/names.h"
#include "simulator/ptx/parser.h"
#include "simulator/ptx/spelling.h"

namespace {

using namespace lockstep::ptx;

void print(const Variable& v, const char* indent) {
  std::printf("%s.%s %s: %llu bytes, aligned to %u%s%s, %zu addresses\n", indent,
              std::string(lockstep::isa::space_name(v.space)).c_str(), v.name.c_str(),
              static_cast<unsigned long long>(v.size), v.alignment, v.is_extern ? ", extern" : "",
              v.initial.empty() ? "" : ", initialised", v.relocations.size());
}

void print(const Module& m, const Function& f) {
  std::printf("%s %s%s: %zu registers, %zu instructions\n", f.is_kernel ? "kernel" : "function",
              f.name.c_str(), f.is_declaration ? " (declared)" : "", f.registers.size(),
              f.body.size());
  for (const Variable& v : f.parameters) print(v, "  ");
  for (const Variable& v : f.variables) print(v, "    ");
  for (std::size_t i = 0; i < f.body.size(); ++i) {
    const Instruction& in = f.body[i];
    std::printf("  %5zu  %s", i, spell(in, f).c_str());
    if (in.source.line != 0) {
      const bool known =
          in.source.file >= 0 && static_cast<std::size_t>(in.source.file) < m.files.size();
      std::printf("  // %s:%d",
                  known ? m.files[static_cast<std::size_t>(in.source.file)].c_str() : "?",
                  in.source.line);
      for (int s = in.source.inlined_at; s >= 0;
           s = m.inline_sites[static_cast<std::size_t>(s)].caller.inlined_at) {
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
  std::printf("PTX %d.%d for %s, %zu files\n", m.version_major, m.version_minor, m.target.c_str(),
              m.files.size());
  for (const Variable& v : m.variables) print(v, "");
  for (const Function& f : m.functions) print(m, f);
}
