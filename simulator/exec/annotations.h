// One line for each finding of a run, for programs that read a log: runners of workflows, and
// editors.
#pragma once

#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

enum class Annotations {
  kNone,
  // "::error file=FILE,line=7,title=race::TEXT": workflow commands, which become annotations of
  // changed lines. Information is a "::notice".
  kGithub,
  // "FILE:7: error: race: TEXT", as compilers print; the other side of a race follows as
  // "FILE:9: note: ...". Information is a "note".
  kLines,
};

// `name`: "github", "lines" or "none". Empty: kGithub where `github_actions`, the value of the
// variable GITHUB_ACTIONS, is "true", else kNone.
Annotations annotations_named(const std::string& name, const char* github_actions);

// The lines, each with its end; of findings that are not suppressed. Files are named from
// run.source_root, or from the working folder where that is empty.
std::string annotations(const ProgramRun& run, Annotations how);

}  // namespace lockstep::exec
