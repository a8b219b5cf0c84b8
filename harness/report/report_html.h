// report.html: a run's passport and pictures for people, as one file that needs nothing else: no
// network, no folder beside it. It can be mailed, kept with a build, and printed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/report/passport_file.h"
#include "harness/report/report_context.h"

namespace lockstep {

// What the page is made of besides its contents; see harness/report/.
struct ReportAssets {
  std::string css, js, d3;
};
// From the runfiles; empty, or a sentence about what is missing.
std::string read_assets(ReportAssets& assets);

std::string report_html(const Passport& passport, const ReportContext& context,
                        const ReportAssets& assets);

}  // namespace lockstep
