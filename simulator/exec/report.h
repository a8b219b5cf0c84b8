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
  int exit_status = 0;               // of `lockstep exec`
  RunRecord record;
  std::string source_root;  // SARIF names files below it from there; empty: not given
  std::vector<UnusedSuppression> unused_suppressions;
};

// All findings, each as it was printed, then one line that sums up.
std::string text_report(const ProgramRun& run);
// "12 launches of 2 kernels on a simulated sm_90: 1 error, 0 for information, 3 suppressed", and
// which checks ran where these were not all
std::string summary(const RunRecord& record);

// {"command", "exit_status", "complete", "device", "checks", "schedule", "kernels": [{"name",
// "launches", counters...}], "findings", "suppressed", "unused_suppressions": [{"line", "text"}]};
// counters are absent for kernels of a
// process that did not end normally; "complete" is false where something could not be recorded;
// "proofs" (certificate.h) is there where launches were to be proved.
nlohmann::json json_report(const ProgramRun& run);

// A SARIF log (OASIS, Static Analysis Results Interchange Format 2.1.0) with one run and one result
// a finding. The source line is a result's location where the program was built with -lineinfo; the
// kernel is its logical location; the other side of a race is a related location, as is each place
// where the host launched, allocated or freed, whose stacks are the result's. With a source root,
// files below it have relative names with the base SRCROOT.
nlohmann::json sarif_report(const ProgramRun& run);

// Writes the report that the file's ending asks for: .json, .sarif, .xml (JUnit), .html, else text.
// False, with a sentence, when it cannot be written.
bool write_report(const ProgramRun& run, const std::string& path, std::string* error);

}  // namespace lockstep::exec
