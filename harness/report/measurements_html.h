// What was measured of the device, for report.html.
#pragma once

#include <string>

#include "harness/report/passport_file.h"

namespace lockstep {

// How the matrix units compute: a drawing and a table, with a row for the forms that compute alike.
// Empty where none was measured.
std::string matrix_units_html(const Passport& passport);

}  // namespace lockstep
