// What every file of handlers includes, and the rule that it keeps.
//
// Handlers are compiled for AVX2 and with options of their own for arithmetic (BUILD). So these
// files use no inline function or template of the standard library, nor any of ours that is not
// always_inline: the linker would keep one body for the whole program, and it might be theirs.
// Enumerations, constants, plain structs, compiler builtins and intrinsics are harmless.
#pragma once

#include "simulator/engine/ops/alu/alu.h"

#define LOCKSTEP_INLINE inline __attribute__((always_inline))
