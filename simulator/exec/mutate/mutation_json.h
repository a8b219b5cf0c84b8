// The report in the open schema of mutation-testing-elements, version 2, for its viewers and
// dashboards.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "simulator/exec/mutate/mutant.h"
#include "simulator/exec/mutate/mutation_score.h"

namespace lockstep::exec {

// Files have the compiler's names. A mutant without a source line is listed under a file named
// after its kernel.
nlohmann::json mutation_json(const std::vector<Mutant>& mutants, Sources& sources);

}  // namespace lockstep::exec
