// The functions of libcudart.so.13 that the simulated GPU does not have: each is exported, says so
// once on stderr and answers cudaErrorNotSupported. exports.txt lists them; unsupported.awk writes
// their bodies.
#pragma once

extern "C" int lockstep_unsupported(const char* function, int* said);
