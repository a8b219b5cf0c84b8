// Functions of cuBLAS and cuBLASLt that the simulated libraries lack (exports.txt, lt_exports.txt;
// unsupported.awk generates their bodies).
#pragma once

namespace lockstep::cublas {

// Reports that the program called the function. Returns CUBLAS_STATUS_NOT_SUPPORTED.
int unsupported(const char* function);

}  // namespace lockstep::cublas
