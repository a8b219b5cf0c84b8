#include "simulator/proof/prove.h"

#include <algorithm>

#include "simulator/program/memory_access.h"
#include "simulator/proof/apart.h"
#include "simulator/proof/fragments.h"
#include "simulator/proof/place.h"
#include "simulator/proof/written.h"

namespace lockstep::proof {

using isa::Space;
using program::Action;
using program::Op;

namespace {

constexpr std::uint8_t kGrid = 2;  // check::Scope::kGrid in Op::scope
constexpr int kMostRounds = 4;     // rounds of removing ways that no thread takes

// Whether the operation accesses memory only by a load, store or atomic that the proof examines, or
// not at all.
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
    case Action::kLoadFragment:
    case Action::kStoreFragment: return is_global_fragment(op);
    default: return false;
  }
}

// Whether a thread executes the access.
bool is_executed(const Access& a) {
  return std::any_of(a.threads.begin(), a.threads.end(), [](bool t) { return t; });
}
bool is_known(const Place& p, const Values& values) {
  return p.address &&
         std::none_of(p.address->factors.begin(), p.address->factors.end(),
                      [&](const auto& factor) { return values.is_data(factor.first); });
}

Place place_of(const Op& op, std::uint32_t pc, Values& values) {
  const Space space = static_cast<Space>(op.space);
  const auto fields = op.as<program::MemoryFields>();
  Place place;
  Access& a = place.access;
  a.pc = pc;
  a.space = space;
  a.size = std::uint32_t{op.width} * op.elements;
  a.reads = op.action != Action::kStore;
  a.writes = op.action != Action::kLoad;
  a.strong = op.action == Action::kAtomic || fields.has(program::kStrong);
  // For a block's shared memory, the scope .cta is sufficient.
  a.atomic = op.action == Action::kAtomic && (space == Space::kShared || op.scope == kGrid);
  const bool narrow = fields.has(program::kNarrowAddress);
  a.threads = values.conditions(pc).threads;
  if (!is_executed(a)) {
    place.address = constant(0, 64);
  } else if (!fields.has(program::kFrameAddress) && (!narrow || space == Space::kShared)) {
    const int bits = narrow ? 32 : 64;
    if (auto form = values.source(op.src[0], pc, bits))
      place.address = combined(*form, 1, constant(op.immediate, bits), 1, bits);
  }
  return place;
}

std::vector<Place> elements_of(const program::Program& p, const Op& op, std::uint32_t pc,
                               Values& values) {
  Access a;
  a.pc = pc;
  a.space = Space::kGlobal;
  a.reads = op.action == Action::kLoadFragment;
  a.writes = !a.reads;
  a.threads = values.conditions(pc).threads;
  if (is_executed(a)) return places_of_fragment(p, op, a, values);
  a.size = op.width;
  return {{a, constant(0, 64)}};
}

