// LOCKSTEP_PROOF=compare: compares what is proved of a kernel's accesses before its launch with
// what its threads do. The process stops with SIGABRT at the first difference: the proof is wrong,
// and so would be a run that relies on it.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/engine/state/block.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

// Whether accesses to the allocation may race, as far as is proved of the launch. Memory that the
// host or other processes see always counts.
bool may_race_in(const Launch& launch, const memory::Allocation& a);
// Whether they may race only with loads that are not proved: see Launch::deferred.
bool may_race_if_read(const Launch& launch, const memory::Allocation& a);

// Call before `lanes` execute the operation at `pc`. Their threads and addresses must be those of
// the certificate.
void compare_with_proof(Warp& w, std::uint32_t pc, LaneMask lanes);
// Call when the search has found that the operation at `mine` races in `lane`, at `address`, with
// the one at `other`. nullopt: with an access of another launch.
void compare_race_with_proof(const Warp& w, isa::Space space, std::uint64_t address,
                             std::uint32_t mine, std::optional<std::uint32_t> other, int lane);
// Call when the load at `pc` has loaded uninitialised bytes in `lanes`.
void compare_unwritten_with_proof(const Warp& w, std::uint32_t pc, LaneMask lanes);

}  // namespace lockstep::engine
