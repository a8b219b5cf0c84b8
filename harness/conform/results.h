// What a run leaves in its folder: passport.json, junit.xml and report.html.
#pragma once

#include <filesystem>
#include <string>

#include "harness/report/run_report.h"

namespace lockstep {

// The commit of the tree around the program: from the caller (LOCKSTEP_COMMIT), or from git where
// there is one. `scratch` is a folder that may be written.
void find_commit(RunReport& report, const std::filesystem::path& scratch);

// Empty, or a sentence: what could not be written, which is then not there.
std::string save_results(const RunReport& report, const std::filesystem::path& out);

}  // namespace lockstep