std::vector<Place> places_of(Graph& graph, Values& values, const program::Function& kernel) {
  const program::Program& p = graph.program();
  std::vector<Place> places;
  for (std::uint32_t pc = kernel.entry; pc < kernel.end; ++pc) {
    const Op& op = p.ops[pc];
    const Space space = static_cast<Space>(op.space);
    if (is_global_fragment(op)) {
      for (Place& place : elements_of(p, op, pc, values)) places.push_back(std::move(place));
    } else if ((op.action == Action::kLoad || op.action == Action::kStore ||
                op.action == Action::kAtomic) &&
               (space == Space::kGlobal || space == Space::kShared || space == Space::kConst)) {
      places.push_back(place_of(op, pc, values));
    }
  }
  for (Place& place : places) place.access.known = is_known(place, values);
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
  const Range r = values.range(f, values.conditions(a.pc));
  if (r.low > r.high) {  // no thread gets here
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

}  // namespace

const Access* Certificate::find(std::uint32_t pc) const {
  const auto it = std::lower_bound(accesses.begin(), accesses.end(), pc,
                                   [](const Access& a, std::uint32_t at) { return a.pc < at; });
  return it != accesses.end() && it->pc == pc ? &*it : nullptr;
}

bool Certificate::is_shared_silent() const {
  return shared_apart &&
         !(orders && std::any_of(accesses.begin(), accesses.end(), [](const Access& a) {
             return a.space == Space::kShared && a.strong;
           }));
}

// Where a load goes is irrelevant to memory that no thread writes. To memory that threads write, a
// load with an unknown address counts as an access of any thread, and so does an atomic to all
// memory (part_global()).
std::optional<Certificate::Contested> Certificate::contested() const {
  if (!followed || others) return std::nullopt;
  Contested all;
  std::uint32_t roaming = 0;    // the size of the atomics with an unknown address
  bool reads_anywhere = false;  // by a load
  for (const Access& a : accesses) {
    if (a.space != Space::kGlobal) continue;
    const bool may_order = orders && a.strong;
    if (!a.in_bounds) {
      if (may_order || (a.writes && !a.is_atomic_of(roaming))) return std::nullopt;
      if (a.writes) roaming = a.size;
      reads_anywhere |= !a.writes;
    } else if ((!a.apart || may_order) && a.bytes.begin != a.bytes.end) {
      (a.apart_unless_read && !orders ? all.if_read : all.always).push_back(a.bytes);
    }
  }
  if (roaming != 0 && reads_anywhere) return std::nullopt;
  return all;
}

bool touches_memory_otherwise(const Op& op) { return !touches_nothing_else(op); }

Certificate prove(const program::Program& program, const program::Function& kernel,
                  const Shape& shape, const Memory& memory) {
  Certificate certificate;
  if (shape.threads() == 0 || shape.threads() > 1024) return certificate;
  // Facts about the graph without unused ways may decide further branches.
  Decided decided;
  std::unique_ptr<Graph> graph = Graph::make(program, kernel);
  if (graph == nullptr) return certificate;
  auto found = std::make_unique<Values>(*graph, shape);
  for (int round = 0; round < kMostRounds; ++round) {
    Decided now = found->decided();
    now.insert(decided.begin(), decided.end());
    if (now.size() == decided.size()) break;
    decided = std::move(now);
    auto smaller = Graph::make(program, kernel, decided);
    if (smaller == nullptr) break;
    found = std::make_unique<Values>(*smaller, shape);
    graph = std::move(smaller);
  }
  Values& values = *found;
  std::vector<Place> places = places_of(*graph, values, kernel);
  for (Place& p : places) decide_bounds(p, values, memory);
  certificate.followed = true;
  certificate.others = false;
  for (std::uint32_t pc = kernel.entry; pc < kernel.end; ++pc) {
    const Op& op = program.ops[pc];
    if (!graph->is_reached(graph->block_of(pc))) continue;
    certificate.others |= touches_memory_otherwise(op);
    certificate.orders |= op.action == Action::kFence;
    if (op.action == Action::kLoad || op.action == Action::kStore || op.action == Action::kAtomic)
      certificate.orders |=
          op.as<program::MemoryFields>().has_any(program::kAcquire | program::kRelease);
    certificate.reads_local |=
        op.action == Action::kLoad && static_cast<Space>(op.space) == Space::kLocal;
  }
  if (!certificate.others) {
    certificate.shared_apart = shared_is_apart(*graph, values, places, memory);
    part_global(values, shape, places);
    find_stores_before(*graph, values, memory, places);
    certificate.registers_written = registers_are_written(*graph, kernel);
  }
  certificate.global_apart = !certificate.others;
  for (Place& p : places) {
    if (p.access.space == Space::kShared) p.access.apart = certificate.shared_apart;
    // Kernels do not write constant memory.
    if (p.access.space == Space::kConst) p.access.apart = p.access.in_bounds && !p.access.writes;
    if (p.access.space == Space::kGlobal) certificate.global_apart &= p.access.apart;
    if (!certificate.accesses.empty() && certificate.accesses.back().pc == p.access.pc)
      include(certificate.accesses.back(), p.access);
    else
      certificate.accesses.push_back(std::move(p.access));
  }
  return certificate;
}

}  // namespace lockstep::proof
