#include "simulator/compile/memory_order.h"

#include "simulator/check/scope.h"
#include "simulator/program/memory_access.h"

namespace lockstep::compile {

using isa::Semantics;

std::uint8_t ordering(const isa::Modifiers& m) {
  switch (m.semantics) {
    case Semantics::kNone:
    case Semantics::kWeak: return 0;
    case Semantics::kAcquire: return program::kStrong | program::kAcquire;
    case Semantics::kRelease: return program::kStrong | program::kRelease;
    case Semantics::kAcqRel:
    case Semantics::kSc: return program::kStrong | program::kAcquire | program::kRelease;
    default: return program::kStrong;
  }
}

std::uint8_t scope_of(const isa::Modifiers& m) {
  switch (m.scope) {
    case isa::Scope::kCta: return static_cast<std::uint8_t>(check::Scope::kBlock);
    case isa::Scope::kCluster: return static_cast<std::uint8_t>(check::Scope::kCluster);
    default:
      return static_cast<std::uint8_t>(
          check::Scope::kGrid);  // .gpu, .sys, and instructions without a scope: atom, ld.volatile
  }
}

isa::Space space_of(const isa::Modifiers& m) {
  return m.space == isa::Space::kNone ? isa::Space::kGeneric : m.space;
}

}  // namespace lockstep::compile
