#include "simulator/proof/prove.h"

#include <algorithm>

#include "simulator/program/memory_access.h"
#include "simulator/program/synchronisation.h"

namespace lockstep::proof {

using isa::Space;
using program::Action;
using program::Op;

namespace {

// Accesses of single threads that are looked at, one by one, in the shared memory of a block.
constexpr std::uint64_t kMostTouches = 1 << 20;
constexpr std::uint64_t kMostShared = 1 << 18;  // bytes

struct Place {
  Access access;
  std::optional<Form> address;
};

// What else an operation may do to memory than by a load, a store or an atomic that is looked at.
bool touches_nothing_else(const Op& op) {
  switch (op.action) {
    case Action::kNone:
    case Action::kBranch:
    case Action::kReturn:
    case Action::kExit:
    case Action::kSleep:
    case Action::kHint:
    case Action::kLineHint:
    case Action::kSpecialRegister:
    case Action::kActiveMask:
    case Action::kConvertAddress:
    case Action::kIsSpace:
    case Action::kLocalAddress:
    case Action::kLoadKernelParameter:
    case Action::kLoadStorage:
    case Action::kStoreStorage:
    case Action::kSync:
    case Action::kBarrier:
    case Action::kFence:
    case Action::kMultiply:
    case Action::kMoveMatrix: return true;
    case Action::kLoad:
    case Action::kStore:
    case Action::kAtomic: {
      const Space s = static_cast<Space>(op.space);
      return s == Space::kGlobal || s == Space::kShared || s == Space::kConst || s == Space::kLocal;
    }
    default: return false;
  }
}

bool is_block_barrier(const program::Program& p, std::uint32_t pc) {
  const Op& op = p.ops[pc];
  if (op.action != Action::kBarrier || op.guard != program::kNoSlot) return false;
  const auto fields = op.as<program::BarrierFields>();
  if (fields.kind() == program::kBarArrive || op.src[1] != program::kNoSlot) return false;
  if (!program::is_constant(op.src[0])) return false;
  std::uint32_t number = 1;
  std::copy_n(p.constants.get() + (op.src[0] & ~program::Slot{1}), sizeof number,
              reinterpret_cast<std::byte*>(&number));
  return number == 0;
}

std::vector<Place> places_of(Graph& graph, Values& values, const program::Function& kernel) {
  const program::Program& p = graph.program();
  std::vector<Place> places;
  for (std::uint32_t pc = kernel.entry; pc < kernel.end; ++pc) {
    const Op& op = p.ops[pc];
    const Space space = static_cast<Space>(op.space);
    if ((op.action != Action::kLoad && op.action != Action::kStore &&
         op.action != Action::kAtomic) ||
        (space != Space::kGlobal && space != Space::kShared))
      continue;
    const auto fields = op.as<program::MemoryFields>();
    Place place;
    Access& a = place.access;
    a.pc = pc;
    a.space = space;
    a.size = std::uint32_t{op.width} * op.elements;
    a.reads = op.action != Action::kStore;
    a.writes = op.action != Action::kLoad;
    a.strong = op.action == Action::kAtomic || fields.has(program::kStrong);
    const bool narrow = fields.has(program::kNarrowAddress);
    if (!fields.has(program::kFrameAddress) && (!narrow || space == Space::kShared)) {
      const int bits = narrow ? 32 : 64;
      if (auto form = values.source(op.src[0], pc, bits))
        place.address = combined(*form, 1, constant(op.immediate, bits), 1, bits);
    }
    if (place.address) {
      a.known = true;
      a.threads = values.conditions(pc).threads;
    }
    places.push_back(std::move(place));
  }
  return places;
}

void decide_bounds(Place& place, Values& values, const Memory& memory) {
  Access& a = place.access;
  if (!place.address || a.size == 0) return;
  const Form& f = *place.address;
  const auto size = static_cast<std::int64_t>(a.size);
  a.aligned =
      std::all_of(f.base.begin(), f.base.end(), [&](std::int64_t b) { return b % size == 0; }) &&
      std::all_of(f.factors.begin(), f.factors.end(),
                  [&](const auto& factor) { return factor.second % size == 0; });
  const Range r = range_of(f, values.conditions(a.pc), values.symbols());
  if (r.low > r.high) {  // no thread comes here
    a.in_bounds = a.aligned = true;
    return;
  }
  if (r.low < 0 || r.high >= Wide{1} << 62) return;
  const Extent bytes{static_cast<std::uint64_t>(r.low),
                     static_cast<std::uint64_t>(r.high) + a.size};
  const auto holds = [&](const Extent& e) { return e.begin <= bytes.begin && bytes.end <= e.end; };
  if (a.space == Space::kShared) {
    a.in_bounds = std::any_of(memory.shared.begin(), memory.shared.end(), holds);
  } else {
    const auto allocation = memory.allocation(bytes.begin);
    a.in_bounds = allocation && holds(*allocation);
  }
  if (a.in_bounds) a.bytes = bytes;
}

// Whether all threads of a block execute the same barriers, in the same order: then what lies
// between two barriers is one interval for all of them.
bool barriers_are_common(const Graph& graph, Values& values, const std::vector<bool>& barrier) {
  const auto& blocks = graph.blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (values.branches_together(static_cast<int>(b))) continue;
    // What threads may execute before those that went the other way meet them again.
    std::vector<int> todo = blocks[b].after;
    std::vector<bool> seen(blocks.size());
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      if (at == blocks[b].post_dominator || seen[static_cast<std::size_t>(at)]) continue;
      seen[static_cast<std::size_t>(at)] = true;
      if (barrier[static_cast<std::size_t>(at)]) return false;
      const auto& after = blocks[static_cast<std::size_t>(at)].after;
      todo.insert(todo.end(), after.begin(), after.end());
    }
  }
  return true;
}

