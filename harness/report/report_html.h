// report.html: a run's passport and pictures in one self-contained file, without network access or
// other files. It can be mailed, archived with a build, and printed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/report/passport_file.h"
#include "harness/report/report_context.h"

namespace lockstep {

// The parts of the page besides its contents; see harness/report/.
struct ReportAssets {
  std::string css, js, d3;
};
// Reads them from the runfiles. Returns an empty text, or a sentence that names the missing file.
std::string read_assets(ReportAssets& assets);

std::string report_html(const Passport& passport, const ReportContext& context,
                        const ReportAssets& assets);

}  // namespace lockstep
