// The instructions that the threads of a run executed, from all its processes
// (runtime/state/record.h), by instruction and by source line.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::exec {

// An instruction's counts, in threads.
struct CoveredInstruction {
  std::string text;  // "ld.global.f32"
  int ptx_line = 0;
  int file = -1;  // index into CoveredModule::files; -1: no line information
  int line = 0;
  int inlined = -1;  // index into CoveredModule::inlined; -1: the function's own
  bool guarded = false;
  std::uint64_t reached = 0;  // threads that reached it
  std::uint64_t ran = 0;      // of these, the threads with a true guard
  bool partial = false;       // a warp with fewer than 32 threads reached it
  bool parted = false;        // only some threads of a warp reached it or had a true guard
  std::vector<std::uint64_t> jumps;

  // bra, brx.idx: every thread that reached the instruction executed it, whatever its guard.
  bool branches() const;
  std::uint64_t executed() const { return branches() ? reached : ran; }
  // The number of threads for each way: a true and a false guard, or each target of a branch table.
  // Empty if there is only one way.
  std::vector<std::uint64_t> ways() const;
};

struct CoveredFunction {
  std::string name;  // mangled
  std::string demangled;
  bool is_kernel = false;
  std::uint32_t text = 0;                        // index of the PTX text in the module
  std::vector<CoveredInstruction> instructions;  // in the order of the PTX
};

// An inlined function and the chain of calls by which it was inlined, innermost first.
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

// Adds the "coverage" of a line. Modules with the same PTX are added up. Ignores malformed
// coverage.
void add_coverage(const nlohmann::json& module, CoverageRecord* record);

// ---- by source ----------------------------------------------------------------------------------

struct SourceBranch {
  std::string function;  // demangled
  std::string inlined;   // "help(int) at k.cu:6:9, at k.cu:20:3": the calls; empty if not inlined
  std::string text;      // "bra"
  int ptx_line = 0;
  std::uint64_t reached = 0;
  std::vector<std::uint64_t> ways;  // CoveredInstruction::ways
  bool every_way() const;
};

struct SourceLine {
  // Threads, summed over kernels and inlined places. Each contributes its most executed instruction
  // of the line, or the threads that reached the code inlined for a call on the line.
  std::uint64_t count = 0;
  bool partial = false, parted = false;
  std::vector<SourceBranch> branches;  // in the order of the PTX
};

struct SourceFunction {
  int line = 0;
  std::uint64_t count = 0;  // threads that entered the function
};

struct SourceFile {
  std::map<int, SourceLine> lines;                  // the lines that have instructions
  std::map<std::string, SourceFunction> functions;  // kernels and called functions, demangled
};

struct SourceCoverage {
  std::map<std::string, SourceFile> files;  // by the file's name in the PTX
  std::vector<std::string> without_lines;   // kernels compiled without -lineinfo, demangled
};
SourceCoverage by_source(const CoverageRecord& record);

}  // namespace lockstep::exec
