#include "simulator/engine/monitor/races.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>

#include "simulator/check/global_rows.h"
#include "simulator/check/region_lock.h"
#include "simulator/check/scattered_lanes.h"
#include "simulator/engine/monitor/concurrent_access.h"
#include "simulator/engine/monitor/past_access.h"
#include "simulator/engine/monitor/proved.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/running_grids.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/lane_runs.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/parked.h"
#include "simulator/engine/state/placement.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/program/synchronisation.h"

namespace lockstep::engine {
namespace {

using check::GlobalRaces;
using isa::Space;

// The other side of a race, in the form that both searches provide.
struct Opponent {
  std::uint32_t pc = 0;
  std::uint64_t position = 0;  // of its block in the schedule
  Dim3 block, thread;
  std::uint32_t linear = 0;  // shared memory: the thread's number in the block
  bool same_block = true, same_warp = false;
  bool is_write = false, is_strong = false;
  std::optional<PastAccess> past;  // set if it belongs to an earlier launch
  bool of_family = false;          // that launch is of the same family (check/launch_order.h)
};

check::Access access_of(const Block& b, const Opponent& o, std::uint64_t address,
                        std::uint32_t size) {
  check::Access a;
  if (o.past) {
    a = o.past->access;
    a.address = address;
    a.size = size;
    return a;
  }
  a.site = site_of(*b.program, o.pc);
  a.block = o.block;
  a.thread = o.thread;
  a.address = address;
  a.size = size;
  a.is_write = o.is_write;
  a.is_atomic = o.is_strong && o.is_write;
  return a;
}

// Whether a write by `lane` changes nothing. Threads that write the same value do no harm, but the
// race is reported as information. Earlier recorded writes are already in memory.
bool writes_what_is_there(Warp& w, const Request& r, int lane, const Opponent& other) {
  if (!r.writes || r.reads || !other.is_write || other.is_strong) return false;
  if (r.brings != nullptr)
    return !other.past && w.block->program->ops[other.pc].action == Action::kCopyAsync &&
           r.brings(w, r, lane, other.linear, other.pc);
  return r.same != nullptr && r.same(w, r, lane);
}

check::Side side_of(Warp& w, const Request& r) {
  check::Side side = side_of(w, *r.op, r.pc, r.writes, is_strong(r));
  side.updates = r.reads && r.writes;
  side.observes = side.updates && reads_value(*r.op);
  side.acquires = r.op->as<MemoryFields>().has(kAcquire) && r.reads;
  side.releases = r.op->as<MemoryFields>().has(kRelease) && r.writes;
  return side;
}

// Whether one side is a plain read whose value a compare-and-swap compares with, and the other side
// is atomic. Loops around a compare-and-swap start with such a guess; a stale guess only makes it
// fail.
bool is_guess(const Warp& w, const Request& r, const Opponent& other) {
  const auto& guesses = w.block->program->guesses;
  if (guesses.empty()) return false;
  const bool mine = !r.writes && other.is_strong && guesses.contains(r.pc),
             theirs = !other.past && !other.is_write && is_strong(r) && guesses.contains(other.pc);
  return mine || theirs;
}

// The harm that a race does. kSameValue and kGuess do none on today's hardware, and are
// information.
enum class Harm { kSome, kSameValue, kGuess };

// Whether one side is a bulk copy that reads its source in shared memory.
bool reads_source(const Warp& w, const Request& r, Space space, const Opponent& other) {
  const auto copies = [&](std::uint32_t pc) {
    const Action action = w.block->program->ops[pc].action;
    return action == Action::kBulkCopy || action == Action::kTensorCopy;
  };
  return space == Space::kShared &&
         ((!r.writes && copies(r.pc)) || (!other.is_write && copies(other.pc)));
}

const char* advice(const Opponent& other, Harm harm) {
  if (other.past && harm == Harm::kSome)
    return other.of_family ? kOrderBetweenGrids : kOrderBetweenStreams;
  if (harm == Harm::kSameValue) return "Both write the same value.";
  if (harm == Harm::kGuess)
    return "The plain read only guesses what a compare-and-swap then compares with; a volatile or "
           "relaxed read would be no race at all.";
  if (other.same_warp)
    return "Nothing orders the two threads of this warp: __syncwarp() between the accesses would, "
           "or __syncthreads() if other warps use the memory too.";
  if (other.same_block)
    return "Nothing orders the two threads: __syncthreads() between the accesses would.";
  return "Nothing orders the two blocks: atomics of device scope, a flag with fences on both "
         "sides, a barrier of the grid or two kernels would.";
}

// Whether both sides are on one source line and only one of them writes, as in `*p += 1`.
bool may_be_an_update(const Request& r, const Opponent& other, const check::Site& mine,
                      const check::Site& theirs) {
  return !other.past && r.writes != other.is_write && mine.line > 0 && mine.line == theirs.line &&
         mine.file == theirs.file;
}

constexpr const char* kUpdate =
    " If several threads update one value in this line, as *p += 1 does, use an atomic operation, "
    "such as atomicAdd.";

std::uint64_t index_in_grid(const Launch& launch, const Dim3& block) {
  const Dim3& grid = launch.config->grid;
  return block.x + std::uint64_t{grid.x} * (block.y + std::uint64_t{grid.y} * block.z);
}

bool ends_mbarrier(const Op& op) {
  return op.action == Action::kMbarrier &&
         op.as<program::MbarrierFields>().what() == program::MbarrierOp::kInvalidate;
}

check::RaceShape race_shape(const Block& b, const Request& r, const Opponent& o) {
  if (ends_mbarrier(*r.op) && o.same_block && !o.is_write) return check::RaceShape::kBarrierEnds;
  if (o.past || is_strong(r) || o.is_strong) return check::RaceShape::kOther;
  if (o.same_block) {
    if (r.writes && o.is_write) return check::RaceShape::kWritesOfABlock;
    return o.same_warp ? check::RaceShape::kOther : check::RaceShape::kWarpsOfABlock;
  }
  if (r.writes == o.is_write) return check::RaceShape::kOther;
  const std::uint64_t mine = index_in_grid(*b.launch, b.ctaid),
                      theirs = index_in_grid(*b.launch, o.block);
  return (r.writes ? mine > theirs : theirs > mine) ? check::RaceShape::kLaterBlockWrites
                                                    : check::RaceShape::kOther;
}

// Returns false if the launch ends. `where`: is called only for a report. A loop may repeat a race
// that needs none very often.
__attribute__((noinline)) bool report_race(Warp& w, const Request& r, int lane, Space space,
                                           const std::function<std::string()>& where,
                                           const Opponent& o) {
  Block& b = *w.block;
  compare_race_with_proof(w, space, r.address[lane], r.pc,
                          o.past ? std::nullopt : std::optional(o.pc), lane);
  const Harm harm = writes_what_is_there(w, r, lane, o) ? Harm::kSameValue
                    : is_guess(w, r, o)                 ? Harm::kGuess
                                                        : Harm::kSome;
  const bool benign =
      harm == Harm::kGuess || (harm == Harm::kSameValue && !b.launch->strict_writes);
  const check::RaceShape shape = race_shape(b, r, o);
  if (shape != check::RaceShape::kOther && !benign &&
      known_before(w, check::Kind::kRace, r.pc, ReportedSite::As::kKnown))
    return true;
  // One report for a site is sufficient.
  if (benign ? !first_time(w, check::Kind::kRace, r.pc, ReportedSite::As::kInformation)
             : already_reported(w, check::Kind::kRace, r.pc))
    return true;
  check::Finding f = access_finding(w, r, space, 1u << lane, check::Kind::kRace);
  if (benign) f.severity = check::Severity::kInformation;
  f.where = where();
  const check::Access other = access_of(b, o, r.address[lane], r.size);
  f.detail = reads_source(w, r, space, o)
                 ? "The copy may read its source until its thread has waited, by "
                   "cp.async.bulk.wait_group.read; then a barrier for the others."
                 : advice(o, harm);
  if (harm == Harm::kSome && may_be_an_update(r, o, f.access.site, other.site)) f.detail += kUpdate;
  f.survived = !benign && goes_on_after(*b.launch, check::Kind::kRace);
  f.other = other;
  const bool known =
      !benign && shape != check::RaceShape::kOther && is_known_in_library(*b.launch, f, shape);
  if (known) first_time(w, check::Kind::kRace, r.pc, ReportedSite::As::kKnown);
  const bool goes_on = benign || known || f.survived;
  if (f.survived) first_time(w, check::Kind::kRace, r.pc);
  if (o.past) f.access.operation = f.kernel + " in " + b.launch->config->place.stream.to_string();
  if (o.same_block || o.past) {
    goes_on ? report(b, std::move(f)) : report(w, std::move(f));
    return goes_on;
  }
  // The host's thread schedule decides which of two blocks came first. So the finding names the
  // write first, and of two writes the one that is first in the program. It counts for the block
  // that is later in the schedule, as if blocks ran one after another.
  const check::Access mine = f.access;
  if (o.is_write && (!r.writes || o.pc < r.pc || (o.pc == r.pc && o.position < b.position))) {
    f.access = other;
    f.other = mine;
  }
  const std::uint64_t position = std::max(b.position, o.position);
  report_at(b, position, std::move(f));
  if (goes_on || position != b.position) return true;
  w.event = Event::kAbort;
  return false;
}

std::string in_shared_variable(const Launch& launch, std::uint64_t address) {
  for (const Range& range : launch.shared) {
    if (address >= range.begin && address < range.end)
      return std::to_string(address - range.begin) + " bytes into '" + range.name + "'";
  }
  return {};
}

Opponent opponent(const Block& b, std::uint32_t warp, const check::LaneAccess& c) {
  const Launch& launch = *b.launch;
  Opponent o;
  o.is_write = c.record.write;
  o.is_strong = c.record.strong;
  o.same_block = c.record.block == b.serial;
  o.same_warp = o.same_block && c.record.warp == warp;
  if (!b.races.is_of_launch(c.record.block)) {
    const PastLaunch* const past = launch.history->find(c.record.block);
    o.past = past == nullptr ? PastAccess{} : past_access(*past, c);
    o.of_family = launch.races->grid().launches().is_of_family(c.record.block);
    o.block = o.past->access.block;
    o.thread = o.past->access.thread;
    return o;
  }
  const std::uint32_t number = c.record.block - launch.first_block;
  o.pc = c.record.pc;
  o.position = launch.clustered
                   ? number / static_cast<std::uint32_t>(launch.config->cluster.count())
                   : number;
  o.block = place_of_block(shape_of(*launch.config, launch.clustered), number);
  o.thread = thread_of(launch, c.record.warp * 32u + c.lane);
  return o;
}

Opponent opponent(const Block& b, std::uint32_t warp, const check::SharedRaces::Conflict& c) {
  Opponent o;
  o.pc = c.other_pc;
  o.position = b.position;
  o.block = b.ctaid;
  o.thread = thread_of(*b.launch, c.other_thread);
  o.linear = c.other_thread;
  o.same_warp = c.other_thread >> 5 == warp;
  o.is_write = c.other_is_write;
  o.is_strong = c.other_is_strong;
  return o;
}

void store(Warp& w, Request& r, LaneMask lanes) {
  if (r.store == nullptr) return;
  r.store(w, r, lanes);
  r.stored |= lanes;
}

// Weak accesses of four bytes to shared memory, by runs of lanes, until one may race. Returns the
// lanes that are recorded and have stored.
LaneMask record_runs(Warp& w, Request& r, LaneMask lanes) {
  check::SharedRaces& races = w.block->races;
  alignas(64) std::uint32_t at[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) at[i] = static_cast<std::uint32_t>(r.address[i]);
  LaneMask done = 0;
  for (const LaneRun& run : lane_runs(at, lanes, 4)) {
    const std::uint32_t first = at[run.lane] >> 2;
    if (r.writes) {
      if ((run.together && run.count > 1) ||
          !races.write_row(first, run.lane, run.count, w.index, r.pc, false))
        break;
      store(w, r, run.lanes());
    } else if (!(run.together ? races.read_together(first, run.lane, run.lane + run.count - 1,
                                                    w.index, r.pc, false)
                              : races.read_row(first, run.lane, run.count, w.index, r.pc, false))) {
      break;
    }
    done |= run.lanes();
  }
  return done;
}

// The lanes of a run that are recorded and have stored. Cells may change within a run, as where a
// halo meets its neighbour; then the run is recorded in parts. Many parts are no cheaper than
// single lanes.
LaneMask record_parts(Warp& w, Request& r, LaneRun left, check::GlobalCell* cell,
                      GlobalRaces::Access& access) {
  GlobalRaces& races = *w.block->worker->races;
  const std::uint32_t width = r.size / 4;
  LaneMask done = 0;
  for (int parts = 0; parts < 4 && left.count != 0; ++parts) {
    LaneRun part = left;
    if (!check::record_row(races, cell, width, part.lane, part.count, access)) {
      part.count = check::length_of_row(races, cell, width, left.count);
      if (part.count == 0 || part.count == left.count ||
          !check::record_row(races, cell, width, part.lane, part.count, access))
        break;
    }
    store(w, r, part.lanes());
    done |= part.lanes();
    cell += width * part.count;
    left = {left.lane + part.count, left.count - part.count, false};
  }
  return done;
}

// As record_runs(), for cells, strong accesses included.
template <class CellsOf>
LaneMask record_cells(Warp& w, Request& r, LaneMask lanes, GlobalRaces::Access& access,
                      CellsOf cells_of) {
  GlobalRaces& races = *w.block->worker->races;
  const std::uint64_t base = r.address[std::countr_zero(lanes)] - (1u << 31);
  alignas(64) std::uint32_t at[kWarpSize];
  if ((distances(r.address, base, at) & lanes) != 0) return 0;
  LaneMask done = 0;
  for (const LaneRun& run : lane_runs(at, lanes, r.size)) {
    const std::uint64_t first = r.address[run.lane],
                        last = first + (run.together ? 1 : run.count) * r.size - 1;
    check::GlobalCell* cell = cells_of(first);
    // Lanes that write to one place race, unless they are atomic.
    if (cell == nullptr || (run.together && run.count > 1 && r.store != nullptr)) break;
    const check::RegionLock lock(races.parallel(), first, last);
    LaneMask recorded = 0;
    if (!run.together) {
      recorded = record_parts(w, r, run, cell, access);
    } else if (check::record_one_place(races, cell, r.size / 4, run.lane, run.lane + run.count - 1,
                                       access)) {
      recorded = run.lanes();
      store(w, r, recorded);
    }
    done |= recorded;
    if (recorded != run.lanes()) break;
  }
  return done;
}

// Visits the granules of [first, last], each with its accessed bytes as a mask. `cell`: that of the
// first granule.
template <class Visit>
void for_granules(std::uint64_t first, std::uint64_t last, check::GlobalCell* cell, Visit visit) {
  for (std::uint64_t g = first & ~3ull; g <= last; g += 4, ++cell) {
    const std::uint32_t from = g < first ? static_cast<std::uint32_t>(first - g) : 0;
    const std::uint32_t to = last - g < 3 ? static_cast<std::uint32_t>(last - g) : 3;
    visit(*cell, ((1u << (to + 1)) - 1) & ~((1u << from) - 1));
  }
}

// Whether several lanes read one place strongly, as those that wait for a flag or an mbarrier do.
bool polls(const Request& r, bool strong, LaneMask lanes) {
  if (!strong || r.writes || r.store != nullptr || r.issuer >= 0 || few(lanes)) return false;
  const std::uint64_t first = r.address[std::countr_zero(lanes)];
  LaneMask elsewhere = 0;
  each(lanes, [&](int i) { elsewhere |= LaneMask{r.address[i] != first} << i; });
  return elsewhere == 0;
}

// The cells of scattered lanes, and the records they name, lie in different cache lines. Prefetches
// all of them before the first is used.
template <class CellsOf>
void fetch_ahead(const GlobalRaces& races, const Request& r, LaneMask lanes, CellsOf cells_of) {
  const check::GlobalCell* cells[kWarpSize];
  each(lanes, [&](int i) {
    cells[i] = cells_of(r.address[i]);
    if (cells[i] != nullptr) __builtin_prefetch(cells[i], 1);
    __builtin_prefetch(r.host[i]);
  });
  each(lanes, [&](int i) {
    if (cells[i] != nullptr) races.records().fetch_ahead(check::glimpse(*cells[i]));
  });
}

// Records lanes that poll one place. Returns false if each must be judged alone.
template <class CellsOf>
bool record_poll(GlobalRaces& races, const Request& r, LaneMask lanes, GlobalRaces::Access& access,
                 CellsOf cells_of) {
  const std::uint64_t first = r.address[std::countr_zero(lanes)];
  check::GlobalCell* const cell = r.size % 4 == 0 ? cells_of(first) : nullptr;
  if (cell == nullptr) return false;
  const check::RegionLock lock(races.parallel(), first, first + r.size - 1);
  for (std::uint32_t i = 0; i < r.size / 4; ++i)
    if (!races.read_as_one(cell[i], lanes, access)) return false;
  return true;
}

// Each lane's access to its cells, and its store, under the lock.
template <Space kSpace, class CellsOf, class Where>
bool check_cells(Warp& w, Request& r, LaneMask lanes, CellsOf cells_of, Where where) {
  Block& b = *w.block;
  Worker& k = *b.worker;
  GlobalRaces& races = *k.races;
  const check::Side side = side_of(w, r);
  GlobalRaces::Access access(races, side, k.race_memo);
  if (polls(r, side.strong, lanes) && record_poll(races, r, lanes, access, cells_of)) {
    k.search_work += kRowSearch;
    return true;
  }
  if (r.size >= 4 && r.size <= 16 && !few(lanes) && r.issuer < 0)
    lanes &= ~record_cells(w, r, lanes, access, cells_of);
  k.search_work += kRowSearch + static_cast<std::uint64_t>(std::popcount(lanes));
  if (!few(lanes) && kSpace == Space::kGlobal && r.store == nullptr && r.issuer < 0)
    lanes &= ~check::record_scattered(races, *k.memory,
                                      {r.address, 0, r.size, lanes, b.first_record}, access);
  if (!few(lanes)) fetch_ahead(races, r, lanes, cells_of);
  bool good = true;
  each(lanes, [&](int i) {
    const std::uint64_t first = r.address[i], last = first + r.size - 1;
    check::GlobalCell* cell = cells_of(first);
    if (cell == nullptr) {
      if (side.strong) races.access_without_cell(first, static_cast<std::uint32_t>(i), side);
      store(w, r, 1u << i);
      return;
    }
    const check::RegionLock lock(races.parallel(), first, last);
    check::LaneAccess conflict;
    const auto lane = static_cast<std::uint32_t>(r.lane_of(i));
    bool found = false;
    if (r.size < 8 || (first | r.size) % 4 != 0 ||
        !check::record_element(races, cell, r.size / 4, lane, access)) {
      for_granules(first, last, cell, [&](check::GlobalCell& granule, std::uint32_t mask) {
        found |= races.access(granule, mask, lane, access, conflict);
      });
    }
    if (found && good)
      good = report_race(
          w, r, i, kSpace, [&] { return where(first); }, opponent(b, w.index, conflict));
    store(w, r, 1u << i);
  });
  return good;
}

// Lanes whose compare-and-swap finds another value: it reads and writes nothing (PTX ISA 8.4).
LaneMask failing_swaps(const Warp& w, const Request& r, LaneMask lanes) {
  const Op& op = *r.op;
  if (!r.reads || !r.writes || op.action != Action::kAtomic ||
      op.as<AtomicFields>().what() != isa::AtomOp::kCas)
    return 0;
  const auto* const compare = source<std::byte>(w, op.src[1]);
  LaneMask failing = 0;
  by_size(op.width, [&](auto bytes) {
    each(lanes, [&](int i) {
      std::byte there[bytes()];
      load_element<bytes()>(there, r.host[i]);
      failing |= LaneMask{std::memcmp(there, compare + i * bytes(), bytes()) != 0} << i;
    });
  });
  return failing;
}

// Calls `check` for the lanes that write, and for those of failing swaps, which only read.
// `shared`: other host threads may change memory before the operation itself. Then nobody knows
// which swaps will fail, and the distinction is omitted.
template <class Check>
bool check_swaps(Warp& w, Request& r, LaneMask lanes, bool shared, Check check) {
  const LaneMask failing = failing_swaps(w, r, lanes);
  if (failing == 0) return check(r, lanes);
  Request reading = r;
  reading.writes = false;
  return (shared || check(reading, failing)) && (lanes == failing || check(r, lanes & ~failing));
}

bool check_block(Warp& w, Request& r, LaneMask lanes) {
  Block& b = *w.block;
  const bool strong = is_strong(r);
  if (r.size == 4 && b.races.shift() == 2) {
    if (!strong) {
      if (!few(lanes)) lanes &= ~record_runs(w, r, lanes);
    } else if (r.writes && r.store == nullptr &&
               b.races.write_lanes_strongly(r.address, lanes, side_of(w, r))) {
      return true;
    }
  }
  const check::Side side = side_of(w, r);
  if (polls(r, strong, lanes) &&
      b.races.read_as_one(static_cast<std::uint32_t>(r.address[std::countr_zero(lanes)]), r.size,
                          lanes, side))
    return true;
  bool good = true;
  check::SharedRaces::Conflict c;
  // Mostly matrices, and accesses to granules of one byte.
  const std::uint32_t granules = r.size >> b.races.shift(), step = 4u << b.races.shift();
  const bool fours = !strong && granules >= 4 && granules % 4 == 0;
  each(lanes, [&](int i) {
    const auto first = static_cast<std::uint32_t>(r.address[i]),
               lane = static_cast<std::uint32_t>(r.lane_of(i)), thread = w.index * kWarpSize + lane;
    bool found = false;
    if (fours) {
      for (std::uint32_t at = first; at < first + r.size; at += step) {
        const std::uint32_t g = at >> b.races.shift();
        if (!(r.writes ? b.races.write_four(g, thread, r.pc) : b.races.read_four(g, thread, r.pc)))
          found |= b.races.access(at, step, lane, side, c);
      }
    } else {
      found = b.races.access(first, r.size, lane, side, c);
    }
    if (found && good) {
      good = report_race(
          w, r, i, Space::kShared, [&] { return in_shared_variable(*b.launch, r.address[i]); },
          opponent(b, w.index, c));
    }
    store(w, r, 1u << i);
  });
  return good;
}

}  // namespace

bool check_shared_races(Warp& w, Request& r, LaneMask lanes) {
  const DoingFor searches(*w.block->worker, Doing::kRaces);
  return check_swaps(w, r, lanes, false,
                     [&](Request& part, LaneMask some) { return check_block(w, part, some); });
}

bool check_cluster_races(Warp& w, Request& r, Block& owner, LaneMask lanes) {
  return check_swaps(w, r, lanes, false, [&](Request& part, LaneMask some) {
    return check_cells<Space::kShared>(
        w, part, some, [&](std::uint64_t address) { return owner.cells.data() + (address >> 2); },
        [&](std::uint64_t address) {
          return in_shared_variable(*w.block->launch, address) + " in the block of rank " +
                 std::to_string(owner.cluster_rank) + " of the cluster";
        });
  });
}

bool host_sees(const Warp& w, std::uint64_t address) {
  const memory::DeviceMemory& memory = *w.block->worker->memory;
  if (!memory.in_window(address)) return true;
  if (!memory.has_host_memory()) return false;
  const memory::Allocation* const a = memory.find(address);
  return a != nullptr && (a->kind == memory::Kind::kManaged || a->kind == memory::Kind::kPinned);
}

namespace {

// A strong write to memory that the host sees, or any write after a fence: the host may thereby
// learn what the kernel did.
void note_host_informed(Warp& w, const Request& r, LaneMask lanes) {
  std::atomic<bool>& informed = w.block->launch->informed_host;
  if (r.writes && (is_strong(r) || w.block->races.has_fenced_in(w.index)) &&
      !informed.load(std::memory_order_relaxed) && host_sees(w, r.address[std::countr_zero(lanes)]))
    informed.store(true, std::memory_order_relaxed);
}

// A strong read of such memory: the host may have written there after it had waited for operations.
void note_host_heard(Warp& w, const Request& r, LaneMask lanes) {
  Launch& launch = *w.block->launch;
  check::Hearing* const hearing = launch.hearing.get();
  const bool hears = hearing != nullptr && !hearing->has_heard(),
             polls = launch.polls.load(std::memory_order_relaxed) &&
                     !launch.reads_host_flags.load(std::memory_order_relaxed);
  if (!(hears || polls) || !r.reads || !is_strong(r) ||
      !host_sees(w, r.address[std::countr_zero(lanes)]))
    return;
  if (polls) launch.reads_host_flags.store(true, std::memory_order_relaxed);
  if (hears) hearing->hear();
}

// A strong read of such memory where not all accesses of the host are compared: it may have read a
// flag.
void note_unseen_flag(Warp& w, const Request& r, LaneMask lanes) {
  Launch& launch = *w.block->launch;
  if (w.overlapped == 0 || !r.reads || !is_strong(r) || launch.config->concurrent.empty() ||
      launch.informed_by_host.load(std::memory_order_relaxed))
    return;
  const std::function<bool(memory::Address)>& sees = launch.config->sees_host_writes;
  each(lanes, [&](int i) {
    if (host_sees(w, r.address[i]) && !(sees && sees(r.address[i])))
      launch.informed_by_host.store(true, std::memory_order_relaxed);
  });
}

}  // namespace

void note_host_memory(Warp& w, const Request& r, LaneMask lanes) {
  note_host_informed(w, r, lanes);
  note_host_heard(w, r, lanes);
  note_unseen_flag(w, r, lanes);
}

bool check_global_races(Warp& w, Request& r, LaneMask lanes) {
  const DoingFor searches(*w.block->worker, Doing::kRaces);
  note_host_memory(w, r, lanes);
  if ((w.overlapped & lanes) != 0 &&
      !(check_running_grids(w, r, lanes) && check_concurrent_access(w, r, lanes)))
    return false;
  memory::DeviceMemory& memory = *w.block->worker->memory;
  return check_swaps(
      w, r, lanes, w.block->worker->races->parallel(), [&](Request& part, LaneMask some) {
        return check_cells<Space::kGlobal>(
            w, part, some,
            [&](std::uint64_t address) {
              return memory.in_window(address) ? check::cell_of(memory, address) : nullptr;
            },
            [&](std::uint64_t address) {
              const memory::Allocation* a = memory.find(address);
              return a == nullptr
                         ? std::string()
                         : std::to_string(address - a->begin) + " bytes into " + describe(*a);
            });
      });
}

check::Access last_write_to_shared(Warp& w, const Block& owner, std::uint32_t offset) {
  const Block& b = *w.block;
  const Opponent o =
      b.launch->shared_cells
          ? opponent(b, w.index, b.worker->races->last_write(owner.cells[offset >> 2], offset & 3))
          : opponent(b, w.index, owner.races.last_write(offset));
  return access_of(b, o, offset, 1);
}

check::Access access_to_shared(const Block& owner, std::uint32_t thread, std::uint32_t pc,
                               std::uint32_t offset, bool is_write) {
  const check::SharedRaces::Conflict access = {thread, pc, is_write, false};
  return access_of(owner, opponent(owner, thread >> 5, access), offset, 1);
}

void after_strong_read(Warp& w, const Op& op, const std::uint64_t* addresses, LaneMask lanes) {
  Worker& k = *w.block->worker;
  // One host thread runs all blocks of a cluster, so their shared memory needs no observe().
  if (k.races == nullptr || !k.races->parallel() ||
      static_cast<check::Scope>(op.scope) == check::Scope::kBlock)
    return;
  GlobalRaces& races = *k.races;
  check::Side side = side_of(w, op, w.pc - 1, false, true);
  side.acquires = op.as<MemoryFields>().has(kAcquire);
  each(lanes, [&](int i) {
    if (!k.memory->in_window(addresses[i])) return;
    const std::uint64_t first = addresses[i],
                        last = first + std::uint32_t{op.width} * op.elements - 1;
    const check::RegionLock lock(races.parallel(), first, last);
    for_granules(first, last, check::cell_of(*k.memory, first),
                 [&](check::GlobalCell& cell, std::uint32_t) {
                   races.observe(cell, static_cast<std::uint32_t>(i), side);
                 });
  });
}

void fence(Warp& w, check::Scope scope, LaneMask lanes, std::uint32_t sides) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!w.block->launch->check_races) return;
  if (sides & kAcquire) w.block->races.acquire_fence(w.index, lanes, lanes == living(w), scope);
  if (sides & kRelease) w.block->races.release_fence(w.index, lanes, lanes == living(w), scope);
}