// For each interval between barriers, the accesses to shared memory that may lie in it.
std::vector<std::vector<std::size_t>> intervals_of(const Graph& graph, Values& values,
                                                   const std::vector<Place>& places) {
  const program::Program& p = graph.program();
  const auto& blocks = graph.blocks();
  std::vector<bool> barrier(blocks.size());  // ends with a barrier of the block
  for (std::size_t b = 0; b < blocks.size(); ++b)
    barrier[b] = is_block_barrier(p, blocks[b].end - 1);
  if (!barriers_are_common(graph, values, barrier)) barrier.assign(blocks.size(), false);
  std::vector<std::vector<std::size_t>> in_block(blocks.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].access.space == Space::kShared)
      in_block[static_cast<std::size_t>(graph.block_of(places[i].access.pc))].push_back(i);
  }
  std::vector<std::vector<std::size_t>> intervals;
  const auto from = [&](std::vector<int> todo) {
    std::vector<std::size_t> interval;
    std::vector<bool> seen(blocks.size());
    while (!todo.empty()) {
      const auto at = static_cast<std::size_t>(todo.back());
      todo.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      interval.insert(interval.end(), in_block[at].begin(), in_block[at].end());
      if (!barrier[at]) todo.insert(todo.end(), blocks[at].after.begin(), blocks[at].after.end());
    }
    intervals.push_back(std::move(interval));
  };
  from({0});
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (barrier[b]) from(blocks[b].after);
  }
  return intervals;
}

// Who has touched a byte in an interval: a thread plus 1.
struct Touched {
  std::vector<std::uint32_t> writer, reader;  // by byte
  std::vector<bool> several;                  // readers
};

