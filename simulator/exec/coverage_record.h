// What the threads of a run executed, instruction by instruction, gathered from all its processes
// (runtime/state/record.h), and by source line.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::exec {

// Counts are of threads.
struct CoveredInstruction {
  std::string text;  // "ld.global.f32"
  int ptx_line = 0;
  int file = -1;  // index into CoveredModule::files; -1: no line information
  int line = 0;
  int inlined = -1;  // index into CoveredModule::inlined; -1: the function's own
  bool guarded = false;
  std::uint64_t reached = 0;  // came to it
  std::uint64_t ran = 0;      // of these, with a true guard
  bool partial = false;       // a warp with fewer than 32 threads came to it
  bool parted =
      false;  // came to by some threads of a warp alone, or its guard was true for some alone
  std::vector<std::uint64_t> jumps;

  // bra, brx.idx: every thread that came to it has executed it, whatever its guard was.
  bool branches() const;
  std::uint64_t executed() const { return branches() ? reached : ran; }
  // How many threads took each way: a true guard and a false one, or each target of a branch table.
  // Empty where there is but one way.
  std::vector<std::uint64_t> ways() const;
};

struct CoveredFunction {
  std::string name;  // mangled
  std::string demangled;
  bool is_kernel = false;
  std::uint32_t text = 0;                        // of the PTX texts of the module
  std::vector<CoveredInstruction> instructions;  // in the order of the PTX
};

// A function that was inlined, and by which calls: the one of itself first.
struct InlinedFunction {
  std::string function;  // demangled
  struct Call {
    int file = 0, line = 0, column = 0;  // file: index into CoveredModule::files
    auto operator<=>(const Call&) const = default;
  };
  std::vector<Call> calls;
};

struct CoveredModule {
  std::vector<std::string> files;
  std::vector<InlinedFunction> inlined;
  std::vector<CoveredFunction> functions;
};

using CoverageRecord = std::map<std::string, CoveredModule>;  // by a hash of the module's PTX

// Adds a line's "coverage"; modules of the same PTX add up. What is no coverage is left out.
void add_coverage(const nlohmann::json& module, CoverageRecord* record);

// ---- by source ----------------------------------------------------------------------------------

struct SourceBranch {
  std::string function;  // demangled
  std::string inlined;   // "help(int) at k.cu:6:9, at k.cu:20:3": by which calls; empty: its own
  std::string text;      // "bra"
  int ptx_line = 0;
  std::uint64_t reached = 0;
  std::vector<std::uint64_t> ways;  // CoveredInstruction::ways
  bool every_way() const;
};

struct SourceLine {
  // Threads, added up over kernels and inlined places: of each, those of the line's instruction
  // that most have executed, or that came to what was inlined for a call on the line.
  std::uint64_t count = 0;
  bool partial = false, parted = false;
  std::vector<SourceBranch> branches;  // in the order of the PTX
};

struct SourceFunction {
  int line = 0;
  std::uint64_t count = 0;  // threads that entered it
};

struct SourceFile {
  std::map<int, SourceLine> lines;  // those that have instructions
  std::map<std::string, SourceFunction>
      functions;  // kernels, and functions that are called; demangled
};

struct SourceCoverage {
  std::map<std::string, SourceFile> files;  // by their names in the PTX
  std::vector<std::string>
      without_lines;  // kernels that have been compiled without -lineinfo; demangled
};
SourceCoverage by_source(const CoverageRecord& record);

}  // namespace lockstep::exec
