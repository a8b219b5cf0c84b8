// A function of a program as machine code: runs of operations that compute, calls of handlers for
// what is not translated, and branches of whole warps.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "simulator/program/program.h"
#include "simulator/translate/lean.h"

namespace lockstep::translate {

// Why translated code was left.
enum class Why : std::uint8_t {
  kInterpret,  // the next operation is the interpreter's
  kEvent,      // a handler asks for the scheduler's attention: the warp's event, and its pc
  kSliceOver,  // the time slice is used up, at a backward branch
  kMet,        // another split waits at the next operation
};

// Where a warp goes on, at the warp's pc with the warp's active lanes: in the code at this address,
// or, at nullptr, outside of translated code.
struct Next {
  const void* code = nullptr;
  Why why = Why::kInterpret;  // at nullptr
};

// What the engine does where lanes part or meet. It counts the operations `executed` so far.
struct Splits {
  // The active lanes `taken` branch to `target`, the others go on at `pc`; the branch has been
  // executed. nullptr: the code is left before the branch.
  Next (*divide)(engine::Warp& warp, std::uint32_t pc, std::uint32_t target,
                 program::LaneMask taken, std::uint64_t executed) = nullptr;
  // Another split waits at `pc` or before.
  Next (*meet)(engine::Warp& warp, std::uint32_t pc, std::uint64_t executed) = nullptr;
};

// Where translated code finds what it needs of a warp: offsets of engine::Warp's fields.
struct WarpLayout {
  std::size_t pc = 0;          // 32 bits
  std::size_t event = 0;       // 8 bits; 0: none
  std::size_t time_slice = 0;  // 32 bits, signed
  std::size_t active = 0;      // 32 bits
  std::size_t limit = 0;       // 32 bits
  UniformLayout uniform;
  RangesLayout ranges;
  Splits splits;
};

// Consecutive operations that are translated as one run: [begin, end).
struct Run {
  std::uint32_t begin = 0, end = 0;
};

// Called before and after each run, for LOCKSTEP_TRANSLATE=compare.
struct Watch {
  using Call = void (*)(engine::Warp& warp, const Run& run);
  Call before = nullptr, after = nullptr;
};

// Of a warp: code for all lanes together, or for those that a mask has while others wait.
enum class Lanes : std::uint8_t { kAll, kSome };

struct FunctionCode {
  std::vector<std::uint8_t> code;
  // Operations at which it can be entered, and offsets in `code`.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;
  // Of code for some lanes: operations before which it looks whether another split waits there.
  std::vector<std::uint32_t> stops;
  std::vector<std::unique_ptr<Run>> runs;  // the code has the addresses of these
  std::vector<std::unique_ptr<Window>> windows;
};

// The program's operations must stay where they are as long as the code is used. The code takes its
// arguments as Enter (translation.h) has them, and is entered at one of `entries` after the frame
// has been made (enter_code).
FunctionCode translate_function(const program::Program& program, const program::Function& function,
                                const WarpLayout& layout, const Watch& watch,
                                const Answers& answers, Lanes lanes);

// What enters translated code: makes its frame, and jumps.
std::vector<std::uint8_t> enter_code(Lanes lanes);

}  // namespace lockstep::translate
