// Parses the body of a function: scopes, registers, labels, source locations and instructions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simulator/isa/forms.h"
#include "simulator/ptx/cursor.h"
#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

// A use of a name that can only be a module-scope symbol. Checked when the whole module is parsed.
struct SymbolUse {
  std::string name;
  int line = 0;
  std::string function;
  bool is_call = false;
  // For a call: the bytes of each result and argument; 0 if unknown, as for a constant.
  std::vector<std::uint64_t> results = {}, arguments = {};
};

// State of the module that all functions share.
class ModuleState {
 public:
  explicit ModuleState(Module& m) : module(m) {}

  // The forms that accept an opcode as written; cached for each spelling.
  const std::vector<isa::Match>& matches(std::string_view opcode);

  // An index into Module::inline_sites. Equal sites are shared.
  int inline_site(const std::string& function_label, const SourceLocation& caller);

  Module& module;
  std::vector<SymbolUse> uses;

  // The inline site of each (file, line, column) seen so far, because .loc names only the innermost
  // call site.
  std::map<std::tuple<int, int, int>, int> inlined_locations;

 private:
  std::unordered_map<std::string_view, std::vector<isa::Match>> cache_;
  std::map<std::tuple<std::string, int, int, int, int>, int> sites_;
};

// Parses a body. `in` is at its '{'; parameters and results of `function` must be set. Fills in
// registers, variables, prototypes and body.
void parse_body(Cursor& in, ModuleState& state, Function& function);

// Parses ".callprototype" and function headers: "(results) name (parameters)". Returns the name.
std::string parse_signature(Cursor& in, std::vector<Variable>& results,
                            std::vector<Variable>& parameters);

}  // namespace lockstep::ptx
