#include "simulator/engine/ops/control/control.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/control/builtins.h"
#include "simulator/engine/ops/control/exit.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {
namespace {

// More than any real device's stack allows, even with empty frames.
constexpr std::uint32_t kMaxDepth = 8192;

void copy_storage(const Storage& to, std::byte* to_bank, const Storage& from,
                  const std::byte* from_bank, LaneMask lanes) {
  const std::uint32_t n = std::min(to.size, from.size);
  each(lanes, [&](int l) {
    std::memcpy(to_bank + to.offset + l * to.size, from_bank + from.offset + l * from.size, n);
  });
}

// Marks of uninitialised values are copied with parameters.
void copy_marks(Warp& w, std::int32_t to_frame, const Storage& to, std::int32_t from_frame,
                const Storage& from, LaneMask lanes) {
  if (!w.control->tracking) return;
  const std::int32_t running = w.control->frame;
  w.control->frame = to_frame;
  for (std::uint32_t k = 0; k < std::max(1u, std::min(to.size, from.size) / 4); ++k) {
    Validity::Word* word = validity_word(w.control->frames[from_frame], from.offset + 4 * k);
    if (word == nullptr) {
      mark_register(w, to.offset + 4 * k, 0, lanes, 0);
    } else {
      carry_mark(w, to.offset + 4 * k, w.control->frames[from_frame], *word, lanes);
    }
  }
  w.control->frame = running;
}

void forget_marks(Frame& f) {
  if (f.validity) f.validity->forget();
}

void begin_frame(Warp& w, Frame& f, const Function& function) {
  // A local variable is unwritten at the start of every call.
  if (function.local_bytes != 0 && w.block->launch->check_initialisation) {
    auto* shadow = reinterpret_cast<std::uint8_t*>(w.block->local.written.get());
    const std::uint32_t stride = w.block->launch->local_stride;
    each(f.live, [&](int l) {
      const std::size_t at =
          std::size_t{w.index * kWarpSize + static_cast<std::uint32_t>(l)} * stride + f.local_base;
      std::memset(shadow + at / 8, 0, function.local_bytes / 8);
      w.block->local.partly_written.forget(at, function.local_bytes);
      forget_origins(*w.block, w.block->local.bytes.get() + at, function.local_bytes);
    });
  }
  if (w.control->tracking) forget_marks(f);
  if (!function.undefined.empty() && w.block->launch->check_initialisation) {
    begin_tracking(w);
    const std::int32_t running = w.control->frame;
    w.control->frame = static_cast<std::int32_t>(&f - w.control->frames.data());
    for (const Slot s : function.undefined) mark_register(w, s, f.live, f.live, function.entry);
    w.control->frame = running;
  }
}

// Makes room for a callee's register file. A frame that is no longer used is reused.
std::int32_t new_frame(WarpControl& c, std::size_t bytes) {
  const auto count = static_cast<std::int32_t>(c.frames.size());
  while (c.first_free < count && c.frames[c.first_free].live != 0) ++c.first_free;
  for (std::int32_t i = c.first_free; i < count; ++i) {
    if (c.frames[i].live == 0 && c.frames[i].storage_bytes >= bytes) return i;
  }
  Frame f;
  f.storage = allocate_aligned(std::max<std::size_t>(bytes, 64));
  f.storage_bytes = bytes;
  f.file = f.storage.get();
  c.frames.push_back(std::move(f));
  return static_cast<std::int32_t>(c.frames.size()) - 1;
}

}  // namespace

void start_warp(Warp& w) {
  WarpControl& c = *w.control;
  const Launch& launch = *w.block->launch;
  const Function& kernel = *launch.kernel;
  c.splits.clear();
  c.frame = 0;
  c.exited.reset();
  c.exits.clear();
  // Frames are reused for later blocks. Only a warp that tracks values leaves marks in them.
  if (c.tracking) {
    for (Frame& f : c.frames) forget_marks(f);
  }
  c.tracking = false;
  c.short_slice = false;
  c.barrier = -1;
  c.cluster_arrived = c.cluster_released = c.cluster_passed = c.cluster_left = 0;
  c.cluster_arrive_pc = ~0u;
  c.timed_out = 0;
  c.instructions = c.slept = 0;
  c.clock_wait = {};
  c.strong_accesses = c.polls = 0;
  c.poll = {};
  c.time_slices = {};
  if (c.arriving != 0) std::fill(c.arrivals, c.arrivals + 16, PartialArrival{});
  c.arriving = 0;
  if (c.allocates) std::fill(c.stack_pointer, c.stack_pointer + kWarpSize, 0);
  c.allocates = false;
  if (c.frames.empty()) c.frames.emplace_back();
  for (Frame& f : c.frames) f.live = 0;
  c.first_free = 1;
  Frame& f = c.frames[0];
  f.file = w.file[0];
  f.function = static_cast<std::uint32_t>(&kernel - launch.program->functions.data());
  f.live = w.exists;
  f.local_base = kLocalStart;
  w.carry = 0;
  w.pc = kernel.entry;
  w.active = w.exists;
  w.limit = ~0u;
  w.time_slice = 1024;
  w.event = Event::kNone;
  if (kernel.local_bytes != 0 || !kernel.undefined.empty()) begin_frame(w, f, kernel);
}

