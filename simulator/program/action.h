// The named actions of operations. The compiler chooses a handler by the action, and the engine's
// checks examine it.
//
// Plain data only: this header is compiled into every instruction-set variant of the handlers.
#pragma once

#include <cstdint>

namespace lockstep::program {

// The action of an operation that neither computes nor is an ordinary load or store. The
// neighbouring headers describe the fields that each action uses: memory_access.h,
// synchronisation.h, copies.h, images.h, matrix.h, tensor_memory.h.
enum class Action : std::uint8_t {
  kNone,    // computes
  kBranch,  // bra: executed by the loop that runs warps
  kLoad,    // ld and st, except of parameters
  kStore,
  // Control. kCall: index into Program::calls. kBranchTable: src[0] is the index in the table,
  // index selects one of Program::tables. kSleep: src[0] is nanoseconds.
  kCall,
  kReturn,
  kExit,
  kBranchTable,
  kTrap,
  kSleep,
  kHint,      // no effect that is visible to a program
  kLineHint,  // a hint about global memory at src[0] + immediate; reads nothing. The address, and
              // the number of bytes src[1] if given, must be multiples of `width`
  kSpecialRegister,  // SpecialRegisterFields; width: bytes of the destination
  kActiveMask,
  // The stack. kAlloca: src[0] is the number of bytes, immediate the alignment.
  kAlloca,
  kStackSave,
  kStackRestore,
  // Addresses. immediate: the offset to add. width: bytes of the destination. register_bytes: bytes
  // of kConvertAddress's source (4: not a generic address).
  kConvertAddress,  // AddressConversionFields
  kIsSpace,         // space: the state space to test for; dst: predicate
  kLocalAddress,    // of a variable in a function's frame: base + immediate
  kSharedAddress,   // immediate: an address of shared memory, in the window of the own block
  kMapAddress,
  kRankOfAddress,  // src[0]: address of `width` bytes; space: kSharedCluster or kGeneric;
                   // kMapAddress: src[1] is the rank
  // Memory.
  kAtomic,
  kLoadKernelParameter,
  kLoadStorage,
  kStoreStorage,
  kDiscard,  // makes the 128 bytes at src[0] + immediate indeterminate
  // Communication between threads.
  kSync,
  kBarrier,
  kFence,
  kStartDependents,  // griddepcontrol
  kWaitForGrids,
  kClusterArrive,
  kClusterWait,
  kMbarrier,
  kPendingCount,  // src[0]: an mbarrier state
  // Asynchronous copies. kCopyWait, kBulkWait: immediate is the number of groups that may still be
  // pending, -1 for wait_all. kCopyArrive: mode is 1 for .noinc.
  kCopyAsync,
  kCopyCommit,
  kCopyWait,
  kCopyArrive,
  kBulkCopy,
  kAsyncStore,
  kBulkStore,
  kTryCancel,  // clusterlaunchcontrol.try_cancel
  kBulkCommit,
  kBulkWait,
  kTensorCopy,
  kMultimem,
  kTensorMapReplace,
  kTensorMapCopy,
  // fence.proxy. kTensorMapFence: src[0] + immediate is the acquired map.
  kProxyFence,
  kTensorMapFence,
  // Images. kTexture: src[1] is the level, or kNoSlot. kSurfaceReduce: mode is isa::AtomOp. dst2: a
  // predicate that says whether the elements are resident, which is always true. kImageQuery:
  // immediate is isa::ImageQuery; mode is 1 for a surface, 0 for a texture.
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
  // Tensor memory (tensor_memory.h). First the operations of a whole warp.
  kTensorAllocate,
  kTensorFree,
  kTensorRelinquish,
  kTensorLoad,
  kTensorStore,
  kTensorWait,
  kTensorFill,   // tcgen05.cp
  kTensorShift,  // tcgen05.shift
  kTensorFence,
  kTensorCommit,
  kTensorMultiply,
  kCount,
};

}  // namespace lockstep::program
