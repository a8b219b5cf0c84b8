// What the compiler knows of the engine: that it has a handler for each of these, and who has them.
#pragma once

#include <cstdint>

#include "simulator/program/alu_key.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// What an operation does that neither computes nor is an ordinary load or store. The headers beside
// this one say which fields of the operation it uses: memory_access.h, synchronisation.h, copies.h,
// images.h, matrix.h.
enum class Action : std::uint8_t {
  // Control. kCall's target: index into Program::calls; kBranchTable's src[0]: index, target: index
  // into Program::tables; kSleep's src[0]: nanoseconds.
  kCall,
  kReturn,
  kExit,
  kBranchTable,
  kTrap,
  kSleep,
  kHint,      // no effect that a program can see
  kLineHint,  // a hint about global memory at src[0] + immediate, of which nothing is read. width:
              // what the address must be a multiple of,
              // and so must src[1], the number of bytes, where there is one
  kSpecialRegister,  // target: isa::SpecialRegister; width: bytes of the destination
  kActiveMask,
  // The stack. kAlloca's src[0]: bytes, immediate: alignment.
  kAlloca,
  kStackSave,
  kStackRestore,
  // Addresses; immediate: what is added. width: bytes of the destination; register_bytes: of
  // kConvertAddress's source (4: no generic address).
  kConvertAddress,  // mode: AddressConversion
  kIsSpace,         // space: which; dst: predicate
  kLocalAddress,    // of a variable of a function's frame: base + immediate
  kMapAddress,
  kRankOfAddress,  // src[0]: address of `width` bytes; space: kSharedCluster, or kGeneric;
                   // kMapAddress's src[1]: rank
  // Memory.
  kAtomic,
  kLoadKernelParameter,
  kLoadStorage,
  kStoreStorage,
  kDiscard,  // the 128 bytes at src[0] + immediate hold anything from now on
  // Among threads.
  kSync,
  kBarrier,
  kFence,
  kStartDependents,  // griddepcontrol
  kWaitForGrids,
  kClusterArrive,
  kClusterWait,
  kMbarrier,
  kPendingCount,  // src[0]: a state of an mbarrier
  // Asynchronous copies. kCopyWait's and kBulkWait's immediate: groups that may be left, -1 for
  // wait_all; kCopyArrive's mode: 1 for .noinc.
  kCopyAsync,
  kCopyCommit,
  kCopyWait,
  kCopyArrive,
  kBulkCopy,
  kAsyncStore,
  kBulkCommit,
  kBulkWait,
  kTensorCopy,
  kTensorMapReplace,
  kTensorMapCopy,
  // fence.proxy. kTensorMapFence's src[0] + immediate: the map that is acquired.
  kProxyFence,
  kTensorMapFence,
  // Images. kTexture's and kSurfaceReduce's mode and src[1]: the level, or kNoSlot; isa::AtomOp.
  // dst2: predicate that says whether the elements are
  // resident, which they always are. kImageQuery's immediate: isa::ImageQuery; mode: 1 of a
  // surface, 0 of a texture.
  kTexture,
  kSurfaceLoad,
  kSurfaceStore,
  kSurfaceStoreFormatted,
  kSurfaceReduce,
  kImageQuery,
  // Matrices.
  kMultiply,
  kMoveMatrix,
  kLoadMatrix,
  kStoreMatrix,
  kLoadFragment,
  kStoreFragment,
  kWarpgroupFence,
  kWarpgroupMultiply,
  kWarpgroupCommit,
  kWarpgroupWait,
  kWarpgroupRegisters,  // setmaxnreg
  kCount,
};

// The handlers of an engine. One for each kind of operation; of those that have many, the one that
// fits the operation best.
class Handlers {
 public:
  virtual ~Handlers() = default;
  virtual Handler of(Action action) const = 0;
  // Operations whose fields are set but for `run`.
  virtual Handler load(const Op& op) const = 0;
  virtual Handler store(const Op& op) const = 0;
  // nullptr: this form is not implemented.
  virtual Handler compute(const AluKey& key) const = 0;
};

}  // namespace lockstep::program
