// The includes of every file of handlers, and a rule for these files.
//
// Handlers are compiled for AVX2 and with special options for arithmetic (BUILD). So these files
// must not use inline functions or templates of the standard library, nor any of ours that is not
// always_inline: the linker keeps one body for the whole program, and it might keep theirs.
// Enumerations, constants, plain structs, compiler builtins and intrinsics are harmless.
#pragma once

#include "simulator/engine/ops/alu/alu.h"

#define LOCKSTEP_INLINE inline __attribute__((always_inline))
