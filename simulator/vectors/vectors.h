// Kernels that execute one instruction form each. They are recorded on a GPU and replayed on the
// simulated GPU.
//
// The table of instruction forms determines everything: the forms, the kernel's text, the inputs. A
// recording therefore contains only results, and a digest of their inputs.
//
// A kernel has two parameters, the addresses of its input and its output. Thread t reads
// `inputs.size()` consecutive 64-bit words at t * 8 * inputs.size() and writes `outputs.size()`
// words likewise. It is launched with kThreads threads in blocks of kBlock.
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
    kMemory,    // 64 bits of the thread's own memory that an address operand points to
  };
  Kind kind = Kind::kRegister;
  isa::Type type = isa::Type::kNone;  // the operand's, of one element
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

// All forms that the target has and that one thread, warp or block can execute on data alone:
// computation, exchange among lanes, reductions at a barrier, loads, stores and atomics. Memory
// operations are included in every plain spelling; of each row a few spellings with cache hints,
// scopes or memory order are added.
std::vector<VectorForm> vector_forms(VectorTarget target = {});

// kThreads * inputs.size() words: special values crossed, then random ones. The same for every
// call.
std::vector<std::uint64_t> inputs_of(const VectorForm& form);

// A module for the target that holds the kernels of `forms`.
std::string module_text(std::span<const VectorForm> forms, VectorTarget target = {});

// FNV-1a over the words.
std::uint64_t digest(std::span<const std::uint64_t> words);
// Of the same numbers.
std::uint64_t digest(std::span<const std::uint32_t> words);

// pack(): the significant bytes of kThreads * outputs.size() words, word by word over all threads
// (predicates as bits). unpack(): the reverse.
std::vector<std::uint8_t> pack(const VectorForm& form, std::span<const std::uint64_t> words);
std::vector<std::uint64_t> unpack(
    const VectorForm& form, std::span<const std::uint8_t> bytes);  // empty when the size is wrong

}  // namespace lockstep::vectors
