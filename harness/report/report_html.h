// report.html: a run's passport and pictures for people, as one file that needs nothing else: no network, no folder
// beside it. It can be mailed, kept with a build, and printed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/report/passport_file.h"

namespace lockstep {

// What the page is made of besides its contents; see harness/report/.
struct ReportAssets {
  std::string css, js, d3;
};
// From the runfiles; empty, or a sentence about what is missing.
std::string read_assets(ReportAssets& assets);

// A picture of golden, actual and difference side by side, as a PNG file's bytes.
struct Picture {
  std::string scene, png;
};
// Those that a run left in `out`/outputs, in alphabetical order.
std::vector<Picture> read_pictures(const std::string& out);

std::string report_html(const Passport& passport, const std::vector<Picture>& pictures, const ReportAssets& assets);

}  // namespace lockstep
