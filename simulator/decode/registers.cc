// Liveness of a function's virtual registers, and their places in the bank.
//
// nvcc's PTX gives nearly every value a register of its own. Sharing places between registers that are never live together keeps a
// warp's bank in the first-level cache.
#include <algorithm>
#include <map>

#include "simulator/decode/function_decoder.h"

namespace lockstep::decode {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

// Operands that an instruction writes stand first; these have none.
bool writes_nothing(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::k_st: case Opcode::k_red: case Opcode::k_bra: case Opcode::k_brx_idx: case Opcode::k_ret: case Opcode::k_exit:
    case Opcode::k_trap: case Opcode::k_brkpt: case Opcode::k_bar_warp_sync: case Opcode::k_membar: case Opcode::k_fence:
    case Opcode::k_nanosleep: case Opcode::k_prefetch: case Opcode::k_prefetchu: case Opcode::k_stackrestore: case Opcode::k_pmevent:
    case Opcode::k_sust: case Opcode::k_sured:
      return true;
    case Opcode::k_bar: case Opcode::k_barrier: return i.modifiers.bar != ptx::BarMode::kRed;
    default: return false;
  }
}

template <class F>
void registers_in(const Operand& o, F f) {
  if (o.kind == Operand::Kind::kRegister || o.kind == Operand::Kind::kNegatedPredicate || (o.kind == Operand::Kind::kAddress && o.has_register)) {
    f(o.index);
  }
  for (const Operand& e : o.elements) registers_in(e, f);
}

template <class Read, class Write>
void accesses(const Instruction& i, Read read, Write write) {
  if (i.guard.present) read(i.guard.index);
  const bool none = writes_nothing(i);
  for (std::size_t n = 0; n < i.operands.size(); ++n) {
    // A call's first operand is its list of results, others' their destination.
    if (n == 0 && !none) registers_in(i.operands[n], write);
    else registers_in(i.operands[n], read);
  }
}

std::uint32_t slot_bytes(int size) {
  return size == 0 ? 4u : static_cast<std::uint32_t>(engine::kWarpSize * size);
}

using Bits = std::vector<std::uint64_t>;
bool test(const Bits& b, std::uint32_t i) { return b[i >> 6] >> (i & 63) & 1; }
void set(Bits& b, std::uint32_t i) { b[i >> 6] |= std::uint64_t{1} << (i & 63); }

struct Region {
  std::uint32_t begin = 0, end = 0;       // instructions
  std::vector<std::uint32_t> successors;
  Bits in, out;
};

std::vector<Region> regions_of(const ptx::Function& f) {
  const auto n = static_cast<std::uint32_t>(f.body.size());
  std::vector<bool> leader(n + 1, false);
  leader[0] = true;
  const auto targets = [&](const Instruction& i, auto use) {
    for (const Operand& o : i.operands) {
      if (o.kind == Operand::Kind::kLabel) use(o.index);
      if (i.opcode == Opcode::k_brx_idx && o.kind == Operand::Kind::kList) {
        for (const Operand& e : o.elements) use(e.index);
      }
    }
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    const Opcode op = f.body[i].opcode;
    if (op != Opcode::k_bra && op != Opcode::k_brx_idx && op != Opcode::k_ret && op != Opcode::k_exit && op != Opcode::k_trap) continue;
    leader[i + 1] = true;
    targets(f.body[i], [&](std::uint32_t t) { leader[std::min(t, n)] = true; });
  }
  std::vector<Region> regions;
  std::vector<std::uint32_t> region_at(n + 1, 0);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (leader[i]) {
      if (!regions.empty()) regions.back().end = i;
      regions.push_back({i, n, {}, {}, {}});
    }
    region_at[i] = static_cast<std::uint32_t>(regions.size() - 1);
  }
  for (std::uint32_t r = 0; r < regions.size(); ++r) {
    const Instruction& last = f.body[regions[r].end - 1];
    if (last.opcode == Opcode::k_bra || last.opcode == Opcode::k_brx_idx) {
      targets(last, [&](std::uint32_t t) {
        if (t < n) regions[r].successors.push_back(region_at[t]);
      });
    }
    const bool ends = last.opcode == Opcode::k_bra || last.opcode == Opcode::k_brx_idx || last.opcode == Opcode::k_ret ||
                      last.opcode == Opcode::k_exit || last.opcode == Opcode::k_trap;
    if ((!ends || last.guard.present) && regions[r].end < n) regions[r].successors.push_back(region_at[regions[r].end]);
  }
  return regions;
}

}  // namespace