// False: two threads may touch a byte that one of them writes, or there is too much to look at.
bool touch(const Place& place, const Values& values, Touched& touched, std::uint64_t& budget) {
  const Access& a = place.access;
  const Form& f = *place.address;
  // Each counter that the address depends on, from 0 on.
  std::vector<std::pair<std::int64_t, std::uint64_t>> counters;
  std::uint64_t rounds = 1;
  for (const auto& [symbol, factor] : f.factors) {
    const Range& r = values.symbols()[static_cast<std::size_t>(symbol)];
    // Blocks have shared memory of their own, but which bytes each touches must not matter here.
    if (symbol < kFirstLoop || r.high >= Wide{1} << 20) return false;
    counters.emplace_back(factor, static_cast<std::uint64_t>(r.high) + 1);
    rounds *= counters.back().second;
    if (rounds > kMostTouches) return false;
  }
  if (rounds * values.threads() > budget) return false;
  budget -= rounds * values.threads();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::int64_t more = 0;
    std::uint64_t rest = round;
    for (const auto& [factor, count] : counters) {
      more += factor * static_cast<std::int64_t>(rest % count);
      rest /= count;
    }
    for (std::size_t t = 0; t < values.threads(); ++t) {
      if (!a.threads[t]) continue;
      const std::int64_t at = f.of(t) + more;
      // Rounds of a counter that only other threads reach.
      if (at < 0 || static_cast<std::uint64_t>(at) + a.size > touched.writer.size()) continue;
      const auto me = static_cast<std::uint32_t>(t + 1);
      for (auto byte = static_cast<std::size_t>(at); byte < static_cast<std::size_t>(at) + a.size;
           ++byte) {
        std::uint32_t &writer = touched.writer[byte], &reader = touched.reader[byte];
        if (writer != 0 && writer != me) return false;
        if (a.writes) {
          if ((reader != 0 && reader != me) || touched.several[byte]) return false;
          writer = me;
        } else if (reader == 0) {
          reader = me;
        } else if (reader != me) {
          touched.several[byte] = true;
        }
      }
    }
  }
  return true;
}

// Whether no two threads of a block race in its shared memory, by any of its accesses.
bool shared_is_apart(const Graph& graph, Values& values, const std::vector<Place>& places,
                     const Memory& memory) {
  std::uint64_t extent = 0;
  for (const Extent& e : memory.shared) extent = std::max(extent, e.end);
  if (extent > kMostShared) return false;
  for (const Place& p : places) {
    if (p.access.space == Space::kShared && (!p.access.in_bounds || p.access.strong || !p.address))
      return false;
  }
  std::uint64_t budget = kMostTouches;
  for (const auto& interval : intervals_of(graph, values, places)) {
    Touched touched{std::vector<std::uint32_t>(extent), std::vector<std::uint32_t>(extent),
                    std::vector<bool>(extent)};
    for (const std::size_t i : interval) {
      if (!touch(places[i], values, touched, budget)) return false;
    }
  }
  return true;
}

}  // namespace

const Access* Certificate::find(std::uint32_t pc) const {
  const auto it = std::lower_bound(accesses.begin(), accesses.end(), pc,
                                   [](const Access& a, std::uint32_t at) { return a.pc < at; });
  return it != accesses.end() && it->pc == pc ? &*it : nullptr;
}

Certificate prove(const program::Program& program, const program::Function& kernel,
                  const Shape& shape, const Memory& memory) {
  Certificate certificate;
  const std::unique_ptr<Graph> graph = Graph::make(program, kernel);
  if (graph == nullptr || shape.threads() == 0 || shape.threads() > 1024) return certificate;
  Values values(*graph, shape);
  std::vector<Place> places = places_of(*graph, values, kernel);
  for (Place& p : places) decide_bounds(p, values, memory);
  bool others = false;
  for (std::uint32_t pc = kernel.entry; pc < kernel.end; ++pc)
    others |= !touches_nothing_else(program.ops[pc]);
  certificate.shared_apart = !others && shared_is_apart(*graph, values, places, memory);
  for (Place& p : places) {
    p.access.apart = certificate.shared_apart && p.access.space == Space::kShared;
    certificate.accesses.push_back(std::move(p.access));
  }
  return certificate;
}

}  // namespace lockstep::proof
