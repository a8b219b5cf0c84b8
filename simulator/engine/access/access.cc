#include "simulator/engine/access/access.h"

#include <bit>
#include <cstring>

#include "simulator/engine/access/global_memory.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

using isa::Space;

bool report_misaligned(Warp& w, const Request& r, Space space, LaneMask lanes) {
  LaneMask bad = 0;
  each(lanes, [&](int i) { bad |= LaneMask{(r.address[i] & (r.size - 1)) != 0} << i; });
  check::Finding f = access_finding(w, r, space, bad, check::Kind::kMisaligned);
  f.where = "the address is no multiple of " + std::to_string(r.size);
  if (space == Space::kGlobal || space == Space::kConst) {
    if (const memory::Allocation* a = w.block->worker->memory->find(f.access.address)) {
      f.where += ": " + std::to_string(f.access.address - a->begin) + " bytes into " + describe(*a);
    }
  }
  report(w, std::move(f));
  return false;
}

bool report_unwritten_change(Warp& w, const Request& r, Space space, LaneMask lanes) {
  if (already_reported(w, check::Kind::kUninitialised, r.pc, std::popcount(lanes))) return true;
  first_time(w, check::Kind::kUninitialised, r.pc);
  check::Finding f = access_finding(w, r, space, lanes, check::Kind::kUninitialised);
  f.where = "the memory it changes was never written";
  if (const std::string inside =
          describe_inside(w, space, f.access.address, r.size <= 16 ? r.size : 0);
      !inside.empty())
    f.where += ": " + inside;
  return !report_unless_suppressed(w, std::move(f));
}

namespace {

// Whether `size` bytes from `low` lie in one variable of a frame on the stack of the running split.
bool in_variable_of_frame(const Warp& w, std::uint64_t low, std::uint64_t size) {
  const WarpControl& c = *w.control;
  const Program& program = *w.block->program;
  for (std::int32_t i = c.frame; i >= 0; i = c.frames[i].caller) {
    const Frame& frame = c.frames[i];
    const std::uint64_t at = low - frame.local_base;
    for (const Range& range : program.functions[frame.function].local) {
      if (at >= range.begin && at < range.end && range.end - at >= size) return true;
    }
  }
  return false;
}

}  // namespace

bool in_local_variable(const Warp& w, int lane, std::uint64_t low, std::uint32_t size) {
  if (in_variable_of_frame(w, low, size)) return true;
  const WarpControl& c = *w.control;
  // alloca memory lies above the frames whose size is known when it is allocated.
  return c.stack_pointer[lane] != 0 && low < c.stack_pointer[lane] &&
         c.stack_pointer[lane] - low >= size && low >= w.block->launch->kernel->local_total;
}

bool resolve_local(Warp& w, Request& r, LaneMask lanes) {
  Block& b = *w.block;
  const Extent e = extent(r.address, lanes);
  if (e.bits & (r.size - 1)) return report_misaligned(w, r, Space::kLocal, lanes);
  const std::uint32_t stride = b.launch->local_stride;
  LaneMask bad = 0;
  if (!in_variable_of_frame(w, e.low, e.high - e.low + r.size))
    each(lanes,
         [&](int i) { bad |= LaneMask{!in_local_variable(w, i, r.address[i], r.size)} << i; });
  if (bad != 0) {
    check::Finding f = access_finding(w, r, Space::kLocal, bad, check::Kind::kOutOfBounds);
    std::vector<Range> ranges;
    for (std::int32_t i = w.control->frame; i >= 0; i = w.control->frames[i].caller) {
      const Frame& frame = w.control->frames[i];
      for (Range range : b.program->functions[frame.function].local) {
        range.begin += frame.local_base;
        range.end += frame.local_base;
        ranges.push_back(range);
      }
    }
    f.where = describe_range(ranges, static_cast<std::uint32_t>(f.access.address), r.size);
    report(w, std::move(f));
    return false;
  }
  auto* shadow = reinterpret_cast<std::uint8_t*>(b.local.written.get());
  const auto place = [&](int i) {
    return std::uint64_t{w.index * kWarpSize + static_cast<std::uint32_t>(i)} * stride +
           r.address[i];
  };
  each(lanes, [&](int i) { r.host[i] = b.local.bytes.get() + place(i); });
  if (!b.launch->check_initialisation) return true;
  if (r.reads) {
    constexpr std::uint64_t kApart = ~std::uint64_t{0};  // each thread's bytes lie elsewhere
    r.unwritten |= unwritten_lanes(shadow, 0, kApart, r.size, lanes, r.missing, place);
    refine_unwritten(r, r.unwritten & lanes, b.local.partly_written, place);
  }
  if (r.writes)
    each(lanes,
         [&](int i) { note_written(r, i, shadow, place(i), b.local.partly_written, place(i)); });
  return true;
}

