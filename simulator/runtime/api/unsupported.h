// The functions of libcudart.so.13 that the simulated GPU does not support. Each is exported,
// prints a message once to stderr and returns cudaErrorNotSupported. exports.txt lists them;
// unsupported.awk generates their bodies.
#pragma once

extern "C" int lockstep_unsupported(const char* function, int* said);
