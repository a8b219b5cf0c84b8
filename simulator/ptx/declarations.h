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

// A declaration from its state space directive (".global", ...) to its ';'. Several names may share
// one declaration.
std::vector<Variable> parse_variables(Cursor& in, const Linkage& linkage);

// "( .param .b32 a, .param .align 8 .b8 b[16] )".
std::vector<Variable> parse_parameter_list(Cursor& in);

// A type directive (".u32"), consumed.
Type expect_type(Cursor& in);

}  // namespace lockstep::ptx
