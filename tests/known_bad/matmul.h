// Matrix products under suspicion; see suspect.h.
#pragma once

#include "kernels/matmul.h"
#include "tests/known_bad/suspect.h"

namespace lockstep::known_bad {

using MatmulLauncher = decltype(kernels::matmul);

Suspects<MatmulLauncher> matmul_suspects();

}  // namespace lockstep::known_bad
