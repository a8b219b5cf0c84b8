// The record that a run under `lockstep exec` leaves for it: a file of lines, each one JSON object.
// Lines are written as things happen, so that a program that crashes leaves its record too. Several
// processes may write to one file; each line but the first has its process's "pid". The first line
// is record_mark.h's. Each line after it is one of
//
//   "device": "sm_90", "schedule": 0, "checks": "all"
//       the process has opened a simulated device
//   "kernel": "void f(int*)", "launches": 12
//       launches of this kernel that this process has begun, kept up to date in its place
//   "library_call": "cublasSgemm", "launches": 12
//       times that this process has executed it on the simulated GPU, kept up to date in its place
//   "finding": {...}, "number": 1, "suppressed": false
//       as extension.h describes a finding; of several lines with one number the last counts
//   "taken": true
//       the program took the findings so far and handles them itself
//   "coverage": {...}
//       the executed instructions of one module: see covered()
//   "certificate": {...}, "launches": 12
//       launches with the same proof, kept up to date in its place: see certified()
//   "profile": [{"kernel", "instruction", "ptx_line", "file", "line", "spent"}]
//       where the time went: see profiled()
//   "totals": [{"kernel": ..., "device": 0, and the counters by name}], "refused_launches": 0,
//   "repeated_launches": 0
//       the process ends
//
// A failed write is an error: a message on stderr, the mark in the first line, and exit status 88
// where the process would end with 0.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/engine/launch/certificate.h"
#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/launch/launch.h"
#include "simulator/engine/launch/time_profile.h"
#include "simulator/runtime/state/findings.h"

namespace lockstep::runtime {

// The exit status of a process that would have ended with 0 although a line of its record could not
// be written.
inline constexpr int kExitUnrecorded = 88;

class Record {
 public:
  // Starts recording at the end of the file, which must begin with a record's first line. Nothing
  // is recorded before. Returns false, with a message on stderr, if the file cannot be opened.
  bool open(const std::string& path);
  bool is_open() const { return file_ >= 0; }
  // Whether recording was requested and a line could not be written.
  bool is_lossy() const { return lossy_; }

  void started(std::string_view device, std::uint64_t schedule, std::string_view checks);
  // A launch starts, and has ended.
  void launching(std::string_view kernel, int device);
  void launched(std::string_view kernel, int device, const engine::Counters& counters);
  // A call of a simulated library is executed.
  void called(std::string_view function);
  // The simulated GPU refused a launch.
  void refused_launch();
  // A launch repeated an earlier one and was not executed (repeats/repeats.h).
  void repeated_launch();
  void found(const std::vector<Reported>& findings);
  void taken();
  // Adds the instructions of a module that threads have executed since the last call; `texts` is
  // its PTX. The line's "coverage" is
  //   "module": "0123456789abcdef"
  //       a hash of the PTX: the same for the same module on several devices and in several
  //       processes
  //   "files": [...]
  //       names, by number
  //   "inlined": [["help(int)", [[file, line, column], ...]]]
  //       ModuleCoverage::inlined, by number
  //   "functions": [{"name": mangled, "demangled": ..., "kernel": true, "text": 0,
  //                  "instructions": [...]}]
  // An instruction, in the order of the PTX, is an array of: its text, its line in the PTX, file
  // (-1: no line information) and line, inlined (-1: not), guarded, threads that reached it,
  // threads that ran it, OperationCoverage's partial and parted, and threads by target of a branch
  // table.
  void covered(const std::vector<std::string>& texts, const engine::ModuleCoverage& coverage);
  // What was proved of a launch. The line's "certificate" is
  //   "kernel": demangled, "grid": [x, y, z], "block": [x, y, z], "dynamic_shared": bytes
  //   "refused": "", "calls": false
  //       as in engine::LaunchCertificate
  //   "accesses": [{"instruction", "ptx_line", "file", "line", "space", "bytes", "reads", "writes",
  //                 "known", "in_bounds", "aligned", "initialised", "apart", "proved"}]
  //       as in engine::CertifiedAccess; "file" and "line" only with line information
  void certified(std::string_view kernel, const engine::LaunchCertificate& certificate);
  // Where the time of the kernels went. "spent" has seconds of host threads by engine::kDoingNames;
  // "file" and "line" only with line information.
  void profiled(const std::vector<engine::ProfiledInstruction>& instructions);
  // Call when the process ends: records the findings that have changed since they were recorded,
  // and the totals. A process that ends in another way records neither.
  void finish(const std::vector<Reported>& changed);
  // A forked child starts without launches.
  void forget();

 private:
  struct Total {
    std::uint64_t launches = 0;
    char* text = nullptr;  // points to the digits of "launches" in the file
    engine::Counters counters;
  };
  struct Counted {
    std::uint64_t launches = 0;
    char* text = nullptr;
  };

  // Writes a line with "launches": 1 at its end. Returns the address of its digits in the mapped
  // file, or nullptr.
  char* put_counted(nlohmann::json line);

  // Writes a line. Returns the new end of the file, or -1.
  off_t put(std::string_view line);
  // Whether the descriptor still belongs to the record. Daemons close all inherited descriptors,
  // and the number may since be that of another file.
  bool holds_file() const;
  bool reopen();
  char* map(off_t at, std::size_t bytes) const;
  void lose(const char* why);

  int file_ = -1;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::atomic<bool> lossy_ = false;
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, Total, std::less<>> totals_;
  std::map<std::string, Counted, std::less<>> certificates_;  // by the line
  std::map<std::string, Counted, std::less<>> library_calls_;
  std::uint64_t refused_launches_ = 0, repeated_launches_ = 0;
};

// Makes the exit status reflect a loss in `record`, which must live until the process ends. Call
// before watch_exit(), whose status takes precedence.
void watch_losses(const Record* record);

}  // namespace lockstep::runtime