void run_call(Warp& w, const Op& op, LaneMask mask) {
  WarpControl& c = *w.control;
  const Program& program = *w.block->program;
  const Call& call = program.calls[op.as<SideDataFields>().index()];
  if (call.builtin != Builtin::kNone) {
    run_builtin(w, call, mask);
    return;
  }
  std::int32_t target = call.function;
  if (target < 0) {
    const std::uint64_t* addresses = source<std::uint64_t>(w, call.target);
    const std::uint64_t address = addresses[std::countr_zero(mask)];
    LaneMask same = 0;
    each(mask, [&](int l) { same |= LaneMask{addresses[l] == address} << l; });
    const std::uint64_t index = (address - kCodeBase) / kCodeStep;
    if (address < kCodeBase || (address - kCodeBase) % kCodeStep != 0 ||
        index >= program.functions.size() || program.functions[index].is_kernel) {
      check::Finding f = finding_at(w, w.pc - 1, same, check::Kind::kInvalidProgramCounter);
      char text[64];
      std::snprintf(text, sizeof text, "0x%llx is the address of no function",
                    static_cast<unsigned long long>(address));
      f.where = text;
      report(w, std::move(f));
      return;
    }
    // Lanes that call another function execute this again.
    if (same != mask) split(w, w.pc - 1, mask & ~same);
    mask = same;
    target = static_cast<std::int32_t>(index);
  }
  const Function& callee = program.functions[target];
  const Frame& before = c.frames[c.frame];
  const Function& caller = program.functions[before.function];
  std::uint32_t base = before.local_base + caller.local_bytes;
  each(mask, [&](int l) { base = std::max(base, (c.stack_pointer[l] + 15) & ~15u); });
  const std::uint32_t depth = before.depth + 1;
  if (depth > kMaxDepth || base + callee.local_bytes > w.block->launch->local_stride) {
    check::Finding f = finding_at(w, w.pc - 1, mask, check::Kind::kStackOverflow);
    f.where = "calling " + callee.demangled + " at call depth " + std::to_string(depth) + " with " +
              std::to_string(base) + " bytes of stack in use";
    report(w, std::move(f));
    return;
  }
  if (call.arguments.size() != callee.parameters.size()) {
    check::Finding f = finding_at(w, w.pc - 1, mask, check::Kind::kInvalidProgramCounter);
    f.where = "the function called takes " + std::to_string(callee.parameters.size()) +
              " parameters, the call passes " + std::to_string(call.arguments.size());
    report(w, std::move(f));
    return;
  }
  const std::int32_t index = new_frame(c, callee.file_bytes);
  Frame& f = c.frames[index];
  f.function = static_cast<std::uint32_t>(target);
  f.caller = c.frame;
  f.return_pc = w.pc;
  f.call = op.as<SideDataFields>().index();
  f.live = mask;
  f.depth = depth;
  f.local_base = base;
  begin_frame(w, f, callee);
  const std::byte* from = c.frames[c.frame].file;
  for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
    copy_storage(callee.parameters[i], f.file, call.arguments[i], from, mask);
    copy_marks(w, index, callee.parameters[i], c.frame, call.arguments[i], mask);
  }
  // The other lanes stay at the next operation (or at this one, if split off above).
  const LaneMask others = w.active & ~mask;
  if (others != 0) split(w, w.pc, others);
  w.active = mask;
  w.pc = callee.entry;
  c.frame = index;
  w.event = Event::kReschedule;
}

void run_return(Warp& w, const Op&, LaneMask mask) {
  WarpControl& c = *w.control;
  Frame& f = c.frames[c.frame];
  if (f.caller < 0) {
    exit_lanes(w, mask);
    return;
  }
  const Program& program = *w.block->program;
  const Function& callee = program.functions[f.function];
  const Call& call = program.calls[f.call];
  const std::size_t results = std::min(callee.results.size(), call.results.size());
  for (std::size_t i = 0; i < results; ++i) {
    copy_storage(call.results[i], c.frames[f.caller].file, callee.results[i], f.file, mask);
    copy_marks(w, f.caller, call.results[i], c.frame, callee.results[i], mask);
  }
  f.live &= ~mask;
  if (f.live == 0) c.first_free = std::min(c.first_free, c.frame);
  w.active &= ~mask;
  c.splits.push_back({f.return_pc, mask, f.caller, WarpSplit::State::kRunnable, false});
  w.event = Event::kReschedule;
}

