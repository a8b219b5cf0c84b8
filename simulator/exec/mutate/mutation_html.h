// The report as a self-contained HTML page.
#pragma once

#include <string>
#include <vector>

#include "simulator/exec/mutate/mutant.h"
#include "simulator/exec/mutate/mutation_score.h"

namespace lockstep::exec {

std::string mutation_html(const std::vector<Mutant>& mutants, Sources& sources,
                          const std::vector<std::string>& command);

}  // namespace lockstep::exec
