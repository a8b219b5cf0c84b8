// A random program as a tree. The generator creates it, the printer writes it as PTX, the reference
// interprets it, and the reducer cuts it down.
//
// A program stays free of races and undefined behaviour if any of its statements are removed. Every
// register of the pool, and every byte that a thread may read, has a value before the first
// statement. An address is always masked into memory that belongs to the thread. Code that needs
// several instructions (a carry, an exchange between two barriers) is one statement.
//
// A kernel has the parameters (input, output, scratch, sums, zero, arguments): five addresses and
// kArgumentBytes. Registers of the pool are variables: many statements write each of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/isa/opcode.h"

namespace lockstep::fuzz::differential {

enum class Class : std::uint8_t { kPredicate, k16, k32, k64, k128 };

// Registers of each class: first those of the pool, then temporaries that are used within one
// statement.
inline constexpr int kPool[] = {4, 4, 8, 4, 0};
inline constexpr int kRegisters[] = {8, 8, 16, 10, 2};
inline constexpr char kLetter[] = {'p', 'h', 'r', 'd', 'q'};

struct Register {
  Class cls = Class::k32;
  std::uint8_t index = 0;
  bool operator==(const Register&) const = default;
};

// The memory to which an address points.
enum class Region : std::uint8_t {
  // Read-only global memory: the thread's own kInputStride bytes, or the kWindow bytes at the
  // start.
  kInput,
  kScratch,    // global memory, kPrivate bytes a thread
  kShared,     // shared memory, kPrivate bytes a thread
  kLocal,      // kPrivate bytes
  kConstant,   // kConstantBytes, the same in all programs
  kArguments,  // kArgumentBytes, the kernel's last parameter
  kBoard,  // shared memory, kBoardStride bytes for each thread, which other threads read between
           // two barriers
  kGlobalSums,  // kSums cells of 8 bytes, which all threads change by commutative operations
  kSharedSums,  // as kGlobalSums, for the block
};

inline constexpr std::uint32_t kInputStride = 96, kWindow = 4096, kPrivate = 32,
                               kConstantBytes = 256, kArgumentBytes = 64, kBoardStride = 16,
                               kSums = 18;

struct Address {
  Region region = Region::kInput;
  bool window = false;  // kInput: the window, not the thread's own bytes
  bool others =
      false;  // kBoard: any thread's slot, chosen by `index`; of the thread's own warp with `warp`
  bool warp = false;
  int index =
      -1;  // 32-bit register: base + (value & (count - 1)) * scale + offset; -1: base + offset
  std::uint32_t count = 1;  // a power of two
  std::uint32_t scale = 0;
  std::uint32_t offset = 0;
};

struct Operand {
  enum class Kind : std::uint8_t {
    kRegister,
    kNegated,    // !p
    kImmediate,  // bits; `text` as written
    kVector,     // elements
    kPair,       // elements[0]|elements[1]
    kAddress,
    kMask,     // the lanes of the warp that execute this
    kPolicy,   // a cache policy
    kSpecial,  // a special register
  };
  Kind kind = Kind::kRegister;
  Register reg;
  std::uint64_t bits = 0;
  std::string text;
  std::vector<Register> elements;
  Address address;
  isa::SpecialRegister special = isa::SpecialRegister::kNone;
};

struct Instruction {
  int example = 0;  // in catalogue()
  std::vector<Operand> operands;
  int guard = -1;  // predicate register
  bool guard_negated = false;
};

// The effect of a text statement on the registers, for the reference: `to` gets a value in every
// thread.
struct Assignment {
  enum class Value : std::uint8_t { kConstant, kRegister, kInput, kLaneMask };
  Register to;
  Value value = Value::kConstant;
  std::uint64_t bits = 0;    // kConstant
  Register from;             // kRegister
  std::uint32_t offset = 0;  // kInput: offset in the thread's own bytes
};

struct Statement {
  enum class Kind : std::uint8_t {
    kUnit,  // unit
    kIf,    // body if the predicate holds, otherwise other
    kDead,  // body, guarded by a zero in the input: never executed, but the compiler cannot know it
    kLoop,  // body
    // Ends the iteration of the innermost loop, or the loop, for lanes whose predicate holds.
    kLeaveIf,
    kSwitch,       // cases, by brx.idx
    kIrreducible,  // a loop of body and other that some lanes enter in the middle
    kCall,
    kExchange,  // unit stores to the board; barrier; body may read all of the board; barrier
    // As kExchange, but the first half of the warps only arrives, and the other half waits and
    // reads.
    kHandOver,
    kBarrier,  // unit, at a barrier of the block or without one
    kText,     // lines, with `effects`
    kEnd,      // ends the lanes whose predicate holds
  };
  Kind kind = Kind::kUnit;
  std::vector<Instruction> unit;
  std::vector<Statement> body, other;
  std::vector<std::vector<Statement>> cases;

