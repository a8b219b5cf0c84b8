// Tracks uninitialised values from the load that read them to their first real use.
//
// A warp runs without tracking until a load reads unwritten bytes, or its function has a register
// that some path reads before it writes. From then on every operation's sources are examined first.
// A copy passes the mark on. Arithmetic passes it on as "derived". A derived value is a finding in
// a branch, a guard, an address, an atomic or a store to global memory. These stores are no
// finding:
// - of a mere copy. It marks the destination as unwritten again, as copying a structure with
//   padding does.
// - of a derived value to shared or local memory, which only the kernel sees. Tiled kernels compute
//   rows past the edge there and drop them. The destination is marked, and a load of it returns a
//   derived value of the same origin.
// - of a word of which a mask, an or or a bfi has replaced some bits. Bit fields are assigned that
//   way, and the other bits stay unwritten (bit_flow.h, memory/partly_written.h).
#pragma once

#include <string>
#include <vector>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

struct Request;

// Examines the operation at `pc` before it runs for `mask`, a part of the `active` lanes for which
// the guard was evaluated. Returns false if a finding ends the launch.
bool follow(Warp& w, std::uint32_t pc, LaneMask mask, LaneMask active);

// Marks the lanes `invalid` of the register at `slot` of the running frame as uninitialised by the
// operation at `pc`, and the other lanes of `written` as valid. `bytes`: the affected bytes of each
// invalid lane; nullptr: all. `bits`: the affected bits, instead of `bytes`.
void mark_register(Warp& w, Slot slot, LaneMask invalid, LaneMask written, std::uint32_t pc,
                   check::Kind kind = check::Kind::kUninitialised,
                   const std::uint8_t* bytes = nullptr, const std::uint64_t* bits = nullptr);
// The conditions behind these marks of Kind::kAsyncOrder no longer hold: registers with these marks
// become valid.
void forget_order_marks(Warp& w, const std::vector<std::uint32_t>& marks);
// Copies the marks of `word` of the frame `from` to `lanes` of the register at `slot` of the
// running frame.
void carry_mark(Warp& w, Slot slot, const Frame& from, const Validity::Word& word, LaneMask lanes);
// Call after a store of r.invalid lanes has found its bytes. Records the origins of the values of
// r.derived lanes.
void keep_origins(Warp& w, const Request& r);
// Forgets the origins of `bytes` bytes of shared or local memory from `first` on, because a copy
// has arrived there or a call starts. They may still count as unwritten.
void forget_origins(Block& b, const std::byte* first, std::size_t bytes);
// Call after a load has marked `lanes` of the register at `slot`. Marks derived values as such. The
// register's bytes are `offset` from r.host.
void take_origins(Warp& w, Slot slot, const Request& r, LaneMask lanes, std::uint32_t offset);
// Call before a bulk or tensor copy to global memory copies the 16 bytes at `offset` of its block's
// shared memory. `unwritten`: the bytes that count as unwritten, one bit each. A derived value is
// allowed in shared memory, but the copy makes it visible outside the kernel. Returns false if a
// finding ends the launch.
bool check_copied_out(Warp& w, std::uint32_t pc, int lane, std::uint32_t offset,
                      std::uint16_t unwritten);
// A sentence that says where such a value of the lane came from.
std::string origin_of(Warp& w, const Validity::Word& word, int lane);
// Records the addresses from which `lanes` have read uninitialised values, in global memory and in
// shared memory of their own block. Call after the registers were marked.
void keep_addresses(Warp& w, const Request& r, LaneMask lanes);
// Lanes of `mask` whose value at `slot` is uninitialised.
LaneMask invalid_lanes(const Warp& w, const Frame& frame, Slot slot, LaneMask mask);
// The operation that a mark comes from. A mark of Kind::kAsyncOrder also stores which execution of
// the operation it was (ops/matrix/warpgroup.cc).
inline constexpr int kOriginBits = 20;
inline std::uint32_t origin_pc(const Validity::Word& word) {
  return word.kind == check::Kind::kAsyncOrder ? word.pc & ((1u << kOriginBits) - 1) : word.pc;
}
// The word itself, or nullptr if nothing is marked in this frame.
Validity::Word* validity_word(Frame& frame, Slot slot);
void begin_tracking(Warp& w);

}  // namespace lockstep::engine
