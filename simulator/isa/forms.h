// The table of instruction forms: every instruction that Lockstep reads, written as the PTX manual
// writes it.
//
// One row of the table (form_rows.inc) is one syntax line of the manual:
//
//   LOCKSTEP_FORM(add, "add{.rnd}{.ftz}{.sat}.f32 d, a, b", ".rnd=.rn.rz.rm.rp", 10, 75)
//
// Opcode words. A word after a dot stands for itself, unless the second string gives the choices
// for it; a word in braces may be left out. Tokens are classified once for all rows
// (modifier_tokens.cc): the first type is Modifiers::type, the second source_type, the third
// third_type; the first state space is space, the second source_space.
//
// Operands.
//   du        destination that is read before it is written
//   d1        destination that is one register, whatever the opcode says of vectors
//   d d..     destination register             a b c e f  source: register or constant
//   p q       destination predicate            {!}c       source predicate, which may be negated
//   d|p p|q   pair of destinations; with "{|q}" the second may be left out; a type stands after the
//             first
//   [a]       address                          imm..      integer constant
//   [tm]      address in tensor memory, a register of 32 bits
//   [a, c]:T  image and the vector of coordinates that its geometry wants, each of type T, layers
//             of .u32
//   [t, c]    tensor map and the vector of coordinates, .s32, as many as the opcode says
//   offsets   vector of what im2col is given beside them, .b16: as many offsets less two, or two
//   grad:T    gradient: a vector of as many as the image has dimensions (four of three)
//   label tlist fname  branch target, target list, function (call)
//   v  vd     {a, b, ..}: source or destination vector that makes up one register of the type
//   d*4 a*2   vector of so many registers, in braces even if it is one; d*n/2: of half as many as
//             the shape has columns; d*x2: of twice as many as .x1 to .x128 says
//   _         the sink itself
//   a.p d.m a.l  may have a selector (selector.h): a part, which a destination must have; a mask of
//                lanes; the lanes of both sources
//   {-}a      may be negated
//   name:T    the operand has type T instead of the first type of the opcode: a type, `s` or `x`
//             for the second or third type of the opcode, `2t` for twice the width of the first
//   {, b}     may be left out
// A word .m16n8k8 is the shape of matrices.
// With .v2, .v4 or .v8, operands named d, b or c are vectors of that many registers. `policy`
// stands exactly when the opcode carries .L2::cache_hint.
//
// Last, the PTX version (times ten) and the target (sm_NN) from which the form exists; 75 is the
// oldest that nvcc 13 knows. Everything that has to know the instruction set reads this table:
// parser, decoder, documentation, and the test that has ptxas assemble every form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/isa/opcode.h"
#include "simulator/isa/selector.h"

namespace lockstep::isa {

// A row of the table, as written.
struct FormRow {
  Opcode opcode;
  std::string_view syntax;
  std::string_view choices;  // ".rnd=.rn.rz .type=.f32.f64"
  int ptx;                   // 78 for PTX ISA 7.8
  int sm;                    // 90 for sm_90
  char suffix = 0;           // which later targets have it, too: exists_on()
  std::uint8_t variant = 0;  // goes to Modifiers::variant
};

// Whether a target has the form: sm_<number>, and 'a', 'f' or 0 behind it. FormRow::suffix:
//   0    that target and all later ones
//   'a'  the same, of those with a suffix
//   'x'  sm_<sm>a alone
//   't'  the two families with tensor memory, sm_100 and sm_110
//   'u'  the same, without what is common to a family: only of those with 'a'
//   'i'  sm_100 and sm_110, with an 'a' behind them
//   's'  the family of sm_100
//   'y'  the two families, and of later targets those with an 'a' behind them
//   'w'  that target and all later ones, with an 'a' behind them
//   'v'  the same, only of those with 'a'
bool exists_on(const FormRow& row, int number, char suffix);

// A rule for one operand of a form.
struct OperandRule {
  enum class Role : std::uint8_t {
    kDestination,
    kDestinationPredicate,
    kDestinationPair,
    kDestinationVector,
    kSource,
    kSourcePredicate,
    kSourceVector,
    kAddress,
    kImage,
    kGradient,
    kTensor,
    kOffsets,
    kInteger,
    kLabel,
    kLabelList,
    kFunction,
    kSink,
  };
  Role role = Role::kSource;
  bool is_destination() const {
    return role == Role::kDestination || role == Role::kDestinationPredicate ||
           role == Role::kDestinationPair || role == Role::kDestinationVector;
  }
  std::string_view name;         // as in the row
  Type fixed = Type::kNone;      // its own type; otherwise type_slot selects a type of the opcode
  std::uint8_t type_slot = 0;    // 0 first, 1 second, 2 third
  bool twice = false;            // twice the width
  bool may_negate = false;       // source predicate
  bool second_optional = false;  // pair
  Type second = Type::kNone;     // pair: type of the second
  bool follows_vector = false;   // a vector if the opcode has .vN
  bool read_too = false;         // for a destination
  std::uint8_t count = 0;        // registers of its own vector, 0: none
  bool times_number = false;     // multiplied by the number of .x1 to .x128
  Selects selects = Selects::kNothing;  // video instructions
  bool selector_wanted = false;         // it is required
  bool may_be_minus = false;            // -a
  std::uint8_t part = 0;  // or the number of columns of the shape divided by this; 0: unused
};

// The number of registers of a vector operand; 0: a single register without braces.
int vector_length(const OperandRule& rule, const Modifiers& modifiers);

// One position of the opcode: the tokens allowed there, each with its dot.
struct ModifierSlot {
  std::vector<std::string_view> tokens;
  bool optional = false;
};

// A parsed row.
struct Form {
  const FormRow* row = nullptr;
  std::string_view first_word;                     // "ld", "cp"
  std::vector<ModifierSlot> slots;                 // after the first word
  std::vector<std::vector<OperandRule>> operands;  // every legal operand list, longest first
};

// All forms. Built once. Ends the program with a message if a row cannot be parsed.
const std::vector<Form>& forms();

// One concrete spelling of a form's opcode.
struct Spelling {
  const Form* form = nullptr;
  std::string text;  // "add.rn.ftz.f32"
  Modifiers modifiers;
};

// Every spelling of every form, in the order of the table.
std::vector<Spelling> enumerate_forms();

// A form that accepts an opcode as written, with the meaning of the opcode's words.
struct Match {
  const Form* form = nullptr;
  Modifiers modifiers;
};

// All forms whose opcode part accepts `opcode` ("ld.global.f32"); several may differ in their
// operands only. If no form has the words in this order, other orders are accepted, as in ptxas.
std::vector<Match> match_opcode(std::string_view opcode);

// For messages about an unaccepted opcode: the longest known prefix, and the words that could
// follow it. Empty if even the first word is unknown.
std::string explain_no_match(std::string_view opcode);

// Whether PTX ISA 9.0 has further forms for this opcode's first word that the table lacks.
bool has_forms_not_here(std::string_view opcode);

// Whether PTX ISA 9.0 has an instruction with this opcode's first word, in the table or not.
bool is_instruction(std::string_view opcode);

// The number of values of mma.sp's sparsity selector, from 0 on: as many lanes of every four hold
// metadata as one row of A needs 16-bit words (PTX ISA 9.7.14.6.1).
int sparsity_selectors(const Modifiers& modifiers);

// The type of an operand under a rule, for the opcode's modifiers.
Type operand_type(const OperandRule& rule, const Modifiers& modifiers);

}  // namespace lockstep::isa
