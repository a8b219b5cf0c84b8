// The named actions of operations. The compiler selects the handler by the action, and the engine's
// checks test it.
//
// Plain data only: this header is compiled into every instruction-set variant of the handlers.
#pragma once

#include <cstdint>

namespace lockstep::program {

// The action of an operation that neither computes nor is an ordinary load or store. The headers
// beside this one describe the fields that each action uses: memory_access.h, synchronisation.h,
// copies.h, images.h, matrix.h, tensor_memory.h.
enum class Action : std::uint8_t {
  kNone,    // it only computes
  kBranch,  // bra: executed by the loop that runs warps
  kLoad,    // ld and st, except of parameters
  kStore,
  // Control. kCall's index: index into Program::calls; kBranchTable's src[0]: index, index
  // into Program::tables; kSleep's src[0]: nanoseconds.
  kCall,
  kReturn,
  kExit,
  kBranchTable,
  kTrap,
  kSleep,
  kHint,      // no visible effect
  kLineHint,  // a hint about global memory at src[0] + immediate; reads nothing. The address, and
              // the number of bytes in src[1] if present, must be multiples of `width`
  kSpecialRegister,  // SpecialRegisterFields; width: bytes of the destination
  kActiveMask,
  // The stack. kAlloca's src[0]: bytes, immediate: alignment.
  kAlloca,
  kStackSave,
  kStackRestore,
  // Addresses. immediate: an offset that is added. width: bytes of the destination. register_bytes:
  // of kConvertAddress's source (4: not a generic address).
  kConvertAddress,  // AddressConversionFields
  kIsSpace,         // space: which; dst: predicate
  kLocalAddress,    // the address of a variable in a function's frame: base + immediate
  kSharedAddress,   // immediate, an address of shared memory, with the name of the own block added
  kMapAddress,
  kRankOfAddress,  // src[0]: address of `width` bytes; space: kSharedCluster, or kGeneric;
                   // kMapAddress's src[1]: rank
  // Memory.
  kAtomic,
  kLoadKernelParameter,
  kLoadStorage,
  kStoreStorage,
  kDiscard,  // the 128 bytes at src[0] + immediate become undefined
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
  kBulkStore,
  kTryCancel,  // clusterlaunchcontrol.try_cancel
  kBulkCommit,
  kBulkWait,
  kTensorCopy,
  kMultimem,
  kTensorMapReplace,
  kTensorMapCopy,
  // fence.proxy. kTensorMapFence's src[0] + immediate: the map that is acquired.
  kProxyFence,
  kTensorMapFence,
  // Images. kTexture's and kSurfaceReduce's mode and src[1]: the level, or kNoSlot; isa::AtomOp.
  // dst2: a predicate whether the elements are resident, which is always true. kImageQuery's
  // immediate: isa::ImageQuery; mode: 1 for a surface, 0 for a texture.
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
  // Tensor memory (tensor_memory.h). Those of a whole warp first.
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
