// Loads, stores and atomics: the handlers, and the one function that turns lanes' addresses into
// host memory after all checks.
#pragma once

#include "simulator/engine/schedule/block.h"
#include "simulator/program/memory_access.h"

namespace lockstep::engine {

using program::kAcquire;
using program::kFloatResult;
using program::kFrameAddress;
using program::kHalfElements;
using program::kNarrowAddress;
using program::kRelease;
using program::kSignExtend;
using program::kStrong;

Handler load_handler(const Op& op);
Handler store_handler(const Op& op);
void run_atomic(Warp& w, const Op& op, LaneMask mask);

// Values of an atomic's operands and memory; Op::width says how many bytes.
enum class AtomicType : std::uint8_t { kUnsigned, kSigned, kFloat };

// .param space.
void load_kernel_parameter(Warp& w, const Op& op, LaneMask mask);
void load_storage(Warp& w, const Op& op, LaneMask mask);
void store_storage(Warp& w, const Op& op, LaneMask mask);

// Of lanes' accesses, the bits of each byte that nobody has written.
struct UnwrittenBits {
  LaneMask lanes = 0;  // those that it is about; of others, whole bytes are meant
  std::uint8_t of[kWarpSize][32];
};

// One instruction's worth of accesses.
struct Request {
  const Op* op = nullptr;
  std::uint32_t pc = 0;
  std::uint32_t size = 0;  // bytes a lane
  bool reads = false, writes = false;
  std::uint64_t address[kWarpSize];
  std::byte* host[kWarpSize];
  LaneMask unwritten = 0;  // lanes that read a byte nobody has written
  LaneMask remote = 0;     // lanes whose bytes are shared memory of another block
  LaneMask invalid = 0;    // stores: lanes whose value, or a part of it, was never written
  LaneMask derived = 0;    // stores: lanes of `invalid` whose value was computed from one
  // Loads: where resolve() notes of which bytes only some bits were written. Without it such bytes
  // count as written. Stores: bits of the value.
  UnwrittenBits* bits = nullptr;
  LaneMask masked = 0;  // stores: lanes of `invalid` whose value is what a mask has left of one,
                        // not put back where it was
  std::uint32_t missing[kWarpSize];  // of a lane in `unwritten` or `invalid`, the bytes of its
                                     // access that nobody has written, a bit each
  // Stores that say so have lanes' bytes written as soon as their accesses are recorded, and know
  // whether a lane would change anything.
  void (*store)(Warp& w, const Request& r, LaneMask lanes) = nullptr;
  LaneMask stored = 0;
  bool (*same)(Warp& w, const Request& r, int lane) = nullptr;
  const std::byte* value = nullptr;  // stores for which `same` is value_is_there(): lane 0's bytes,
  std::uint32_t value_stride = 0;    // and how far apart the lanes' bytes are
  const Validity::Word* invalid_word = nullptr;  // where such a value came from
};

// Checks the accesses of `lanes` (bounds, alignment, races; notes unwritten bytes) and finds their
// bytes. False: a finding ends the launch.
bool resolve(Warp& w, Request& r, isa::Space space, LaneMask lanes);

// For Request::same: whether a lane's bytes are in memory already.
bool value_is_there(Warp& w, const Request& r, int lane);

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

// Reads for the built-in functions (format strings, their arguments), unchecked for races: nullptr
// when out of bounds.
const std::byte* peek(Warp& w, int lane, std::uint64_t generic_address, std::uint32_t size);

}  // namespace lockstep::engine
