// The report in the open schema of mutation-testing-elements, version 2, which its viewers and
// dashboards read.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "simulator/exec/mutate/mutant.h"
#include "simulator/exec/mutate/mutation_score.h"

namespace lockstep::exec {

// Files have the names that the compiler used. Mutants without a line are listed in a file named
// after their kernel.
nlohmann::json mutation_json(const std::vector<Mutant>& mutants, Sources& sources);

}  // namespace lockstep::exec
