// The properties of a run's launches that were proved before the launches began
// (docs/reference/proof.md): a file for programs, and a line a launch for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/exec/report.h"

namespace lockstep::exec {

inline constexpr const char* kCertificateSchema = "lockstep.certificate/1";

// {"schema", "command", "exit_status", "complete", "device", "checks", "schedule", "launches"}. A
// launch is one line of the record (runtime/state/record.h, certified()), with "launches", "proved"
// (the number of proved accesses) and "summary" (its line below).
nlohmann::json certificate_json(const ProgramRun& run);
// The same without the accesses, for reports: one object for each kernel and shape, with "kernel",
// "grid", "block", the counts "launches", "accesses" and "proved", and "summary", its line. Empty
// without --certificate.
nlohmann::json proofs_json(const RunRecord& record);
std::string certificate_text(const ProgramRun& run);

// "f(int*) <<<(4,1,1), (256,1,1)>>>: proved for every schedule and all data at this shape: 12 of 14
// accesses; k.cu:31 and k.cu:40 were checked in this run", for each launch of the record.
std::vector<std::string> certificate_lines(const RunRecord& record);

}  // namespace lockstep::exec