  int predicate = 0;  // kIf, kLeaveIf, kIrreducible, kEnd
  bool negated = false;
  bool tracked = false;        // kIf, kLoop: the mask of the lanes inside is known, and warps may
                               // exchange values there
  bool uniform = false;        // kIf, kIrreducible: the condition is a bit of the arguments
  std::uint32_t argument = 0;  // kIf, kIrreducible: which bit; kLoop: which word
  // kLoop: the source of the number of iterations.
  enum class Trips : std::uint8_t { kConstant, kArgument, kLanes } trips = Trips::kConstant;
  std::uint32_t count = 1;  // kConstant, kIrreducible
  std::uint8_t reg = 0;     // kLanes, kSwitch: 32-bit register; its low two bits count
  bool at_bottom = false;   // kLoop, kConstant: tested at its end
  // kLoop: the 32-bit register that accumulates a word of the input in each iteration, by an
  // advancing pointer.
  int walk = -1;
  bool go_on = false;  // kLeaveIf: ends only the iteration
  int variant = 0;     // of barriers and calls
  // kCall
  int function = 0, alternative = -1;       // alternative: indirect, by predicate
  std::array<std::uint8_t, 6> registers{};  // arguments r, d, r r; results r, r
  // kText
  std::vector<std::string> lines;
  std::vector<Assignment> effects;
  std::vector<int> rows;  // rows of the table that the lines hold
};

// The bit of Program::kept for a register.
constexpr int kept_bit(Class c, int i) {
  return i + (c == Class::k32 ? 0 : c == Class::k64 ? 8 : c == Class::k16 ? 12 : 16);
}

struct Function {
  std::vector<Statement> body;
  bool recursive = false;
};

struct Program {
  std::uint64_t seed = 0;
  int target = 90;
  char suffix = 0;
  bool referenced = false;  // the reference can compute every instruction
  bool ends_early = false;  // lanes may end before others: no barrier at the end
  std::uint32_t blocks = 1, threads = 32;
  std::uint32_t input_offset = 0;  // into input_data()
  std::uint32_t kept =
      0xfffff;  // registers of the pool that a thread stores at its end: bits for r, d, h, p
  std::array<std::uint32_t, kArgumentBytes / 4> arguments{};
  std::vector<Function> functions;
  std::vector<Statement> body;
};

// The results of a program, in one range of memory: the pool's registers and the scratch memory of
// each thread, the sums of the grid, and those of each block.
struct Layout {
  static constexpr std::uint32_t kOutput =
      80;  // bytes a thread: 8 r, 4 d, 4 h, a word of predicates, a word unused
  std::uint32_t scratch, sums, shared_sums, bytes;
  explicit Layout(const Program& p)
      : scratch(p.blocks * p.threads * kOutput),
        sums(scratch + p.blocks * p.threads * kPrivate),
        shared_sums(sums + 8 * kSums),
        bytes(shared_sums + p.blocks * 8 * kSums) {}
  static constexpr std::uint32_t kMax = 256 * (kOutput + kPrivate) + 9 * 8 * kSums;
  // Behind it, 128 bytes for each block that programs discard: nobody reads them.
  static constexpr std::uint32_t kDiscarded = (kMax + 255) / 256 * 256,
                                 kWhole = kDiscarded + 8 * 128;
};

}  // namespace lockstep::fuzz::differential
