// Loads of global memory in machine code (Lean::kGlobal), for lanes whose elements lie anywhere in
// an allocation that the host thread knows, with nothing to check but bounds and alignment.
#pragma once

#include "simulator/translate/lean.h"
#include "simulator/translate/run_of_lanes.h"

namespace lockstep::translate {

// Of one function: its loads call a routine for each width of elements.
class GlobalLoads {
 public:
  // `masked`: only the lanes load that the frame's mask has (frame.h).
  GlobalLoads(const UniformLayout& uniform, const RangesLayout& ranges, bool masked)
      : uniform_(uniform), ranges_(ranges), masked_(masked) {}

  bool admits(const Op& op) const { return ranges_.count != 0 && lean_of(op) == Lean::kGlobal; }
  // Emits a load. It jumps to `slow`, and has changed nothing, where its handler must look.
  void emit(Xbyak::CodeGenerator& g, const Op& op, Xbyak::Label& slow);
  // Emits the routines, behind the function.
  void emit_routines(Xbyak::CodeGenerator& g, ConstantPool& pool);

 private:
  struct Routine {
    Xbyak::Label label;
    bool called = false;
  };
  Routine& of(int width) { return routines_[width == 4 ? 0 : 1]; }

  const UniformLayout& uniform_;
  const RangesLayout& ranges_;
  const bool masked_;
  Routine routines_[2];
};

}  // namespace lockstep::translate
