// Matrix products under suspicion; see suspect.h.
#pragma once

#include <vector>

#include "kernels/matmul.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

using MatmulLauncher = decltype(kernels::matmul);

const std::vector<Suspect<MatmulLauncher>>& matmul_suspects();

}  // namespace lockstep::known_bad