Allocation allocate_registers(const ptx::Function& f) {
  Allocation result;
  const auto count = static_cast<std::uint32_t>(f.registers.size());
  result.slots.assign(count, engine::kNoSlot);
  if (f.body.empty()) return result;
  const std::size_t words = count / 64 + 1;
  std::vector<Region> regions = regions_of(f);
  std::vector<Bits> use(regions.size(), Bits(words)), define(regions.size(), Bits(words));
  for (std::size_t r = 0; r < regions.size(); ++r) {
    regions[r].in = regions[r].out = Bits(words);
    for (std::uint32_t i = regions[r].begin; i < regions[r].end; ++i) {
      // A guarded write leaves the other lanes' values alone: it kills nothing.
      const bool guarded = f.body[i].guard.present;
      accesses(
          f.body[i], [&](std::uint32_t v) { if (!test(define[r], v)) set(use[r], v); },
          [&](std::uint32_t v) { if (!guarded) set(define[r], v); });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t r = regions.size(); r-- > 0;) {
      Region& region = regions[r];
      for (const std::uint32_t s : region.successors) {
        for (std::size_t k = 0; k < words; ++k) region.out[k] |= regions[s].in[k];
      }
      for (std::size_t k = 0; k < words; ++k) {
        const std::uint64_t in = use[r][k] | (region.out[k] & ~define[r][k]);
        changed |= in != region.in[k];
        region.in[k] = in;
      }
    }
  }
  // What is live into the function is read by some path before it is written there. Guarded definitions count as writes here: nvcc
  // guards a definition and its uses by the same predicate.
  {
    std::vector<Bits> assigned(regions.size(), Bits(words, ~0ull));
    std::fill(assigned[0].begin(), assigned[0].end(), 0);
    std::vector<bool> reported(count, false);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t r = 0; r < regions.size(); ++r) {
        Bits now = assigned[r];
        for (std::uint32_t i = regions[r].begin; i < regions[r].end; ++i) {
          accesses(f.body[i], [](std::uint32_t) {}, [&](std::uint32_t v) { set(now, v); });
        }
        for (const std::uint32_t s : regions[r].successors) {
          for (std::size_t k = 0; k < words; ++k) {
            const std::uint64_t both = assigned[s][k] & now[k];
            changed |= both != assigned[s][k];
            assigned[s][k] = both;
          }
        }
      }
    }
    for (std::size_t r = 0; r < regions.size(); ++r) {
      Bits now = assigned[r];
      for (std::uint32_t i = regions[r].begin; i < regions[r].end; ++i) {
        accesses(
            f.body[i], [&](std::uint32_t v) { if (!test(now, v)) reported[v] = true; }, [&](std::uint32_t v) { set(now, v); });
      }
    }
    for (std::uint32_t v = 0; v < count; ++v) {
      if (reported[v]) result.undefined.push_back(v);
    }
  }

  // Live intervals over the textual order: from the first to the last instruction where the register is live or touched.
  std::vector<std::uint32_t> first(count, ~0u), last(count, 0);
  const auto touch = [&](std::uint32_t v, std::uint32_t i) {
    first[v] = std::min(first[v], i);
    last[v] = std::max(last[v], i);
  };
  for (const Region& region : regions) {
    for (std::uint32_t v = 0; v < count; ++v) {
      if (test(region.in, v)) touch(v, region.begin);
      if (test(region.out, v)) touch(v, region.end - 1);
    }
    for (std::uint32_t i = region.begin; i < region.end; ++i) {
      accesses(f.body[i], [&](std::uint32_t v) { touch(v, i); }, [&](std::uint32_t v) { touch(v, i); });
    }
  }
  // A register that is read before it is written must keep its place from the beginning: nobody else's value may show through.
  for (const std::uint32_t v : result.undefined) first[v] = 0;

  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v < count; ++v) {
    if (first[v] != ~0u) order.push_back(v);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return first[a] < first[b]; });
  std::map<std::uint32_t, std::vector<engine::Slot>> free;  // by bytes
  std::multimap<std::uint32_t, std::uint32_t> active;       // by end
  int live = 0;
  const auto weight = [&](std::uint32_t v) {
    const int bytes = f.registers[v].type == ptx::Type::kPred ? 0 : ptx::size_of(f.registers[v].type);
    return bytes == 0 ? 0 : std::max(1, bytes / 4);
  };
  std::uint32_t predicates = 0, predicate_base = ~0u;
  for (const std::uint32_t v : order) {
    while (!active.empty() && active.begin()->first < first[v]) {
      const std::uint32_t gone = active.begin()->second;
      const int size = f.registers[gone].type == ptx::Type::kPred ? 0 : ptx::size_of(f.registers[gone].type);
      free[slot_bytes(size)].push_back(result.slots[gone]);
      live -= weight(gone);
      active.erase(active.begin());
    }
    const int size = f.registers[v].type == ptx::Type::kPred ? 0 : ptx::size_of(f.registers[v].type);
    const std::uint32_t bytes = slot_bytes(size);
    auto& pool = free[bytes];
    if (!pool.empty()) {
      result.slots[v] = pool.back();
      pool.pop_back();
    } else if (bytes == 4) {
      if (predicates % 16 == 0) {
        predicate_base = result.bytes;
        result.bytes += 64;
      }
      result.slots[v] = predicate_base + 4 * (predicates++ % 16);
    } else {
      result.slots[v] = result.bytes;
      result.bytes += std::max(bytes, 64u);
    }
    active.emplace(last[v], v);
    live += weight(v);
    result.live = std::max(result.live, live);
  }
  return result;
}

}  // namespace lockstep::decode