bool refine_missing(Request& r, int lane, const memory::PartlyWritten& partly,
                    std::uint64_t place) {
  bool some = false;
  std::uint32_t left = r.missing[lane];
  for (std::uint32_t k = 0; k < r.size; ++k) {
    const bool missing = (r.missing[lane] >> k & 1) != 0;
    const std::uint8_t bits = missing ? partly.unwritten_bits(place + k) : 0;
    if (r.bits != nullptr) r.bits->of[lane][k] = bits;
    if (missing && bits != 0xff) {
      some = true;
      left &= ~(1u << k);
    }
  }
  if (r.bits == nullptr) {
    r.missing[lane] = left;
    return left != 0;
  }
  if (some) r.bits->lanes |= 1u << lane;
  return true;
}

void note_partly_written(const Request& r, int lane, memory::PartlyWritten& partly,
                         std::uint64_t place) {
  const bool some = r.bits != nullptr && (r.bits->lanes >> lane & 1) != 0;
  for (std::uint32_t k = 0; k < r.size; ++k) {
    if ((r.missing[lane] >> k & 1) != 0) partly.set(place + k, some ? r.bits->of[lane][k] : 0xff);
  }
}

bool resolve(Warp& w, Request& r, Space space, LaneMask lanes) {
  on_write(*w.block->worker, r.writes && !r.counts_changes);
  switch (space) {
    case Space::kShared:
    case Space::kSharedCluster:
      // Shared addresses have 32 bits.
      for (int i = 0; i < kWarpSize; ++i) r.address[i] &= 0xffffffffu;
      return resolve_shared(w, r, lanes);
    case Space::kLocal: return resolve_local(w, r, lanes);
    case Space::kGeneric: {
      const std::uint64_t shared = w.block->launch->shared_window,
                          local = w.block->launch->local_window;
      LaneMask in_shared = 0, in_local = 0;
      for (int i = 0; i < kWarpSize; ++i) {
        in_shared |= LaneMask{r.address[i] - shared < (1ull << 32)} << i;
        in_local |= LaneMask{r.address[i] - local < (1ull << 32)} << i;
      }
      in_shared &= lanes;
      in_local &= lanes;
      if ((in_shared | in_local) == 0) return resolve_global(w, r, lanes);
      each(in_shared, [&](int i) { r.address[i] -= shared; });
      each(in_local, [&](int i) { r.address[i] -= local; });
      if (in_shared == lanes) return resolve_shared(w, r, lanes);
      if (in_local == lanes) return resolve_local(w, r, lanes);
      // Lanes in different spaces: each part resolves into the same request, whose unused entries
      // must survive the others.
      Request part = r;
      const LaneMask parts[3] = {in_shared, in_local, lanes & ~(in_shared | in_local)};
      for (int p = 0; p < 3; ++p) {
        if (parts[p] == 0) continue;
        if (!(p == 0   ? resolve_shared(w, part, parts[p])
              : p == 1 ? resolve_local(w, part, parts[p])
                       : resolve_global(w, part, parts[p]))) {
          return false;
        }
        each(parts[p], [&](int i) {
          r.host[i] = part.host[i];
          r.missing[i] = part.missing[i];
        });
      }
      r.unwritten = part.unwritten;
      r.remote = part.remote;
      r.stored = part.stored;
      return true;
    }
    default: return resolve_global(w, r, lanes);
  }
}

bool value_is_there(Warp&, const Request& r, int lane) {
  std::byte there[16];
  load_element(there, r.host[lane], r.size);
  const std::byte* value = r.value + static_cast<std::uint32_t>(lane) * r.value_stride;
  return std::memcmp(there, value, r.size) == 0;
}

const std::byte* peek(Warp& w, int lane, std::uint64_t address, std::uint32_t size) {
  Block& b = *w.block;
  if (address - b.launch->shared_window < (1ull << 32)) {
    const std::uint64_t at = address - b.launch->shared_window;
    return shared_range(*b.launch, at, at + size) ? b.shared.bytes.get() + at : nullptr;
  }
  if (address - b.launch->local_window < (1ull << 32)) {
    const std::uint64_t at = address - b.launch->local_window;
    if (!in_local_variable(w, lane, at, size)) return nullptr;
    return b.local.bytes.get() +
           (std::uint64_t{w.index * kWarpSize + static_cast<std::uint32_t>(lane)} *
                b.launch->local_stride +
            at);
  }
  const memory::Allocation* a = b.worker->memory->find(address);
  if (a == nullptr || !a->usable() || address < a->begin || address + size > a->end) return nullptr;
  return b.worker->memory->host(*a, address);
}

}  // namespace lockstep::engine
