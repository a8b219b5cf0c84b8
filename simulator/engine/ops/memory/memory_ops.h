// Loads, stores and atomics: the handlers.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

Handler load_handler(const Op& op);
Handler store_handler(const Op& op);
void run_atomic(Warp& w, const Op& op, LaneMask mask);

// Values of an atomic's operands and memory; Op::width says how many bytes.
enum class AtomicType : std::uint8_t { kUnsigned, kSigned, kFloat };

// .param space.
void load_kernel_parameter(Warp& w, const Op& op, LaneMask mask);
void load_storage(Warp& w, const Op& op, LaneMask mask);
void store_storage(Warp& w, const Op& op, LaneMask mask);

// run_atomic() with the addresses in r.address found already.
void run_atomic_at(Warp& w, const Op& op, Request& r, LaneMask mask);

// The operation of an atomic (mode, flags, width as of one) on one element that a lane's access has
// found. `value`: of `op.width` bytes. `subnormals`: f32 addition keeps them, as the atomic does
// not.
void reduce_element(Warp& w, const Op& op, const Request& r, int lane, const std::byte* value,
                    bool subnormals);

// What an atomic on an integer of `width` bytes, 4 or 8, leaves behind.
std::uint64_t reduced_integer(isa::AtomOp what, bool is_signed, std::uint32_t width,
                              std::uint64_t old, std::uint64_t value);

}  // namespace lockstep::engine
