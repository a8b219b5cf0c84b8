#include "simulator/fuzz/differential/catalogue.h"

#include <cstdio>
#include <cstdlib>
#include <unordered_set>

#include "simulator/isa/category.h"

namespace lockstep::fuzz::differential {
namespace {

using isa::Opcode;
using isa::Type;

Place place_of(Opcode o, const isa::Modifiers& m) {
  switch (o) {
    case Opcode::k_add:
    case Opcode::k_sub:
    case Opcode::k_mad: return m.carry_out || m.carry_in ? Place::kCarry : Place::kCompute;
    case Opcode::k_addc:
    case Opcode::k_subc:
    case Opcode::k_madc: return Place::kCarry;
    case Opcode::k_mov: return m.type == Type::kB128 ? Place::kText : Place::kCompute;
    case Opcode::k_shfl_sync:
    case Opcode::k_vote_sync:
    case Opcode::k_match_sync:
    case Opcode::k_redux_sync:
    case Opcode::k_elect_sync: return Place::kWarp;
    case Opcode::k_ld:
    case Opcode::k_ldu: return m.type == Type::kB128 ? Place::kText : Place::kLoad;
    case Opcode::k_st: return m.type == Type::kB128 ? Place::kText : Place::kStore;
    case Opcode::k_atom:
    case Opcode::k_red: return m.type == Type::kB128 ? Place::kText : Place::kAtomic;
    case Opcode::k_bar:
    case Opcode::k_barrier: return Place::kBarrier;
    case Opcode::k_bra:
    case Opcode::k_brx_idx:
    case Opcode::k_call:
    case Opcode::k_ret:
    case Opcode::k_exit:
    case Opcode::k_bar_warp_sync: return Place::kControl;
    case Opcode::k_tex:
    case Opcode::k_tld4:
    case Opcode::k_txq:
    case Opcode::k_suld:
    case Opcode::k_sust:
    case Opcode::k_sured:
    case Opcode::k_suq:
    case Opcode::k_trap:
    case Opcode::k_brkpt:
    case Opcode::k_cp_reduce_async_bulk:
    case Opcode::k_setmaxnreg: return Place::kNever;
    case Opcode::k_activemask:
    case Opcode::k_alloca:
    case Opcode::k_applypriority:
    case Opcode::k_barrier_cluster_arrive:
    case Opcode::k_barrier_cluster_wait:
    case Opcode::k_cp_async:
    case Opcode::k_cp_async_bulk:
    case Opcode::k_cp_async_bulk_commit_group:
    case Opcode::k_cp_async_bulk_prefetch:
    case Opcode::k_cp_async_bulk_wait_group:
    case Opcode::k_cp_async_commit_group:
    case Opcode::k_cp_async_mbarrier_arrive:
    case Opcode::k_cp_async_wait_all:
    case Opcode::k_cp_async_wait_group:
    case Opcode::k_createpolicy:
    case Opcode::k_cvta:
    case Opcode::k_discard:
    case Opcode::k_fence:
    case Opcode::k_fence_mbarrier_init:
    case Opcode::k_fence_proxy:
    case Opcode::k_getctarank:
    case Opcode::k_griddepcontrol:
    case Opcode::k_isspacep:
    case Opcode::k_mapa:
    case Opcode::k_mbarrier_arrive:
    case Opcode::k_mbarrier_arrive_drop:
    case Opcode::k_mbarrier_complete_tx:
    case Opcode::k_mbarrier_expect_tx:
    case Opcode::k_mbarrier_init:
    case Opcode::k_mbarrier_inval:
    case Opcode::k_mbarrier_pending_count:
    case Opcode::k_mbarrier_test_wait:
    case Opcode::k_mbarrier_try_wait:
    case Opcode::k_membar:
    case Opcode::k_nanosleep:
    case Opcode::k_pmevent:
    case Opcode::k_prefetch:
    case Opcode::k_prefetchu:
    case Opcode::k_stackrestore:
    case Opcode::k_stacksave: return Place::kText;
    default: return Place::kCompute;
  }
}

std::string_view never_because(const isa::FormRow& row) {
  if (row.syntax.starts_with("st{.weak}.param::func"))
    return "writes a parameter of a call, which is the call's own; control_test judges it";
  const bool everyday = row.opcode == Opcode::k_vabsdiff4 || row.opcode == Opcode::k_vmin4 ||
                        row.opcode == Opcode::k_vmax4;
  const bool adds =
      row.opcode != Opcode::k_vabsdiff4 && row.syntax.find(".add ") != std::string_view::npos;
  if (isa::category_of(row.opcode) == isa::Category::kVideo && (!everyday || adds))
    return "is about parts of registers; video_test and replay_test judge it";
  if (row.syntax == "mov.b16 d, v" || row.syntax == "mov.b16 vd, a")
    return "wants registers of 8 bits; load_store_test judges it";
  if (row.syntax.starts_with("cvt.irnd.dtype.bf16") &&
      row.choices.find(".s8") != std::string_view::npos)
    return "wants a register of 8 bits; replay_test judges it";
  if (row.opcode == Opcode::k_setmaxnreg)
    return "is of a whole warpgroup of a kernel with a register count; changes no value";
  switch (isa::category_of(row.opcode)) {
    case isa::Category::kMatrix:
    case isa::Category::kMatrixLoadStore:
    case isa::Category::kWarpgroup:
      return "is of a whole warp or warpgroup, which lanes of random programs leave; "
             "matrix_replay_test judges it";
    case isa::Category::kAsyncCopy:
      if (row.opcode == Opcode::k_cp_reduce_async_bulk)
        return "changes memory, which bulk_reduction_test judges";
      if (row.opcode == Opcode::k_st_async || row.opcode == Opcode::k_red_async)
        return "comes with the phase of an mbarrier; async_store_test judges it";
      break;
    case isa::Category::kMultimem:
      return "needs a multicast object, which the host makes; multimem_test judges it";
    case isa::Category::kTensorMemory:
      return "is of tensor memory; tensor_memory_test and tensor_multiply_test judge it";
    case isa::Category::kTensorCopy:
      return "needs a tensor map, which the host makes; tensor_copy_test judges it";
    default: break;
  }
  switch (row.opcode) {
    case Opcode::k_tex:
    case Opcode::k_tld4:
    case Opcode::k_txq:
    case Opcode::k_suld:
    case Opcode::k_sust:
    case Opcode::k_sured:
    case Opcode::k_suq:
      return "needs an image object, which the host makes; image_ops_test judges it";
    case Opcode::k_prefetch_tensormap:
      return "needs a tensor map, which the host makes; tensor_copy_test judges it";
    case Opcode::k_st_bulk: return "writes shared memory; bulk_store_test judges it";
    case Opcode::k_clusterlaunchcontrol_query_cancel:
    case Opcode::k_clusterlaunchcontrol_try_cancel:
      return "is about clusters of the grid; launch_control_test judges it";
    case Opcode::k_cvt:
      if (row.suffix == 'a' || row.syntax.find("a*4") != std::string_view::npos)
        return "is of types that no other instruction has; convert_narrow_test judges it";
      break;
    case Opcode::k_trap:
    case Opcode::k_brkpt: return "ends the kernel";
    default: break;
  }
  if (row.variant == 3 && row.opcode == Opcode::k_fence_proxy)
    return "orders accesses to tensor maps, and the programs have none";
  return {};
}

std::string_view not_on_silicon_because(const isa::FormRow& row) {
  if (row.sm > 90 || row.suffix != 0) return "exists on later targets than sm_90 only";
  switch (row.opcode) {
    case Opcode::k_sin:
    case Opcode::k_cos:
    case Opcode::k_lg2:
    case Opcode::k_ex2:
    case Opcode::k_tanh:
    case Opcode::k_rsqrt: return "approximate: the manual gives an error bound";
    default: break;
  }
  // An H200 ends the kernel of an ordinary launch, without clusters, with an illegal instruction
  // (docs/journal/ptxas.md).
  if (row.syntax.starts_with("cp.async.bulk.shared::cluster.shared::cta"))
    return "is an illegal instruction in a launch without clusters";
  if (row.syntax.find(".approx") != std::string_view::npos ||
      row.syntax.find(".full") != std::string_view::npos)
    return "approximate: the manual gives an error bound";
  return {};
}

}  // namespace

bool exact_on_silicon(const isa::Example& e) {
  const isa::FormRow& row = *e.spelling.form->row;
  const isa::Modifiers& m = e.spelling.modifiers;
  if (!not_on_silicon_because(row).empty()) return false;
  // Without a rounding modifier, ptxas may fuse a product and a sum.
  const bool floating = m.type == Type::kF32 || m.type == Type::kF64 || m.type == Type::kF16 ||
                        m.type == Type::kF16x2 || m.type == Type::kBF16 || m.type == Type::kBF16x2;
  if (floating && m.rounding == isa::Rounding::kNone &&
      (row.opcode == Opcode::k_add || row.opcode == Opcode::k_sub || row.opcode == Opcode::k_mul))
    return false;
  // An H100 adds the lower half only (docs/journal/silicon.md).
  if ((row.opcode == Opcode::k_atom || row.opcode == Opcode::k_red) &&
      (m.type == Type::kF16x2 || m.type == Type::kBF16x2) &&
      (m.space == isa::Space::kShared || m.space == isa::Space::kSharedCluster))
    return false;
  return true;
}

const Catalogue& Catalogue::get() {
  static const Catalogue catalogue;
  return catalogue;
}

// Plain memory operations that other parts of the generator request by name, whether or not they
// are among the examples.
bool is_plain(const isa::Example& e) {
  const isa::Modifiers& m = e.spelling.modifiers;
  const Opcode o = e.spelling.form->row->opcode;
  return (o == Opcode::k_ld || o == Opcode::k_st) &&
         e.spelling.text.find("::") == std::string::npos && m.semantics == isa::Semantics::kNone &&
         m.cache == isa::CacheOp::kNone && (m.vector == 1 || m.type == Type::kB32);
}

Catalogue::Catalogue() {
  std::unordered_set<std::string> chosen;
  for (const isa::Example& e : isa::pairwise_examples()) chosen.insert(e.text);
  for (isa::Example& e : isa::all_examples())
    if (is_plain(e) || chosen.contains(e.text)) examples_.push_back(std::move(e));
  const isa::Form* form = nullptr;
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    const isa::Spelling& s = examples_[i].spelling;
    if (s.form != form) {
      form = s.form;
      Row& row = rows_.emplace_back();
      row.form = form->row;
      row.first = static_cast<int>(i);
      row.never = never_because(*form->row);
      row.place = row.never.empty() ? place_of(form->row->opcode, s.modifiers) : Place::kNever;
      row.not_on_silicon = not_on_silicon_because(*form->row);
    }
    rows_.back().last = static_cast<int>(i) + 1;
    row_of_.push_back(static_cast<int>(rows_.size()) - 1);
  }
}

int Catalogue::find(std::string_view opcode, std::size_t operands, int variant) const {
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    const isa::Example& e = examples_[i];
    const bool move = e.spelling.form->row->opcode == Opcode::k_mov;
    if (e.spelling.text == opcode && e.operands->size() == operands &&
        (!move || e.spelling.modifiers.variant == variant))
      return static_cast<int>(i);
  }
  std::fprintf(stderr, "the table of forms has no %.*s\n", static_cast<int>(opcode.size()),
               opcode.data());
  std::abort();
}

std::string Catalogue::name(int row) const {
  return std::string(rows_[static_cast<std::size_t>(row)].form->syntax);
}

std::vector<int> Catalogue::rows_of(isa::Opcode opcode) const {
  std::vector<int> v;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].form->opcode == opcode) v.push_back(static_cast<int>(i));
  }
  return v;
}

}  // namespace lockstep::fuzz::differential
