// Loads, stores and atomics: the handlers.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

Handler load_handler(const Op& op);
Handler store_handler(const Op& op);
void run_atomic(Warp& w, const Op& op, LaneMask mask);

// The type of an atomic's operands and memory. Op::width is the number of bytes.
enum class AtomicType : std::uint8_t { kUnsigned, kSigned, kFloat };

// .param space.
void load_kernel_parameter(Warp& w, const Op& op, LaneMask mask);
void load_storage(Warp& w, const Op& op, LaneMask mask);
void store_storage(Warp& w, const Op& op, LaneMask mask);

// As run_atomic(), with the addresses already in r.address.
void run_atomic_at(Warp& w, const Op& op, Request& r, LaneMask mask);

// Applies the operation of an atomic (with its mode, flags and width) to one element at which a
// lane's access has been resolved. `value`: `op.width` bytes. `subnormals`: f32 addition keeps
// subnormals, which an atomic flushes.
void reduce_element(Warp& w, const Op& op, const Request& r, int lane, const std::byte* value,
                    bool subnormals);

// The result in memory of an atomic on an integer of `width` bytes, 4 or 8.
std::uint64_t reduced_integer(isa::AtomOp what, bool is_signed, std::uint32_t width,
                              std::uint64_t old, std::uint64_t value);

}  // namespace lockstep::engine
