// Writes a run's findings to a file: text and HTML for people, JSON for programs, SARIF 2.1.0 for
// code review tools.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/exec/run_record.h"
#include "simulator/exec/suppression_use.h"

namespace lockstep::exec {

// The run that a report describes.
struct ProgramRun {
  std::vector<std::string> command;  // the program and its arguments
  int exit_status = 0;               // of `lockstep exec`
  RunRecord record;
  std::string source_root;  // SARIF names files below it relative to it; empty: not given
  std::vector<UnusedSuppression> unused_suppressions;
};

// All findings as they were printed, then one summary line.
std::string text_report(const ProgramRun& run);
// "12 launches of 2 kernels on a simulated sm_90: 1 error, 0 for information, 3 suppressed",
// followed by the checks that ran if these were not all.
std::string summary(const RunRecord& record);

// {"command", "exit_status", "complete", "device", "checks", "schedule", "kernels": [{"name",
// "launches", counters...}], "findings", "suppressed", "unused_suppressions": [{"line", "text"}]}.
// Counters are absent for kernels of a process that did not end normally. "complete" is false if
// something could not be recorded. "proofs" (certificate.h) is present if launches were to be
// proved.
nlohmann::json json_report(const ProgramRun& run);

// A SARIF log (OASIS, Static Analysis Results Interchange Format 2.1.0) with one run, and one
// result for each finding. A result's location is the source line, if the program was built with
// -lineinfo; its logical location is the kernel. Related locations are the other side of a race,
// and the places where the host launched, allocated or freed, whose stacks are the result's stacks.
// With a source root, files below it have relative names with the base SRCROOT.
nlohmann::json sarif_report(const ProgramRun& run);

// Writes the report in the format of the file's extension: .json, .sarif, .xml (JUnit), .html,
// otherwise text. Returns false, with a message, if it cannot be written.
bool write_report(const ProgramRun& run, const std::string& path, std::string* error);

}  // namespace lockstep::exec
