// The command line of a program of random calls.
#pragma once

#include <cstdint>
#include <cstdio>

namespace lockstep::calls {

// PROGRAM record FIRST COUNT: prints what the calls of COUNT seeds return, from seed FIRST.
// PROGRAM check FILE: compares these answers with those in FILE, which zstd compressed.
//
// `run` makes the calls of a seed and writes their transcript, which opens with "seed N". Each seed
// has a process of its own, since an implementation may end it. Returns the exit status: 1 for
// answers that differ, 2 for wrong arguments.
int run_seeds(int argc, char** argv, void (*run)(std::uint64_t seed, std::FILE* out));

}  // namespace lockstep::calls
