#include "simulator/mutation/mutants.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "simulator/mutation/edit.h"
#include "simulator/ptx/spelling.h"

namespace lockstep::mutation {
namespace {

bool of_the_toolkit(const std::string& file) {
  return file.find("/targets/") != std::string::npos ||
         (file.find("/include/") != std::string::npos && file.find("cuda") != std::string::npos);
}

const std::string& file_of(const ptx::Module& module, const ptx::SourceLocation& at) {
  static const auto& kNone = *new std::string;
  return at.file >= 0 && static_cast<std::size_t>(at.file) < module.files.size()
             ? module.files[static_cast<std::size_t>(at.file)]
             : kNone;
}

// Instructions before a function's first .loc belong to the line of that .loc.
const ptx::SourceLocation& location_of(const ptx::Function& function, std::uint32_t index) {
  const auto from = function.body.begin() + index;
  const auto it = std::find_if(from, function.body.end(),
                               [](const ptx::Instruction& i) { return i.source.line != 0; });
  return it == function.body.end() ? from->source : it->source;
}

const ptx::SourceLocation& line_of(const ptx::Module& module,
                                   const ptx::SourceLocation& innermost) {
  const ptx::SourceLocation* at = &innermost;
  while (of_the_toolkit(file_of(module, *at)) && at->inlined_at >= 0)
    at = &module.inline_sites[static_cast<std::size_t>(at->inlined_at)].caller;
  return of_the_toolkit(file_of(module, *at)) ? innermost : *at;
}

}  // namespace

std::vector<Mutant> mutants_of(std::span<const ptx::Module> modules, std::uint32_t module,
                               std::uint32_t function) {
  const ptx::Module& m = modules[module];
  const ptx::Function& f = m.functions[function];
  std::vector<Mutant> mutants;
  for (std::uint32_t n = 0; n < f.body.size(); ++n) {
    std::uint32_t edit = 0;
    for (const Edit& e : edits_of({m, f, n})) {
      const ptx::SourceLocation& at = line_of(m, location_of(f, n));
      mutants.push_back({{module, function, n, edit++},
                         e.op,
                         e.change,
                         f.name,
                         ptx::spell(f.body[n], f),
                         file_of(m, at),
                         at.line,
                         at.column});
    }
  }
  return mutants;
}

void make_mutant(std::span<ptx::Module> modules, const Place& p) {
  if (p.module >= modules.size() || p.function >= modules[p.module].functions.size())
    throw std::out_of_range("the device code has no such function");
  ptx::Module& module = modules[p.module];
  ptx::Function& function = module.functions[p.function];
  if (p.instruction >= function.body.size())
    throw std::out_of_range("the function has no such instruction");
  std::vector<Edit> edits = edits_of({module, function, p.instruction});
  if (p.edit >= edits.size()) throw std::out_of_range("the instruction has no such mutant");
  apply(function, p.instruction, std::move(edits[p.edit]));
}

}  // namespace lockstep::mutation