void run_exit(Warp& w, const Op&, LaneMask mask) { exit_lanes(w, mask); }

void run_branch_table(Warp& w, const Op& op, LaneMask mask) {
  const auto& table = w.block->program->tables[op.as<SideDataFields>().index()];
  const std::uint32_t* index = source<std::uint32_t>(w, op.src[0]);
  LaneMask bad = 0;
  each(mask, [&](int l) { bad |= LaneMask{index[l] >= table.size()} << l; });
  if (bad != 0) {
    check::Finding f = finding_at(w, w.pc - 1, bad, check::Kind::kInvalidProgramCounter);
    f.where = "index " + std::to_string(index[std::countr_zero(bad)]) + " into a table of " +
              std::to_string(table.size()) + " branch targets";
    report(w, std::move(f));
    return;
  }
  const LaneMask others = w.active & ~mask;
  if (others != 0) split(w, w.pc, others);
  for (LaneMask todo = mask; todo != 0;) {
    const std::uint32_t i = index[std::countr_zero(todo)];
    LaneMask same = 0;
    each(todo, [&](int l) { same |= LaneMask{index[l] == i} << l; });
    if (Coverage::Part* part = w.block->worker->coverage)
      part->tables[op.as<SideDataFields>().index()][i] +=
          static_cast<unsigned>(std::popcount(same));
    split(w, table[i], same);
    todo &= ~same;
  }
  w.active = 0;
  w.event = Event::kReschedule;
}

void run_trap(Warp& w, const Op&, LaneMask mask) {
  check::Finding f = finding_at(w, w.pc - 1, mask, check::Kind::kTrap);
  f.where = "the kernel stopped itself";
  report(w, std::move(f));
}

void run_nanosleep(Warp& w, const Op& op, LaneMask mask) {
  const std::uint32_t* t = source<std::uint32_t>(w, op.src[0]);
  std::uint32_t longest = 0;
  each(mask, [&](int l) { longest = std::max(longest, t[l]); });
  w.control->slept += std::min(longest, 1000000u);
  // A sleeping thread waits for others: let them run.
  w.time_slice -= 64;
}

void run_nothing(Warp&, const Op&, LaneMask) {}

// ---- addresses
// -------------------------------------------------------------------------------------------------

void run_convert_address(Warp& w, const Op& op, LaneMask mask) {
  const Launch& launch = *w.block->launch;
  using Conversion = program::AddressConversion;
  std::uint64_t begin = 0;
  const Conversion which = op.as<program::AddressConversionFields>().which();
  switch (which) {
    case Conversion::kFromShared:
    case Conversion::kToShared: begin = launch.shared_window; break;
    case Conversion::kFromLocal:
    case Conversion::kToLocal: begin = launch.local_window; break;
    case Conversion::kFromParam:
    case Conversion::kToParam:
      begin = launch.parameter_memory != nullptr ? launch.parameter_memory->base : 0;
      break;
    case Conversion::kFromConst:
    case Conversion::kToConst: begin = static_cast<std::uint64_t>(op.immediate); break;
  }
  const bool to_generic = which == Conversion::kFromShared || which == Conversion::kFromLocal ||
                          which == Conversion::kFromParam || which == Conversion::kFromConst;
  const std::uint64_t add = to_generic ? begin : 0 - begin;
  const auto value = [&](int l) -> std::uint64_t {
    return op.register_bytes == 4 ? source<std::uint32_t>(w, op.src[0])[l]
                                  : source<std::uint64_t>(w, op.src[0])[l];
  };
  each(mask, [&](int l) {
    const std::uint64_t v = value(l) + add;
    if (op.width == 8) {
      destination<std::uint64_t>(w, op.dst)[l] = v;
    } else {
      destination<std::uint32_t>(w, op.dst)[l] = static_cast<std::uint32_t>(v);
    }
  });
}

