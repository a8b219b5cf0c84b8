// One line for each finding of a run, for programs that read a log, such as workflow runners and
// editors.
#pragma once

#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

enum class Annotations {
  kNone,
  // "::error file=FILE,line=7,title=race::TEXT": workflow commands, which become annotations of
  // changed lines. Information becomes a "::notice".
  kGithub,
  // "FILE:7: error: race: TEXT", as compilers print. The other side of a race follows as "FILE:9:
  // note: ...". Information becomes a "note".
  kLines,
};

// `name`: "github", "lines" or "none". If it is empty, the result is kGithub if `github_actions`,
// the value of GITHUB_ACTIONS, is "true", and kNone otherwise.
Annotations annotations_named(const std::string& name, const char* github_actions);

// The lines for all findings that are not suppressed, each with a line end. Files are named
// relative to run.source_root, or to the working folder if it is empty.
std::string annotations(const ProgramRun& run, Annotations how);

}  // namespace lockstep::exec
