// Follows values that were never written, from the load that met them to their first real use.
//
// A warp runs without any of this until a load meets unwritten bytes (or its function has a
// register that some path reads before it writes). From then on every operation's sources are
// looked at first. A copy passes the mark on, and arithmetic passes it on as "derived". A derived
// value is a finding in a branch, a guard, an address, an atomic or a store to global memory.
// Storing a mere copy is none: it marks the destination as unwritten again, which is what copying a
// structure with padding does. Nor is storing a derived value to shared or local memory, which
// nobody but the kernel sees: tiled kernels compute rows past the edge there and drop them. It
// marks the destination likewise, and a load of it gives a derived value of the same origin. Nor is
// storing a word after a mask, an or or a bfi has replaced some of its bits: that is how bit fields
// are assigned, and the other bits stay unwritten (bit_flow.h, memory/partly_written.h).
#pragma once

#include <string>
#include <vector>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

struct Request;

// Looks at the operation at `pc` before it runs for `mask`, out of the `active` lanes whose guard
// was evaluated. False: a finding ends the launch.
bool follow(Warp& w, std::uint32_t pc, LaneMask mask, LaneMask active);

// Marks `lanes` of the register at `slot` of the running frame as never written, by the operation
// at `pc`, and others of `written` as good. `bytes`: of each invalid lane, which bytes of the value
// are meant; nullptr: all. `bits`: which bits, in place of `bytes`.
void mark_register(Warp& w, Slot slot, LaneMask invalid, LaneMask written, std::uint32_t pc,
                   check::Kind kind = check::Kind::kUninitialised,
                   const std::uint8_t* bytes = nullptr, const std::uint64_t* bits = nullptr);
// What these marks of Kind::kAsyncOrder stand for is over: registers that have them are good.
void forget_order_marks(Warp& w, const std::vector<std::uint32_t>& marks);
// Gives `lanes` of the register at `slot` of the running frame the marks of another one, `word` of
// the frame `from`.
void carry_mark(Warp& w, Slot slot, const Frame& from, const Validity::Word& word, LaneMask lanes);
// After a store of r.invalid lanes has found its bytes: remembers where r.derived lanes' values
// come from.
void keep_origins(Warp& w, const Request& r);
// `bytes` bytes of shared or local memory from `first` on hold no such value any more, although
// they may count as unwritten: a copy has arrived there, or a call begins.
void forget_origins(Block& b, const std::byte* first, std::size_t bytes);
// After a load has marked `lanes` of the register at `slot`, whose bytes are `offset` from r.host:
// derived values are marked as such.
void take_origins(Warp& w, Slot slot, const Request& r, LaneMask lanes, std::uint32_t offset);
// Before a bulk or tensor copy to global memory takes the 16 bytes at `offset` of its block's
// shared memory. `unwritten`: the bytes that count as unwritten, a bit each. Only the kernel sees a
// computed value there; the copy makes it visible to all. False: a finding ends the launch.
bool check_copied_out(Warp& w, std::uint32_t pc, int lane, std::uint32_t offset,
                      std::uint16_t unwritten);
// Where such a value of the lane came from, in a sentence.
std::string origin_of(Warp& w, const Validity::Word& word, int lane);
// Remembers where `lanes` have read what nobody has written, in global memory and in shared memory
// of their own block. After the registers were marked.
void keep_addresses(Warp& w, const Request& r, LaneMask lanes);
// Lanes of `mask` whose value at `slot` was never written.
LaneMask invalid_lanes(const Warp& w, const Frame& frame, Slot slot, LaneMask mask);
// The operation that a mark comes from. A mark of Kind::kAsyncOrder says which execution of it
// besides (ops/matrix/warpgroup.cc).
inline constexpr int kOriginBits = 20;
inline std::uint32_t origin_pc(const Validity::Word& word) {
  return word.kind == check::Kind::kAsyncOrder ? word.pc & ((1u << kOriginBits) - 1) : word.pc;
}
// The word itself, or nullptr when nothing is marked in this frame.
Validity::Word* validity_word(Frame& frame, Slot slot);
void begin_tracking(Warp& w);

}  // namespace lockstep::engine
