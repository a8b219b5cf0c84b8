// The time that a run's kernels took (engine/launch/time_profile.h): tables for people and a file
// for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

inline constexpr const char* kProfileSchema = "lockstep.profile/1";

// A table of kernels, then a table of the at most 20 source lines that took longest; PTX lines
// without line information. Columns: seconds of host threads, their share of the total, then the
// percentages of loop, arithmetic, memory, races, initialisation and synchronisation. A sentence if
// no time was recorded.
std::string time_table(const RunRecord& record);

// {"schema", "command", "exit_status", "complete", "device", "checks", "seconds", "kernels":
// [{"kernel", "seconds", "spent": {"memory": seconds, ...}}], "instructions": [{"kernel",
// "instruction", "ptx_line", "file", "line", "seconds", "spent"}]}, longest first.
nlohmann::json profile_json(const ProgramRun& run);
std::string profile_text(const ProgramRun& run);

}  // namespace lockstep::exec
