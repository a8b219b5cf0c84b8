// Writes a run's results to its folder: passport.json, junit.xml and report.html.
#pragma once

#include <filesystem>
#include <string>

#include "harness/report/run_report.h"

namespace lockstep {

// Sets the report's commit: from the caller (LOCKSTEP_COMMIT), or from git in a checkout. `scratch`
// is a writable folder.
void find_commit(RunReport& report, const std::filesystem::path& scratch);

// Returns an empty text, or a sentence that names the file that could not be written.
std::string save_results(const RunReport& report, const std::filesystem::path& out);

}  // namespace lockstep
