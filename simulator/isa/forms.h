// The table of instruction forms: every instruction that Lockstep reads, in the notation of the PTX
// manual.
//
// One row of the table (form_rows.inc) is one syntax line of the manual:
//
//   LOCKSTEP_FORM(add, "add{.rnd}{.ftz}{.sat}.f32 d, a, b", ".rnd=.rn.rz.rm.rp", 10, 75)
//
// Opcode words. A word after a dot stands for itself, unless the second string lists choices for
// it. A word in braces is optional. The meaning of a word is the same in all rows
// (modifier_tokens.cc). The first type is Modifiers::type, the second source_type, the third
// third_type; the first state space is space, the second source_space.
//
// Operands.
//   du        destination that is read before it is written
//   d1        destination that is one register, even if the opcode has a vector
//   d d..     destination register             a b c e f  source: register or constant
//   p q       destination predicate            {!}c       source predicate, which may be negated
//   d|p p|q   pair of destinations; with "{|q}" the second is optional; a type follows the first
//   [a]       address                          imm..      integer constant
//   [tm]      address in tensor memory, a register of 32 bits
//   [a, c]:T  image and its vector of coordinates, whose length depends on the geometry; the
//             coordinates have type T, layers .u32
//   [t, c]    tensor map and the vector of coordinates, .s32; the opcode gives their number
//   offsets   vector of im2col's offsets, .b16: two fewer than coordinates, or two
//   grad:T    gradient: a vector with one element a dimension of the image (four for three)
//   label tlist fname  branch target, target list, function (call)
//   v  vd     {a, b, ..}: source or destination vector that forms one register of the type
//   d*4 a*2   vector of so many registers, in braces even for one; d*n/2: half as many as the
//             shape has columns; d*x2: twice the number of .x1 to .x128
//   _         the sink
//   a.p d.m a.l  may have a selector (selector.h): a part, which a destination must have; a mask of
//                lanes; the lanes of both sources
//   {-}a      may be negated
//   name:T    the operand has type T instead of the first type of the opcode: a type, `s` or `x`
//             for the second or third type of the opcode, `2t` for twice the width of the first
//   {, b}     optional
// A word .m16n8k8 is the shape of matrices. With .v2, .v4 or .v8, operands named d, b or c are
// vectors of that many registers. `policy` is present exactly if the opcode has .L2::cache_hint.
//
// The last two numbers are the first PTX version (times ten) and the first target (sm_NN) with the
// form; 75 is the oldest target of nvcc 13. All users of the instruction set read this table: the
// parser, the compiler, the documentation, and the test that assembles every form with ptxas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/isa/opcode.h"
#include "simulator/isa/selector.h"

namespace lockstep::isa {

// A row as written.
struct FormRow {
  Opcode opcode;
  std::string_view syntax;
  std::string_view choices;  // ".rnd=.rn.rz .type=.f32.f64"
  int ptx;                   // 78 for PTX ISA 7.8
  int sm;                    // 90 for sm_90
  char suffix = 0;           // which later targets also have the form: exists_on()
  std::uint8_t variant = 0;  // the value of Modifiers::variant
};

// Whether the target sm_<number><suffix> has the form. `suffix` is 'a', 'f' or 0. FormRow::suffix:
//   0    the row's target and all later ones
//   'a'  the same, but only targets with a suffix
//   'x'  only sm_<sm>a
//   't'  the two families with tensor memory, sm_100 and sm_110
//   'u'  the same, only with 'a': not part of the common features of a family
//   'i'  sm_100 and sm_110, only with 'a'
//   's'  the family of sm_100
//   'y'  the two families, and later targets with 'a'
//   'w'  the row's target and all later ones, only with 'a'
//   'v'  the family of sm_100, only with 'a'
bool exists_on(const FormRow& row, int number, char suffix);

// The allowed forms of one operand.
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
  std::string_view name;  // as in the row
  Type fixed =
      Type::kNone;  // the operand's own type; otherwise type_slot selects one of the opcode's types
  std::uint8_t type_slot = 0;           // 0 first, 1 second, 2 third
  bool twice = false;                   // twice the width
  bool may_negate = false;              // source predicate
  bool second_optional = false;         // pair
  Type second = Type::kNone;            // pair: type of the second
  bool follows_vector = false;          // a vector if the opcode has .vN
  bool read_too = false;                // a destination that is also read
  std::uint8_t count = 0;               // registers of the operand's own vector; 0: no vector
  bool times_number = false;            // count is multiplied by the number of .x1 to .x128
  Selects selects = Selects::kNothing;  // video instructions
  bool selector_wanted = false;         // the selector is required
  bool may_be_minus = false;            // -a
  std::uint8_t part = 0;  // count is the shape's number of columns divided by this; 0: unused
};

// The number of registers if the operand is a vector; 0 if it is a single register.
int vector_length(const OperandRule& rule, const Modifiers& modifiers);

// One position of the opcode: its allowed tokens, each with its dot.
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

// All forms. Built once. Terminates the program and names the row if a row is invalid.
const std::vector<Form>& forms();

// One concrete spelling of a form's opcode.
struct Spelling {
  const Form* form = nullptr;
  std::string text;  // "add.rn.ftz.f32"
  Modifiers modifiers;
};

// Every spelling of every form, in the order of the table.
std::vector<Spelling> enumerate_forms();

// A form that accepts an opcode as written, with the modifiers of its words.
struct Match {
  const Form* form = nullptr;
  Modifiers modifiers;
};

// All forms whose opcode part accepts `opcode` ("ld.global.f32"). Several may differ only in their
// operands. As with ptxas, words in another order than the manual's are accepted if no form has
// this order.
std::vector<Match> match_opcode(std::string_view opcode);

// For messages about an opcode that no form accepts: the words up to which it is valid, and the
// words that could follow. Empty if even the first word is unknown.
std::string explain_no_match(std::string_view opcode);

// Whether PTX ISA 9.0 has forms with this opcode's first word that the table lacks.
bool has_forms_not_here(std::string_view opcode);

// Whether PTX ISA 9.0 has an instruction with this opcode's first word, whether or not it is in the
// table.
bool is_instruction(std::string_view opcode);

// The number of values of mma.sp's sparsity selector, which start at 0. It depends on the number of
// lanes of a quad that hold metadata for 16-bit parts of A's rows (PTX ISA 9.7.14.6.1).
int sparsity_selectors(const Modifiers& modifiers);

// The type of an operand under a rule, for given modifiers of the opcode.
Type operand_type(const OperandRule& rule, const Modifiers& modifiers);

}  // namespace lockstep::isa
