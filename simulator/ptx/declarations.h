// Declarations: variables of every state space with their initialisers, and parameter lists.
#pragma once

#include <vector>

#include "simulator/ptx/cursor.h"
#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

struct Linkage {
  bool is_extern = false;
  bool is_weak = false;
  bool is_visible = false;
  bool is_common = false;
};

// Linkage directives in any order, possibly none.
Linkage parse_linkage(Cursor& in);

// Parses a declaration from its state space directive (".global", ...) to its ';'. One declaration
// may have several names.
std::vector<Variable> parse_variables(Cursor& in, const Linkage& linkage);

// "( .param .b32 a, .param .align 8 .b8 b[16] )".
std::vector<Variable> parse_parameter_list(Cursor& in);

// Consumes a type directive (".u32").
Type expect_type(Cursor& in);

}  // namespace lockstep::ptx
