// The operations of a run that are loads, values and numbers of threads (lean.h): what is asked
// before the run and kept ready for its loop, and the code of each within.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/translate/lean.h"
#include "simulator/translate/run_of_lanes.h"

namespace lockstep::translate {

class LeanRun {
 public:
  // `bytes` of the stack, from `begin` on, are for answers: multiples of 8.
  LeanRun(const Answers& answers, const UniformLayout& uniform, int begin, int bytes)
      : answers_(answers), uniform_(uniform), end_(begin + bytes), top_(begin) {}

  // Whether the operation is one, and there is room for its answer.
  bool admits(const Op& op) const;
  // It is the next of those that emit() is asked for.
  void add(const Op& op);
  bool asks() const { return asks_; }
  // Asks the engine, with everything in registers that calls keep; jumps to `refused` at a no.
  void ask(Xbyak::CodeGenerator& g, Xbyak::Label& refused);
  // Directly before the loop: pointers for it.
  void prepare(Xbyak::CodeGenerator& g) const;
  // The next operation, in the loop.
  void emit(RunOfLanes& r, const Op& op);
  // Behind the loop: lanes whose words are scattered.
  void emit_scattered(Xbyak::CodeGenerator& g);
  // What the code has addresses of.
  std::vector<std::unique_ptr<Window>> take_windows() { return std::move(windows_); }

 private:
  struct Use {
    Lean lean = Lean::kNo;
    int at = 0;                // of the answer, from the stack pointer
    Window* window = nullptr;  // kWord, kWide, kVariable
    const Op* op = nullptr;
    bool again = false;  // another operation asks the same
  };
  struct Scattered {
    Xbyak::Label begin, back;
    int value = 0, offset = 0;
  };
  bool knows(Lean lean) const;
  Use* same_window(Lean lean, const Op& op);
  void emit_uniform(RunOfLanes& r, const Op& op) const;
  void emit_elements(RunOfLanes& r, const Use& use);
  void emit_word(RunOfLanes& r, const Use& use, Slot slot, int offset);
  void emit_wide(RunOfLanes& r, const Use& use, Slot slot, int offset);

  const Answers& answers_;
  const UniformLayout& uniform_;
  const int end_;
  int top_;
  bool asks_ = false, has_parameters_ = false, has_uniform_ = false;
  std::vector<Use> uses_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<Window>> windows_;
  std::vector<std::unique_ptr<Scattered>> scattered_;
};

}  // namespace lockstep::translate
