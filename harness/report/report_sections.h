// Sections of report.html about more than one run's ledger.
#pragma once

#include <string>

#include "harness/report/report_context.h"

namespace lockstep {

// What kind of run it was, where it was not a whole one: a sentence, as HTML; empty for a whole
// one.
std::string kind_of_run(const Passport& passport);
// The word beside the verdict: "ONE CASE", "PARTIAL", "A PART"; empty for a whole run.
std::string mark_of_run(const Passport& passport);

// What changed since an earlier run; empty without one.
std::string change_section(const Passport& passport, const ReportContext& context);

// What each kernel did, as `lockstep counters` has counted it; empty without that.
std::string kernel_section(const ReportContext& context);

// How good the suites are: mutants that they notice, and what they execute of the kernels. Empty
// where neither is known.
std::string judgement_section(const ReportContext& context);

}  // namespace lockstep
