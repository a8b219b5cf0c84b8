// Where the time of a run's kernels went (engine/launch/time_profile.h): tables for people, and a
// file for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

inline constexpr const char* kProfileSchema = "lockstep.profile/1";

// A table of kernels, then one of the source lines that took longest, 20 at most; without line
// information, of PTX lines. Columns: seconds of host threads, their share of all, then how they
// are spent: loop, arithmetic, memory, races, initialisation, synchronisation, in percent. A
// sentence where no time was seen.
std::string time_table(const RunRecord& record);

// {"schema", "command", "exit_status", "complete", "device", "checks", "seconds", "kernels":
// [{"kernel", "seconds", "spent": {"memory": seconds, ...}}], "instructions": [{"kernel",
// "instruction", "ptx_line", "file", "line", "seconds", "spent"}]}; the longest first.
nlohmann::json profile_json(const ProgramRun& run);
std::string profile_text(const ProgramRun& run);

}  // namespace lockstep::exec
