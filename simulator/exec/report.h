// A run's findings as a file: text and HTML for people, JSON for programs, SARIF 2.1.0 for code
// review tools.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/exec/run_record.h"
#include "simulator/exec/suppression_use.h"

namespace lockstep::exec {

// The run that a report is about.
struct ProgramRun {
  std::vector<std::string> command;  // the program and its arguments
  int exit_status = 0;               // the status of `lockstep exec`
  RunRecord record;
  std::string source_root;  // SARIF names the files below it relative to it; empty if not given
  std::vector<UnusedSuppression> unused_suppressions;
};

// All findings as they were printed, then a summary line.
std::string text_report(const ProgramRun& run);
// "12 launches of 2 kernels on a simulated sm_90: 1 error, 0 for information, 3 suppressed", and
// the checks that ran, if not all ran.
std::string summary(const RunRecord& record);

// {"command", "exit_status", "complete", "device", "checks", "schedule", "kernels": [{"name",
// "launches", counters...}], "findings", "suppressed", "unused_suppressions": [{"line", "text"}]}.
// Kernels of a process that did not end normally have no counters. "complete" is false if something
// could not be recorded. "proofs" (certificate.h) exists if proofs were requested.
nlohmann::json json_report(const ProgramRun& run);

// A SARIF log (OASIS, Static Analysis Results Interchange Format 2.1.0) with one run, and one
// result a finding. A result's location is its source line, if the program was built with
// -lineinfo; its logical location is the kernel. Related locations are the other side of a race and
// the host's launch, allocation and free; the result contains their stacks. With a source root,
// files below it have relative names with the base SRCROOT.
nlohmann::json sarif_report(const ProgramRun& run);

// Writes the report in the format of the file's extension: .json, .sarif, .xml (JUnit), .html,
// otherwise text. False, with a message, if it cannot be written.
bool write_report(const ProgramRun& run, const std::string& path, std::string* error);

}  // namespace lockstep::exec
