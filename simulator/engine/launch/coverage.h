// Counts what the threads of a module's kernels have executed, over all launches that were given
// this table (LaunchConfig::coverage).
//
// The counts are of threads: a warp of 32 lanes that executes an instruction together counts 32.
// Each host thread of a launch has its own part of the table, so counting needs no atomic
// operation. Two launches must not run at the same time and count into one table, but they may run
// in turns (running.h). Call clear() only after they have ended.
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

// The counts of one operation. Without a guard, every thread that reached it also executed it.
struct OperationCoverage {
  std::uint64_t reached = 0;  // threads that reached it
  std::uint64_t ran = 0;      // threads whose guard was true
  bool partial = false;  // a warp with fewer than 32 threads reached it: the last one of a block
                         // whose size is no multiple of 32
  bool parted = false;   // some threads of a warp reached it while others were elsewhere or had
                         // ended, or the guard was true for some only

  // Counts one execution by the lanes `mask` of a warp whose threads are `exists`; the guard was
  // true for `ran_by`.
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

  // Makes room for launches on that many host threads. Keeps the counts.
  void prepare(const program::Program& program, std::size_t host_threads);
  Part& part(std::size_t host_thread) { return parts_[host_thread]; }

  // The sum over all host threads; zero before the first launch.
  OperationCoverage operation(std::uint32_t pc) const;
  std::uint64_t jumps(std::uint32_t table, std::uint32_t entry) const;
  void clear() { parts_.clear(); }

 private:
  std::deque<Part> parts_;
};

// The rest of this file lists the counts by the functions and instructions of the PTX, for reports
// and files.

struct SourcePlace {
  std::string file;  // as it was passed to the compiler; empty without line information
  int line = 0;
  int column = 0;
};

// An inlined function and the chain of calls that inlined it, innermost first.
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
  std::vector<std::uint64_t> jumps;  // for brx.idx: threads that went to each target
};

struct FunctionCoverage {
  std::string name;  // as in the PTX (mangled)
  bool is_kernel = false;
  std::uint32_t text = 0;  // index of its PTX text among those passed to load_module
  std::vector<InstructionCoverage> instructions;
};

struct ModuleCoverage {
  std::vector<FunctionCoverage> functions;
  std::vector<InlinedPlace> inlined;
};

// The coverage of all functions of the module, also of those that no thread has reached.
ModuleCoverage coverage_of(const Module& module, const Coverage& coverage);

}  // namespace lockstep::engine
