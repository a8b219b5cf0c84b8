// Sections of report.html that need more than the run's own ledger.
#pragma once

#include <string>

#include "harness/report/report_context.h"

namespace lockstep {

// What part of the suites the run executed: a sentence, as HTML; empty for a whole run.
std::string kind_of_run(const Passport& passport);
// The word beside the verdict: "ONE CASE", "PARTIAL", "A PART"; empty for a whole run.
std::string mark_of_run(const Passport& passport);

// The changes since an earlier run; empty without one.
std::string change_section(const Passport& passport, const ReportContext& context);

// The counters of each kernel, from `lockstep counters`; empty without them.
std::string kernel_section(const ReportContext& context);

// The quality of the suites: killed mutants, and coverage of the kernels. Empty if neither is
// known.
std::string judgement_section(const ReportContext& context);

}  // namespace lockstep