void released(Warp& w) {
  if (w.block->launch->check_races) w.block->races.end_release(w.index);
}

void acquired(Warp& w) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (w.block->launch->check_races) w.block->races.put_together(w.index, living(w));
}

void accessed_as_one(Warp& w) {
  if (w.block->launch->check_races) w.block->races.accessed_as_one(w.index);
}

// Arrivals at an mbarrier object, and waits for it, have .cta scope unless they name another.
// Programs nevertheless let other blocks of the cluster arrive with that scope, so their scopes
// count as wide enough.
void release_to(Warp& w, LaneMask lanes, Mbarrier& object) {
  Block& b = *w.block;
  if (!b.launch->check_races) return;
  object.arrived.add(b.races.message_of(w.index, lanes, lanes == w.exists, check::Scope::kGrid),
                     b.races.grid());
}

void leave_fenced(Warp& w, LaneMask lanes, Mbarrier& object) {
  Block& b = *w.block;
  if (!b.launch->check_races) return;
  each(lanes, [&](int l) {
    const std::uint32_t thread = w.index * kWarpSize + static_cast<std::uint32_t>(l);
    if (b.races.has_fenced(thread)) b.races.leave(thread, object.arrived);
  });
}

void acquire_from(Warp& w, LaneMask lanes, const Mbarrier& object) {
  Block& b = *w.block;
  if (b.launch->check_races && !object.completed.empty()) {
    b.races.acquire(w.index, lanes, lanes == living(w), object.completed, check::Scope::kGrid);
  }
}

void remember_from(Warp& w, LaneMask lanes, const Block& owner, std::uint32_t offset,
                   const Mbarrier& object) {
  Block& b = *w.block;
  if (!b.launch->check_races || object.completed.empty()) return;
  const std::uint64_t location = 1ull << 62 | std::uint64_t{owner.serial} << kRankShift | offset;
  each(lanes, [&](int l) {
    b.races.remember(w.index * kWarpSize + static_cast<std::uint32_t>(l), location,
                     object.state->phase, object.completed);
  });
}

void passed_barrier(Block& b, bool knows_more) {
  if (b.worker->between_blocks && knows_more) b.should_yield = true;
}

}  // namespace lockstep::engine
