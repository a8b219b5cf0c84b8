// The typed form of a PTX module: the parser's output and the compiler's input.
//
// An Instruction is one line of PTX that the table of instruction forms (forms.h) has accepted: its
// opcode, its modifiers as typed fields, and its operands. This form is independent of execution.
// Source for names and meanings: PTX ISA 9.0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/isa/opcode.h"
#include "simulator/isa/selector.h"

namespace lockstep::isa {
struct FormRow;      // isa/forms.h
struct OperandRule;  // isa/forms.h
}  // namespace lockstep::isa

namespace lockstep::ptx {

// Short names for the parts of a module.
using isa::Modifiers;
using isa::Opcode;
using isa::size_of;
using isa::Space;
using isa::SpecialRegister;
using isa::Type;

// The place in the CUDA source of an instruction (.loc). Line 0 if the PTX has no line information.
struct SourceLocation {
  int file = 0;  // index into Module::files
  int line = 0;
  int column = 0;
  int inlined_at = -1;  // index into Module::inline_sites, -1 if not inlined
};

struct InlineSite {
  std::string function;  // the inlined function; empty if unknown
  SourceLocation caller;
};

// A virtual register of a kernel or function. Each function numbers its registers densely.
struct Register {
  std::string name;
  Type type = Type::kNone;
};

struct Operand {
  enum class Kind : std::uint8_t {
    kNone,
    kRegister,          // index
    kNegatedPredicate,  // !%p: index
    kImmediate,  // bits: the value as read by the instruction's type; the bit pattern of a float
    kSpecialRegister,  // special
    kSymbol,           // address of a variable or function (+ offset), as in mov.u64 %rd, x
    kAddress,          // [register + offset], [symbol + offset] or [immediate]
    kVector,           // {a, b, ...}: elements
    kLabel,            // index of the target instruction in Function::body
    kSink,             // _
    kPair,             // p|q: elements[0], elements[1]
    kList,             // ( ... ) of a call, or the target list of brx: elements
  };
  Kind kind = Kind::kNone;
  bool is_float = false;      // kImmediate: written as a float (0f.., 0d.. or decimal)
  bool has_register = false;  // kAddress: base is a register (index), otherwise symbol or absolute
  bool minus = false;         // kRegister: negated, -%r (vmad)
  isa::Selector selector;     // kRegister: %r.b0, of video instructions
  std::uint32_t index = 0;    // register or instruction index
  SpecialRegister special = SpecialRegister::kNone;
  std::int64_t offset = 0;  // kAddress, kSymbol: byte offset
  std::uint64_t bits = 0;   // kImmediate
  std::string symbol;       // kSymbol, kAddress: name as written
  std::vector<Operand> elements;
};

struct Guard {
  bool present = false;
  bool negated = false;
  std::uint32_t index = 0;  // predicate register
};

struct Instruction {
  Opcode opcode = Opcode::kInvalid;
  Modifiers modifiers;
  Guard guard;
  // In the order of the PTX manual, destination first. A call has four operands: the list of
  // results, the target (symbol or register), the list of arguments, and the label of the
  // .callprototype or .calltargets as a symbol (kNone for a direct call). The lists may be empty;
  // they contain symbols of .param variables, registers and immediates.
  std::vector<Operand> operands;
  // The table's rule for each operand. nullptr for a call, which has its own grammar, and for a
  // `ret` at a function's end.
  const std::vector<isa::OperandRule>* rules = nullptr;
  const isa::FormRow* row =
      nullptr;  // of the table of forms; nullptr for a `ret` at a function's end
  SourceLocation source;
  int ptx_line = 0;  // line within the PTX text, from 1
  std::string text;  // opcode with its modifiers as written, for messages: "ld.global.nc.f32"
};

// A variable in a state space: .global, .const, .shared, .local, or a .param of a function or
// kernel.
struct Variable {
  std::string name;
  Space space = Space::kNone;
  Type type = Type::kNone;
  std::uint32_t alignment = 1;  // bytes
  std::uint64_t size =
      0;  // bytes; 0 with `is_extern` for an array of unknown length (dynamic shared memory)
  bool is_extern = false;
  bool is_weak = false;
  bool is_visible = false;
  bool is_managed = false;
  std::vector<std::uint8_t> initial;  // empty: zero for .global and .const, uninitialised elsewhere
  // A word of `initial` that contains the address of another symbol.
  struct Relocation {
    std::uint64_t offset = 0;  // byte offset in this variable
    std::uint32_t size = 8;    // bytes
    std::string symbol;
    std::int64_t addend = 0;
    bool generic = false;        // generic(symbol)
    std::uint64_t mask = ~0ull;  // mask() operator
  };
  std::vector<Relocation> relocations;
};

// Signature of an indirect call target (.callprototype) or of a declared function.
struct Prototype {
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  bool noreturn = false;
};

struct Function {
  std::string name;
  bool is_kernel = false;
  bool is_declaration = false;  // the module has no body for it
  bool is_extern = false;
  bool is_weak = false;
  bool is_visible = false;
  bool noreturn = false;
  std::vector<Variable>
      parameters;  // laid out in order; offsets by natural alignment, see parameter_offsets()
  std::vector<Variable> results;
  std::vector<Register> registers;
  std::vector<Variable> variables;  // function-scope .shared, .local and .param variables; names in
                                    // nested scopes are made unique
  std::unordered_map<std::string, Prototype> prototypes;  // by label of the .callprototype
  std::vector<Instruction> body;
  // The function has an instruction that matches no row of the table of forms: its line and the
  // problem. The rest of the body is then unknown.
  struct Unknown {
    int line = 0;
    std::string message;
  };
  std::optional<Unknown> unknown;

  // Launch directives; 0 if absent.
  std::uint32_t max_threads[3] = {0, 0, 0};       // .maxntid
  std::uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
  std::uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster
  std::uint32_t min_blocks = 0;                   // .minnctapersm
  std::uint32_t max_registers = 0;                // .maxnreg
  bool explicit_cluster = false;                  // .explicitcluster
  std::uint32_t max_cluster_rank = 0;             // .maxclusterrank
};

// The byte offset of every parameter in the kernel's parameter buffer, and the buffer's size as the
// last element.
std::vector<std::uint32_t> parameter_offsets(const Function& function);

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;      // "sm_90"
  int target_number = 0;   // 90
  char target_suffix = 0;  // 'a', 'f' or 0
  std::vector<std::string> files;
  std::vector<InlineSite> inline_sites;
  std::vector<Variable> variables;
  std::vector<Function> functions;  // one entry a name: a definition replaces earlier declarations
  std::vector<std::pair<std::string, std::string>>
      aliases;  // .alias first, second: first is another name for second
};

}  // namespace lockstep::ptx
