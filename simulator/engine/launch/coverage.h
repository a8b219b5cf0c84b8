// What the threads of a module's kernels have executed, over all launches that were given its table
// (LaunchConfig::coverage).
//
// Counts are of threads: a warp of 32 lanes that executes an instruction together counts 32. Each
// host thread of a launch has a part of the table to itself, so that counting costs no atomic
// operation. Two launches must not run at the same time and count into one table; by turns they may
// (running.h), and clear() must wait until they have ended.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "simulator/program/operation.h"

namespace lockstep::program {
struct Program;
}

namespace lockstep::engine {

class Module;

// Of one operation. Where it has no guard, all that reached it have run it.
struct OperationCoverage {
  std::uint64_t reached = 0;  // threads that came to it
  std::uint64_t ran = 0;      // those whose guard was true
  bool partial = false;  // a warp with fewer than 32 threads came to it: the last of a block whose
                         // size is no multiple of 32
  bool parted = false;   // some threads of a warp came to it while others were elsewhere or had
                         // ended, or its guard was true for some alone

  // For the lanes `mask` of a warp with the threads `exists`; `ran_by` those with a true guard.
  void note(program::LaneMask mask, program::LaneMask ran_by, program::LaneMask exists) {
    reached += static_cast<unsigned>(std::popcount(mask));
    ran += static_cast<unsigned>(std::popcount(ran_by));
    partial |= exists != program::kAllLanes;
    parted |= mask != exists || (ran_by != 0 && ran_by != mask);
  }
  void add(const OperationCoverage& other);
};

class Coverage {
 public:
  // One host thread's part.
  struct Part {
    std::vector<OperationCoverage> operations;  // by pc
    std::vector<std::vector<std::uint64_t>>
        tables;  // threads that went to each target of a branch table: as Program::tables
  };

  // Makes room for launches on that many host threads; what has been counted stays.
  void prepare(const program::Program& program, std::size_t host_threads);
  Part& part(std::size_t host_thread) { return parts_[host_thread]; }

  // Over all host threads; nothing before the first launch.
  OperationCoverage operation(std::uint32_t pc) const;
  std::uint64_t jumps(std::uint32_t table, std::uint32_t entry) const;
  void clear() { parts_.clear(); }

 private:
  std::deque<Part> parts_;
};

// The same for people and files: by the functions and instructions of the PTX.

struct SourcePlace {
  std::string file;  // as the compiler was given it; empty without line information
  int line = 0;
  int column = 0;
};

// A function that was inlined, and by which calls: the one of itself first.
struct InlinedPlace {
  std::string function;  // mangled
  std::vector<SourcePlace> calls;
};

struct InstructionCoverage {
  std::string text;  // "ld.global.f32"
  int ptx_line = 0;
  SourcePlace source;
  int inlined = -1;      // index into ModuleCoverage::inlined; -1: the function's own
  bool guarded = false;  // @%p
  OperationCoverage count;
  std::vector<std::uint64_t> jumps;  // of brx.idx: threads that went to each target
};

struct FunctionCoverage {
  std::string name;  // as in the PTX (mangled)
  bool is_kernel = false;
  std::uint32_t text = 0;  // which of the PTX texts that load_module was given
  std::vector<InstructionCoverage> instructions;
};

struct ModuleCoverage {
  std::vector<FunctionCoverage> functions;
  std::vector<InlinedPlace> inlined;
};

// Of all functions of the module, those that no thread has reached too.
ModuleCoverage coverage_of(const Module& module, const Coverage& coverage);

}  // namespace lockstep::engine
