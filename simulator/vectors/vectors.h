// Kernels that execute one instruction form each on their own inputs. They are recorded on a GPU
// and replayed on the simulated GPU.
//
// The forms, the kernels' texts and the inputs are derived from the table of instruction forms. So
// a recording contains only results, and a digest of their inputs.
//
// A kernel has two parameters, the addresses of its input and its output. Thread t reads
// `inputs.size()` consecutive 64-bit words at t * 8 * inputs.size() and writes `outputs.size()`
// words likewise. The launch has kThreads threads in blocks of kBlock.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/isa/form_examples.h"

namespace lockstep::vectors {

inline constexpr int kThreads = 512;
inline constexpr int kBlock = 128;

// One word that a thread reads or writes. Values are zero-extended.
struct Word {
  enum class Kind : std::uint8_t {
    kRegister,  // a source or destination register, or 64 bits of one
    kCarry,     // the condition code CC.CF before or after
    kMemory,    // 64 bits of the thread's own memory, at the address operand
  };
  Kind kind = Kind::kRegister;
  isa::Type type = isa::Type::kNone;  // the type of the operand's elements
  int bytes = 0;                      // significant bytes, 0 for a predicate
  int operand = 0;                    // position in the instruction
};

// The compilation target of the kernels: sm_90 or sm_100a.
struct VectorTarget {
  int number = 90;
  char suffix = 0;

  std::string name() const {
    return "sm_" + std::to_string(number) + (suffix == 0 ? "" : std::string(1, suffix));
  }
};

struct VectorForm {
  std::string name;  // "add.rn.f32 r0, r8, r16;": the instruction, unique
  isa::Spelling spelling;
  std::string entry;   // name of the kernel
  std::string kernel;  // its text
  std::vector<Word> inputs, outputs;
};

// All forms of the target that one thread, warp or block can execute on data only: computations,
// exchanges among lanes, reductions at a barrier, loads, stores and atomics. Memory operations have
// every plain spelling, and a few of each row that differ in cache hints, scopes or memory order.
std::vector<VectorForm> vector_forms(VectorTarget target = {});

// kThreads * inputs.size() words: special values crossed, then random values. The same for every
// call.
std::vector<std::uint64_t> inputs_of(const VectorForm& form);

// A module for the target that contains the kernels of `forms`.
std::string module_text(std::span<const VectorForm> forms, VectorTarget target = {});

// FNV-1a over the words.
std::uint64_t digest(std::span<const std::uint64_t> words);
// The same digest for 32-bit words.
std::uint64_t digest(std::span<const std::uint32_t> words);

// Converts kThreads * outputs.size() words to their significant bytes, word by word over all
// threads (predicates as bits), and back.
std::vector<std::uint8_t> pack(const VectorForm& form, std::span<const std::uint64_t> words);
std::vector<std::uint64_t> unpack(
    const VectorForm& form, std::span<const std::uint8_t> bytes);  // empty if the size is wrong

}  // namespace lockstep::vectors
