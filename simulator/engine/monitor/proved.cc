#include "simulator/engine/monitor/proved.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/proof/prove.h"

namespace lockstep::engine {
namespace {

[[noreturn]] void stop(const Warp& w, std::uint32_t pc, int lane, const std::string& what) {
  const Block& b = *w.block;
  const Dim3 thread = thread_of(*b.launch, w.index * kWarpSize + static_cast<std::uint32_t>(lane));
  std::fprintf(stderr,
               "lockstep: LOCKSTEP_PROOF=compare: the proof of kernel %s was wrong\n"
               "  at %s\n  by block (%u,%u,%u) thread (%u,%u,%u)\n  %s\n"
               "  Please report this: LOCKSTEP_PROOF=off runs the program with every check.\n",
               b.launch->kernel->demangled.c_str(), site_of(*b.program, pc).to_string().c_str(),
               b.ctaid.x, b.ctaid.y, b.ctaid.z, thread.x, thread.y, thread.z, what.c_str());
  std::abort();
}

std::string hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// The proof to compare findings with. nullptr: they are reported as usual.
const proof::Certificate* compared(const Warp& w) {
  const Launch& launch = *w.block->launch;
  return launch.config->proof == LaunchConfig::Proof::kCompare ? launch.certificate.get() : nullptr;
}

[[noreturn]] void stop_outside(const Warp& w, const proof::Access& a, int lane, std::uint64_t at) {
  stop(w, a.pc, lane,
       "proved: addresses from " + hexadecimal(a.bytes.begin) + " to before " +
           hexadecimal(a.bytes.end) + "; this is " + hexadecimal(at));
}

// wmma.load and wmma.store, by the first and the last byte of the matrix. Lanes with different
// addresses or strides get a finding, and access nothing.
void compare_fragment(const Warp& w, const Op& op, const proof::Access& a, LaneMask lanes) {
  const program::Matrix& m = w.block->program->matrices[static_cast<std::size_t>(op.immediate)];
  std::uint64_t base[kWarpSize];
  matrix_addresses(w, op, base);
  const int first = std::countr_zero(lanes);
  const auto* strides = op.src[1] == kNoSlot ? nullptr : source<std::uint32_t>(w, op.src[1]);
  bool differ = false;
  each(lanes, [&](int i) {
    differ |= base[i] != base[first] || (strides != nullptr && strides[i] != strides[first]);
  });
  if (differ || !a.in_bounds) return;
  const std::uint64_t stride = strides == nullptr ? m.natural_stride : strides[first];
  const auto lines = static_cast<std::uint64_t>(m.by_columns ? m.d.columns : m.d.rows),
             length = static_cast<std::uint64_t>(m.by_columns ? m.d.rows : m.d.columns),
             span = ((lines - 1) * stride + length) * static_cast<std::uint64_t>(m.d.bits) / 8;
  if (base[first] < a.bytes.begin || base[first] + span > a.bytes.end)
    stop_outside(w, a, first, base[first]);
}

}  // namespace

void compare_with_proof(Warp& w, std::uint32_t pc, LaneMask lanes) {
  const Launch& launch = *w.block->launch;
  if (launch.certificate == nullptr || lanes == 0) return;
  const proof::Access* const a = launch.certificate->find(pc);
  if (a == nullptr) return;
  const Op& op = w.block->program->ops[pc];
  each(lanes, [&](int i) {
    if (a->known && !a->threads[w.index * kWarpSize + static_cast<std::uint32_t>(i)])
      stop(w, pc, i, "proved: this thread does not execute the operation");
  });
  if (op.action == Action::kLoadFragment || op.action == Action::kStoreFragment)
    return compare_fragment(w, op, *a, lanes);
  Request r;
  load_addresses(w, op, r.address);
  each(lanes, [&](int i) {
    const std::uint64_t at =
        a->space == isa::Space::kShared ? r.address[i] & 0xffffffffu : r.address[i];
    if (a->aligned && a->in_bounds && at % a->size != 0)
      stop(w, pc, i,
           "proved: addresses are multiples of " + std::to_string(a->size) + "; this is " +
               hexadecimal(at));
    if (a->in_bounds && (at < a->bytes.begin || at + a->size > a->bytes.end))
      stop_outside(w, *a, i, at);
  });
}

namespace {

// Whether only threads of the launch may access it.
bool is_of_device(const memory::Allocation& a) {
  using memory::Kind;
  return !a.shared &&
         (a.kind == Kind::kDevice || a.kind == Kind::kVariable || a.kind == Kind::kConstant);
}

}  // namespace

bool may_race_in(const Launch& launch, const memory::Allocation& a) {
  return !launch.contested || !is_of_device(a) ||
         std::binary_search(launch.contested->begin(), launch.contested->end(), a.base);
}

bool may_race_if_read(const Launch& launch, const memory::Allocation& a) {
  return launch.deferred != nullptr && is_of_device(a) && launch.deferred->covers(a);
}

void compare_race_with_proof(const Warp& w, isa::Space space, std::uint64_t address,
                             std::uint32_t mine, std::optional<std::uint32_t> other, int lane) {
  const proof::Certificate* const c = compared(w);
  if (c == nullptr) return;
  const Launch& launch = *w.block->launch;
  const memory::Allocation* const allocation =
      space == isa::Space::kGlobal ? launch.memory->find(address) : nullptr;
  if (allocation != nullptr && !may_race_in(launch, *allocation))
    stop(w, mine, lane,
         "proved: no access to this memory races; this one races at " + hexadecimal(address) +
             (other ? " with " + site_of(*w.block->program, *other).to_string()
                    : std::string(" with an access of another launch")));
  if (!other) return;
  const auto is_apart = [&](std::uint32_t pc) {
    const proof::Access* const a = c->find(pc);
    return a != nullptr && a->apart;
  };
  const auto is_known = [&](std::uint32_t pc) {
    const proof::Access* const a = c->find(pc);
    return a != nullptr && a->apart_unless_read;
  };
  if (is_known(mine) && is_known(*other))
    stop(w, mine, lane,
         "proved: this access races only with loads of unknown addresses; this one races with " +
             site_of(*w.block->program, *other).to_string());
  if (!is_apart(mine) && !is_apart(*other) && !(space == isa::Space::kShared && c->shared_apart))
    return;
  stop(w, mine, lane,
       "proved: no two threads race by this access; this one races with " +
           site_of(*w.block->program, *other).to_string());
}

void compare_unwritten_with_proof(const Warp& w, std::uint32_t pc, LaneMask lanes) {
  const proof::Certificate* const c = compared(w);
  const proof::Access* const a = c == nullptr ? nullptr : c->find(pc);
  if (a == nullptr || !a->initialised || lanes == 0) return;
  stop(w, pc, std::countr_zero(lanes), "proved: every byte that is read has been written");
}

}  // namespace lockstep::engine
