// The measurements of the device as HTML, for report.html.
#pragma once

#include <string>

#include "harness/report/passport_file.h"

namespace lockstep {

// The arithmetic of the matrix units: a drawing, and a table with one row for forms that compute
// alike. Empty if none was measured.
std::string matrix_units_html(const Passport& passport);

}  // namespace lockstep
