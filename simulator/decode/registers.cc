// Liveness of a function's virtual registers, and their places in the bank.
//
// nvcc's PTX gives nearly every value a register of its own. Sharing places between registers that are never live together keeps a
// warp's bank in the first-level cache.
#include <algorithm>
#include <map>

#include "simulator/decode/function_decoder.h"
#include "simulator/ptx/effects.h"

namespace lockstep::decode {
namespace {

using ptx::RegisterAccess;

using Bits = std::vector<std::uint64_t>;
bool test(const Bits& b, std::uint32_t i) { return b[i >> 6] >> (i & 63) & 1; }
void set(Bits& b, std::uint32_t i) { b[i >> 6] |= std::uint64_t{1} << (i & 63); }

// Instructions [begin, end) that are entered at the first and left at the last alone.
struct Region {
  std::uint32_t begin = 0, end = 0;
  std::vector<std::uint32_t> successors;
  Bits in, out;  // registers live there
};

// A function as the passes below see it.
struct Flow {
  const ptx::Function& function;
  std::uint32_t registers;
  std::size_t words;                                  // of a set of registers
  std::vector<std::vector<RegisterAccess>> accesses;  // by instruction
  std::vector<Region> regions;
};

Flow flow_of(const ptx::Function& f) {
  const auto n = static_cast<std::uint32_t>(f.body.size());
  Flow flow{f, static_cast<std::uint32_t>(f.registers.size()), f.registers.size() / 64 + 1, {}, {}};
  std::vector<bool> leader(n + 1, false);
  std::vector<ptx::Successors> after;
  leader[0] = true;
  for (std::uint32_t i = 0; i < n; ++i) {
    flow.accesses.push_back(ptx::register_accesses(f.body[i]));
    after.push_back(ptx::successors(f.body[i]));
    if (!after[i].next || !after[i].targets.empty()) leader[i + 1] = true;
    for (const std::uint32_t t : after[i].targets) leader[std::min(t, n)] = true;
  }
  std::vector<std::uint32_t> region_at(n + 1, 0);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (leader[i]) {
      if (!flow.regions.empty()) flow.regions.back().end = i;
      flow.regions.push_back({i, n, {}, {}, {}});
    }
    region_at[i] = static_cast<std::uint32_t>(flow.regions.size() - 1);
  }
  for (Region& r : flow.regions) {
    const ptx::Successors& last = after[r.end - 1];
    for (const std::uint32_t t : last.targets) {
      if (t < n) r.successors.push_back(region_at[t]);
    }
    if (last.next && r.end < n) r.successors.push_back(region_at[r.end]);
  }
  return flow;
}

// Fills in Region::in and out.
void find_live(Flow& flow) {
  auto& regions = flow.regions;
  std::vector<Bits> use(regions.size(), Bits(flow.words)), define(regions.size(), Bits(flow.words));
  for (std::size_t r = 0; r < regions.size(); ++r) {
    regions[r].in = regions[r].out = Bits(flow.words);
    for (std::uint32_t i = regions[r].begin; i < regions[r].end; ++i) {
      // A guarded write leaves the other lanes' values alone: it kills nothing.
      const bool guarded = flow.function.body[i].guard.present;
      for (const RegisterAccess& a : flow.accesses[i]) {
        if (!a.writes) {
          if (!test(define[r], a.index)) set(use[r], a.index);
        } else if (!guarded) {
          set(define[r], a.index);
        }
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t r = regions.size(); r-- > 0;) {
      Region& region = regions[r];
      for (const std::uint32_t s : region.successors) {
        for (std::size_t k = 0; k < flow.words; ++k) region.out[k] |= regions[s].in[k];
      }
      for (std::size_t k = 0; k < flow.words; ++k) {
        const std::uint64_t in = use[r][k] | (region.out[k] & ~define[r][k]);
        changed |= in != region.in[k];
        region.in[k] = in;
      }
    }
  }
}

// Registers that some path reads before it writes them. Guarded writes count here: nvcc guards a definition and its uses by the same
// predicate.
std::vector<std::uint32_t> find_undefined(const Flow& flow) {
  const auto& regions = flow.regions;
  std::vector<Bits> assigned(regions.size(), Bits(flow.words, ~0ull));
  std::fill(assigned[0].begin(), assigned[0].end(), 0);
  Bits undefined(flow.words);
  const auto pass = [&](const Region& region, Bits& now) {
    for (std::uint32_t i = region.begin; i < region.end; ++i) {
      for (const RegisterAccess& a : flow.accesses[i]) {
        if (a.writes) {
          set(now, a.index);
        } else if (!test(now, a.index)) {
          set(undefined, a.index);
        }
      }
    }
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t r = 0; r < regions.size(); ++r) {
      Bits now = assigned[r];
      pass(regions[r], now);  // what is assigned only shrinks, so that what is seen too early is seen again at the end
      for (const std::uint32_t s : regions[r].successors) {
        for (std::size_t k = 0; k < flow.words; ++k) {
          const std::uint64_t both = assigned[s][k] & now[k];
          changed |= both != assigned[s][k];
          assigned[s][k] = both;
        }
      }
    }
  }
  std::vector<std::uint32_t> all;
  for (std::uint32_t v = 0; v < flow.registers; ++v) {
    if (test(undefined, v)) all.push_back(v);
  }
  return all;
}

// From the first to the last instruction, in the order of the text, where a register is live or touched.
struct Interval {
  std::uint32_t first = ~0u, last = 0;
  bool empty() const { return first == ~0u; }
  void touch(std::uint32_t i) {
    first = std::min(first, i);
    last = std::max(last, i);
  }
};

std::vector<Interval> intervals_of(const Flow& flow, const std::vector<std::uint32_t>& undefined) {
  std::vector<Interval> all(flow.registers);
  for (const Region& region : flow.regions) {
    for (std::uint32_t v = 0; v < flow.registers; ++v) {
      if (test(region.in, v)) all[v].touch(region.begin);
      if (test(region.out, v)) all[v].touch(region.end - 1);
    }
    for (std::uint32_t i = region.begin; i < region.end; ++i) {
      for (const RegisterAccess& a : flow.accesses[i]) all[a.index].touch(i);
    }
  }
  // Such a register must keep its place from the beginning: nobody else's value may show through.
  for (const std::uint32_t v : undefined) all[v].first = 0;
  return all;
}

// Hands out places in the bank. A predicate takes four bytes; other registers 32 times their size, at least a line of the cache.
class Bank {
 public:
  static constexpr std::uint32_t kPredicate = 4;
  static std::uint32_t bytes_of(ptx::Type t) {
    return t == ptx::Type::kPred ? kPredicate : static_cast<std::uint32_t>(engine::kWarpSize * ptx::size_of(t));
  }