void run_is_space(Warp& w, const Op& op, LaneMask mask) {
  const Launch& launch = *w.block->launch;
  const std::uint64_t* a = source<std::uint64_t>(w, op.src[0]);
  LaneMask yes = 0;
  each(mask, [&](int l) {
    const bool shared = a[l] - launch.shared_window < (1ull << 32),
               local = a[l] - launch.local_window < (1ull << 32);
    const memory::Allocation* where =
        shared || local ? nullptr : w.block->worker->memory->find(a[l]);
    const bool constant = where != nullptr && where->kind == memory::Kind::kConstant;
    bool r = false;
    switch (static_cast<isa::Space>(op.space)) {
      case isa::Space::kShared:
        r = shared &&
            rank_named(*w.block, static_cast<std::uint32_t>(a[l] - launch.shared_window)) ==
                w.block->cluster_rank;
        break;
      case isa::Space::kSharedCluster: r = shared; break;
      case isa::Space::kLocal: r = local; break;
      case isa::Space::kConst: r = constant && where != launch.parameter_memory; break;
      case isa::Space::kParam: r = constant && where == launch.parameter_memory; break;
      default: r = !shared && !local && !constant; break;
    }
    yes |= LaneMask{r} << l;
  });
  set_predicate(w, op.dst, yes, mask);
}

void run_shared_address(Warp& w, const Op& op, LaneMask mask) {
  const auto offset = static_cast<std::uint32_t>(op.immediate);
  const Block& b = *w.block;
  const std::uint32_t address = b.cluster != nullptr ? named(b.cluster_rank, offset) : offset;
  each(mask, [&](int l) {
    if (op.width == 8) {
      destination<std::uint64_t>(w, op.dst)[l] = address;
    } else {
      destination<std::uint32_t>(w, op.dst)[l] = address;
    }
  });
}

void run_local_address(Warp& w, const Op& op, LaneMask mask) {
  const std::uint64_t v =
      w.control->frames[w.control->frame].local_base + static_cast<std::uint64_t>(op.immediate);
  each(mask, [&](int l) {
    if (op.width == 8) {
      destination<std::uint64_t>(w, op.dst)[l] = v;
    } else {
      destination<std::uint32_t>(w, op.dst)[l] = static_cast<std::uint32_t>(v);
    }
  });
}

void run_alloca(Warp& w, const Op& op, LaneMask mask) {
  WarpControl& c = *w.control;
  const Frame& frame = c.frames[c.frame];
  const std::uint32_t bottom =
      frame.local_base + w.block->program->functions[frame.function].local_bytes;
  c.allocates = true;
  const auto alignment = static_cast<std::uint64_t>(std::max<std::int64_t>(op.immediate, 16));
  LaneMask overflow = 0;
  each(mask, [&](int l) {
    const std::uint64_t bytes = op.register_bytes == 8 ? source<std::uint64_t>(w, op.src[0])[l]
                                                       : source<std::uint32_t>(w, op.src[0])[l];
    const std::uint64_t at =
        (std::max(c.stack_pointer[l], bottom) + alignment - 1) & ~(alignment - 1);
    if (bytes > w.block->launch->local_stride || at + bytes > w.block->launch->local_stride) {
      overflow |= 1u << l;
      return;
    }
    c.stack_pointer[l] = static_cast<std::uint32_t>(at + ((bytes + 15) & ~15ull));
    if (op.width == 8) {
      destination<std::uint64_t>(w, op.dst)[l] = at;
    } else {
      destination<std::uint32_t>(w, op.dst)[l] = static_cast<std::uint32_t>(at);
    }
  });
  if (overflow) {
    check::Finding f = finding_at(w, w.pc - 1, overflow, check::Kind::kStackOverflow);
    f.where = "alloca of more than the thread's stack has left";
    report(w, std::move(f));
  }
}

void run_stack_save(Warp& w, const Op& op, LaneMask mask) {
  each(mask, [&](int l) {
    if (op.width == 8) {
      destination<std::uint64_t>(w, op.dst)[l] = w.control->stack_pointer[l];
    } else {
      destination<std::uint32_t>(w, op.dst)[l] = w.control->stack_pointer[l];
    }
  });
}

void run_stack_restore(Warp& w, const Op& op, LaneMask mask) {
  std::uint32_t* const pointer = w.control->stack_pointer;
  LaneMask above = 0;  // a stack is given back, never taken
  each(mask, [&](int l) {
    const std::uint64_t to = op.register_bytes == 8 ? source<std::uint64_t>(w, op.src[0])[l]
                                                    : source<std::uint32_t>(w, op.src[0])[l];
    if (to > pointer[l])
      above |= 1u << l;
    else
      pointer[l] = static_cast<std::uint32_t>(to);
  });
  if (above) {
    check::Finding f = finding_at(w, w.pc - 1, above, check::Kind::kInvalidInstruction);
    f.where = "the stack pointer is set to what no stacksave of the thread can have given";
    report(w, std::move(f));
  }
}

}  // namespace lockstep::engine
