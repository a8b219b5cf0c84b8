// The memory accesses of one instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/program/memory_access.h"

namespace lockstep::engine {

using program::AtomicFields;
using program::kAcquire;
using program::kFloatResult;
using program::kFrameAddress;
using program::kHalfElements;
using program::kNarrowAddress;
using program::kRelease;
using program::kSignExtend;
using program::kStrong;
using program::MemoryFields;

// For lanes' accesses: the bits of each byte that nobody has written.
struct UnwrittenBits {
  LaneMask lanes = 0;  // the lanes that it describes; of other lanes, whole bytes are meant
  std::uint8_t of[kWarpSize][32];
};

// One instruction's worth of accesses.
struct Request {
  const Op* op = nullptr;
  std::uint32_t pc = 0;
  std::uint32_t size = 0;  // for each lane
  bool reads = false, writes = false;
  bool counts_changes = false;  // only bytes whose value differs count as changes: its handler
                                // calls on_write (monitor/progress.h)
  int issuer = -1;              // the lane that makes all accesses; -1: each lane makes its own
  std::uint64_t address[kWarpSize];
  std::byte* host[kWarpSize];
  LaneMask unwritten = 0;  // lanes that read a byte nobody has written
  LaneMask remote = 0;     // lanes whose bytes are in the shared memory of another block
  LaneMask invalid = 0;    // stores: lanes whose value, or a part of it, was never written
  LaneMask derived =
      0;  // stores: lanes of `invalid` whose value is derived from an uninitialised one
  // Loads: where resolve() notes bytes of which only some bits are written; nullptr: such bytes
  // count as written. Stores: the unwritten bits of the value.
  UnwrittenBits* bits = nullptr;
  LaneMask masked =
      0;  // stores: lanes of `invalid` whose value is what a mask has left, not merged back
  std::uint32_t missing[kWarpSize];  // of a lane in `unwritten` or `invalid`: the bytes of its
                                     // access that nobody has written, one bit each
  // Stores that set these: `store` writes lanes' bytes as soon as their accesses are recorded, and
  // `same` returns whether a lane would change nothing.
  void (*store)(Warp& w, const Request& r, LaneMask lanes) = nullptr;
  LaneMask stored = 0;
  bool (*same)(Warp& w, const Request& r, int lane) = nullptr;
  // cp.async, whose bytes arrive later: whether the bytes that thread `other` of the block has
  // copied to the place of `lane`, by the cp.async at `pc`, are the same.
  bool (*brings)(Warp& w, const Request& r, int lane, std::uint32_t other,
                 std::uint32_t pc) = nullptr;
  const std::byte* value = nullptr;  // stores with value_is_there() as `same`: lane 0's bytes
  std::uint32_t value_stride = 0;    // and the distance between lanes' bytes
  const Validity::Word* invalid_word = nullptr;  // where such a value came from

  // The lane whose access the one of lane `i` is.
  int lane_of(int i) const { return issuer < 0 ? i : issuer; }
};

}  // namespace lockstep::engine
