// What an operation does, as far as it has a name: the compiler chooses the handler by it, and the
// engine's checks ask for it.
//
// Plain data only: this header is compiled into every instruction-set variant of the handlers.
#pragma once

#include <cstdint>

namespace lockstep::program {

// What an operation does that neither computes nor is an ordinary load or store. The headers beside
// this one say which fields of the operation it uses: memory_access.h, synchronisation.h, copies.h,
// images.h, matrix.h, tensor_memory.h.
enum class Action : std::uint8_t {
  kNone,    // it computes
  kBranch,  // bra: executed by the loop that runs warps
  kLoad,    // ld and st but of parameters
  kStore,
  // Control. kCall's index: index into Program::calls; kBranchTable's src[0]: index, index
  // into Program::tables; kSleep's src[0]: nanoseconds.
  kCall,
  kReturn,
  kExit,
  kBranchTable,
  kTrap,
  kSleep,
  kHint,      // no effect that a program can see
  kLineHint,  // a hint about global memory at src[0] + immediate; nothing is read. The address, and
              // src[1], the number of bytes where there is one, must be multiples of `width`
  kSpecialRegister,  // SpecialRegisterFields; width: bytes of the destination
  kActiveMask,
  // The stack. kAlloca's src[0]: bytes, immediate: alignment.
  kAlloca,
  kStackSave,
  kStackRestore,
  // Addresses; immediate: what is added. width: bytes of the destination; register_bytes: of
  // kConvertAddress's source (4: no generic address).
  kConvertAddress,  // AddressConversionFields
  kIsSpace,         // space: which; dst: predicate
  kLocalAddress,    // of a variable of a function's frame: base + immediate
  kSharedAddress,   // immediate, an address of shared memory, with the name of the own block
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
