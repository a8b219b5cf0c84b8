#include "simulator/engine/run/handlers.h"

#include "simulator/engine/ops/alu/alu.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/async/mbarrier.h"
#include "simulator/engine/ops/async/multimem.h"
#include "simulator/engine/ops/async/proxy_fences.h"
#include "simulator/engine/ops/async/tensor_copy.h"
#include "simulator/engine/ops/control/control.h"
#include "simulator/engine/ops/control/special_registers.h"
#include "simulator/engine/ops/matrix/whole_warp.h"
#include "simulator/engine/ops/memory/image_ops.h"
#include "simulator/engine/ops/memory/memory_ops.h"
#include "simulator/engine/ops/sync/barrier.h"
#include "simulator/engine/ops/sync/cluster.h"
#include "simulator/engine/ops/sync/collectives.h"
#include "simulator/engine/ops/sync/dependent_grids.h"
#include "simulator/engine/ops/tensor/tensor.h"

namespace lockstep::engine {
namespace {

using program::Action;

class EngineHandlers final : public program::Handlers {
 public:
  Handler of(Action action) const override {
    switch (action) {
      case Action::kNone:
      case Action::kBranch:
      case Action::kLoad:
      case Action::kStore: break;  // selected elsewhere
      case Action::kCall: return &run_call;
      case Action::kReturn: return &run_return;
      case Action::kExit: return &run_exit;
      case Action::kBranchTable: return &run_branch_table;
      case Action::kTrap: return &run_trap;
      case Action::kSleep: return &run_nanosleep;
      case Action::kHint: return &run_nothing;
      case Action::kStartDependents: return &run_start_dependents;
      case Action::kWaitForGrids: return &run_wait_for_grids;
      case Action::kLineHint: return &run_line_hint;
      case Action::kSpecialRegister: return &run_special;
      case Action::kActiveMask: return &run_activemask;
      case Action::kAlloca: return &run_alloca;
      case Action::kStackSave: return &run_stack_save;
      case Action::kStackRestore: return &run_stack_restore;
      case Action::kConvertAddress: return &run_convert_address;
      case Action::kIsSpace: return &run_is_space;
      case Action::kLocalAddress: return &run_local_address;
      case Action::kSharedAddress: return &run_shared_address;
      case Action::kMapAddress: return &run_map_address;
      case Action::kRankOfAddress: return &run_rank_of_address;
      case Action::kAtomic: return &run_atomic;
      case Action::kLoadKernelParameter: return &load_kernel_parameter;
      case Action::kLoadStorage: return &load_storage;
      case Action::kStoreStorage: return &store_storage;
      case Action::kDiscard: return &run_discard;
      case Action::kSync: return &run_sync;
      case Action::kBarrier: return &run_bar;
      case Action::kFence: return &run_fence;
      case Action::kClusterArrive: return &run_cluster_arrive;
      case Action::kClusterWait: return &run_cluster_wait;
      case Action::kMbarrier: return &run_mbarrier;
      case Action::kPendingCount: return &run_pending_count;
      case Action::kCopyAsync: return &run_copy_async;
      case Action::kCopyCommit: return &run_copy_commit;
      case Action::kCopyWait: return &run_copy_wait;
      case Action::kCopyArrive: return &run_copy_arrive;
      case Action::kBulkCopy: return &run_bulk_copy;
      case Action::kAsyncStore: return &run_async_store;
      case Action::kBulkStore: return &run_bulk_store;
      case Action::kTryCancel: return &run_try_cancel;
      case Action::kBulkCommit: return &run_bulk_commit;
      case Action::kBulkWait: return &run_bulk_wait;
      case Action::kTensorCopy: return &run_tensor_copy;
      case Action::kMultimem: return &run_multimem;
      case Action::kTensorMapReplace: return &run_tensor_map_replace;
      case Action::kTensorMapCopy: return &run_tensor_map_copy;
      case Action::kProxyFence: return &run_proxy_fence;
      case Action::kTensorMapFence: return &run_tensor_map_fence;
      case Action::kTexture: return &run_texture;
      case Action::kSurfaceLoad: return &run_surface_load;
      case Action::kSurfaceStore: return &run_surface_store;
      case Action::kSurfaceStoreFormatted: return &run_surface_store_formatted;
      case Action::kSurfaceReduce: return &run_surface_reduce;
      case Action::kImageQuery: return &run_image_query;
      case Action::kMultiply: return &run_multiply;
      case Action::kMoveMatrix: return &run_move_matrix;
      case Action::kLoadMatrix: return &run_load_matrix;
      case Action::kStoreMatrix: return &run_store_matrix;
      case Action::kLoadFragment: return &run_load_fragment;
      case Action::kStoreFragment: return &run_store_fragment;
      case Action::kWarpgroupFence: return &run_warpgroup_fence;
      case Action::kWarpgroupMultiply: return &run_warpgroup_multiply;
      case Action::kWarpgroupCommit: return &run_warpgroup_commit;
      case Action::kWarpgroupWait: return &run_warpgroup_wait;
      case Action::kWarpgroupRegisters: return &run_warpgroup_registers;
      case Action::kTensorAllocate: return &run_tensor_allocate;
      case Action::kTensorFree: return &run_tensor_free;
      case Action::kTensorRelinquish: return &run_tensor_relinquish;
      case Action::kTensorLoad: return &run_tensor_load;
      case Action::kTensorStore: return &run_tensor_store;
      case Action::kTensorWait: return &run_tensor_wait;
      case Action::kTensorFill: return &run_tensor_fill;
      case Action::kTensorShift: return &run_tensor_shift;
      case Action::kTensorFence: return &run_tensor_fence;
      case Action::kTensorCommit: return &run_tensor_commit;
      case Action::kTensorMultiply: return &run_tensor_multiply;
      case Action::kCount: break;
    }
    return nullptr;
  }
  Handler load(const Op& op) const override { return load_handler(op); }
  Handler store(const Op& op) const override { return store_handler(op); }
  Handler compute(const program::AluKey& key) const override { return resolve_alu(key); }
};

}  // namespace

namespace {

const program::Handlers& own_handlers() {
  static const auto* const handlers = new EngineHandlers;
  return *handlers;
}

const program::Handlers*& replaced() {
  static const program::Handlers* others = nullptr;
  return others;
}

}  // namespace

const program::Handlers& handlers() { return replaced() != nullptr ? *replaced() : own_handlers(); }

void replace_handlers(const program::Handlers* others) { replaced() = others; }

}  // namespace lockstep::engine