  engine::Slot take(std::uint32_t bytes) {
    auto& pool = free_[bytes];
    if (!pool.empty()) {
      const engine::Slot s = pool.back();
      pool.pop_back();
      return s;
    }
    if (bytes == kPredicate) {
      if (predicates_ % 16 == 0) predicate_base_ = grow(64);
      return predicate_base_ + kPredicate * (predicates_++ % 16);
    }
    return grow(std::max(bytes, 64u));
  }
  void give_back(engine::Slot s, std::uint32_t bytes) { free_[bytes].push_back(s); }
  std::uint32_t bytes() const { return bytes_; }

 private:
  std::uint32_t grow(std::uint32_t by) { return std::exchange(bytes_, bytes_ + by); }

  std::map<std::uint32_t, std::vector<engine::Slot>> free_;  // by size
  std::uint32_t bytes_ = 0, predicates_ = 0, predicate_base_ = 0;
};

// 32-bit registers that a register counts as.
int weight_of(ptx::Type t) { return t == ptx::Type::kPred ? 0 : std::max(1, ptx::size_of(t) / 4); }

}  // namespace

Allocation allocate_registers(const ptx::Function& f, engine::RegisterPlaces places) {
  Allocation result;
  result.slots.assign(f.registers.size(), engine::kNoSlot);
  if (f.body.empty()) return result;
  Flow flow = flow_of(f);
  find_live(flow);
  result.undefined = find_undefined(flow);
  const std::vector<Interval> intervals = intervals_of(flow, result.undefined);

  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v < flow.registers; ++v) {
    if (!intervals[v].empty()) order.push_back(v);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return intervals[a].first < intervals[b].first; });
  Bank bank;
  std::multimap<std::uint32_t, std::uint32_t> active;  // registers by the end of their interval
  int live = 0;
  for (const std::uint32_t v : order) {
    while (!active.empty() && active.begin()->first < intervals[v].first) {
      const std::uint32_t gone = active.begin()->second;
      if (places == engine::RegisterPlaces::kShared) bank.give_back(result.slots[gone], Bank::bytes_of(f.registers[gone].type));
      live -= weight_of(f.registers[gone].type);
      active.erase(active.begin());
    }
    result.slots[v] = bank.take(Bank::bytes_of(f.registers[v].type));
    active.emplace(intervals[v].last, v);
    live += weight_of(f.registers[v].type);
    result.live = std::max(result.live, live);
  }
  result.bytes = bank.bytes();
  return result;
}

}  // namespace lockstep::decode
