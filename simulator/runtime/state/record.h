// What a run under `lockstep exec` leaves for it: a file of lines, each one JSON object, written as things happen so that it tells of a program
// that crashed too. Several processes may write to one file; each line has its process's "pid". After it, one of
//
//   "device": "sm_90", "schedule": 0, "checks": 4294967295    the process reached a simulated device
//   "kernel": "void f(int*)"                                  this kernel is launched for the first time in the process
//   "finding": {...}, "number": 1, "suppressed": false        as extension.h describes a finding; of one number the last line counts
//   "taken": true                                             the program took the findings so far: they are its own business
//   "coverage": {...}                                         of one module, what its threads have executed: see covered()
//   "totals": [{"kernel": ..., "device": 0, "launches": ..., and the counters by name}], "refused_launches": 0    the process ends
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/state/findings.h"

namespace lockstep::runtime {

class Record {
 public:
  // Writes to the end of the file from now on. Before it, and where the file cannot be opened, nothing is recorded; errno then tells why.
  bool open(const std::string& path);
  bool is_open() const { return file_ >= 0; }

  void started(std::string_view device, std::uint64_t schedule, std::uint32_t checks);
  void launched(std::string_view kernel, int device, const engine::Counters& counters);
  // A launch that the simulated GPU did not take.
  void refused_launch();
  void found(const std::vector<Reported>& findings);
  void taken();
  // What threads have executed of a module since this was last told of it; `texts` is its PTX. The line's "coverage" is
  //   "module": "0123456789abcdef"                             a hash of the PTX: modules of several devices and processes with the same one are the same
  //   "files": [...]                                           names, by number
  //   "inlined": [["help(int)", [[file, line, column], ...]]]  ModuleCoverage::inlined, by number
  //   "functions": [{"name": mangled, "demangled": ..., "kernel": true, "text": 0, "instructions": [...]}]
  // and an instruction, in the order of the PTX, is an array of: its text, its line in the PTX, file (-1: no line information) and line, inlined (-1: not),
  // guarded, threads that reached it, threads that ran it, OperationCoverage's partial and parted, and threads by target of a branch table.
  void covered(const std::vector<std::string>& texts, const engine::ModuleCoverage& coverage);
  // The process ends: the findings that have changed since they were recorded, and the totals. Those of a process that ends otherwise are missing.
  void finish(const std::vector<Reported>& changed);
  // A forked child begins with nothing launched.
  void forget();

 private:
  struct Total {
    std::uint64_t launches = 0;
    engine::Counters counters;
  };

  int file_ = -1;
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, Total, std::less<>> totals_;
  std::uint64_t refused_launches_ = 0;
};

}  // namespace lockstep::runtime
