// The functions of cuBLAS and cuBLASLt that the simulated ones do not have (exports.txt,
// lt_exports.txt; unsupported.awk writes their bodies).
#pragma once

namespace lockstep::cublas {

// Reports that the program wants the function; CUBLAS_STATUS_NOT_SUPPORTED.
int unsupported(const char* function);

}  // namespace lockstep::cublas
