// How a source file of the engine is compiled once per instruction set.
//
// A file that executes lanes is compiled by the BUILD file with -DLOCKSTEP_ISA=avx2 and the flags of AVX2 and, if what it
// executes is frequent, once more with -DLOCKSTEP_ISA=avx512 and those of AVX-512; everything it defines lives in
// lockstep::engine::LOCKSTEP_ISA, so the two never meet.
//
// The rule such a file keeps: it uses no inline function or template of the standard library, nor any of ours that lives outside
// LOCKSTEP_ISA unless it is always_inline. An inline function that is emitted by both compilations has one name, and the
// linker keeps one of the two bodies: on a machine without AVX-512 that may be the body that traps. Enumerations, constants and plain
// structs are harmless, compiler builtins and the intrinsics (always_inline by construction) too.
#pragma once

#include "simulator/engine/alu.h"

#ifdef LOCKSTEP_ISA
#define LOCKSTEP_INLINE inline __attribute__((always_inline))
#endif

namespace lockstep::engine {

namespace avx2 {
Handler resolve_alu(const AluKey& key);
Handler resolve_rare_alu(const AluKey& key);
}
namespace avx512 {
Handler resolve_alu(const AluKey& key);
}

}  // namespace lockstep::engine
