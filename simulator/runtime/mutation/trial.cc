#include "simulator/runtime/mutation/trial.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <tuple>
#include <utility>

#include "simulator/check/finding.h"

namespace lockstep::runtime {
namespace {

// Larger cases are rare, and so much longer that a process of their own costs little beside them.
constexpr std::uint64_t kMostBytes = 48u << 20, kKeptBytes = 4u << 20;

// A mutant that runs longer gets a process, where it may run as long as mutants may: twice what all
// blocks together run unchanged, if that times the blocks is little, else four times what one block
// does.
std::uint64_t limit_of_block(const engine::Outcome& unchanged, std::uint64_t blocks) {
  constexpr std::uint64_t kLittle = 50'000'000, kMore = 1000;
  const std::uint64_t all = unchanged.counters.warp_instructions;
  return (2 * all + kMore) * blocks <= kLittle ? 2 * all + kMore : 4 * (all / blocks + 1) + kMore;
}

auto counted(const engine::Counters& c) {
  return std::make_tuple(c.warp_instructions, c.thread_instructions, c.global_load_requests,
                         c.global_load_sectors, c.global_load_lines, c.global_store_requests,
                         c.global_store_sectors, c.global_store_lines, c.shared_load_requests,
                         c.shared_load_bank_conflicts, c.shared_store_requests,
                         c.shared_store_bank_conflicts, c.shuffles, c.votes, c.atomics, c.barriers);
}

bool same_stores(const std::vector<engine::UnwrittenStore>& a,
                 const std::vector<engine::UnwrittenStore>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.begin == y.begin && x.bytes == y.bytes;
  });
}

// The bytes of shadow that stand for an allocation: no other has a bit in them.
std::size_t shadow_bytes_of(const memory::DeviceMemory& memory, const memory::Allocation& a) {
  return a.has_shadow ? static_cast<std::size_t>(memory.written_shadow(a.base + a.size - 1) -
                                                 memory.written_shadow(a.base)) +
                            1
                      : 0;
}

}  // namespace

bool MemoryImage::take(const memory::DeviceMemory& memory, std::uint64_t most) {
  pieces_.clear();
  std::size_t room = 0;
  for (const memory::Allocation* a : memory.live()) {
    if (a->size > most) return false;
    const std::size_t shadow_bytes = shadow_bytes_of(memory, *a);
    pieces_.push_back({a, room, room + a->size, shadow_bytes});
    room += a->size + shadow_bytes;
    if (room > most) return false;
  }
  contents_.resize(room);
  for (const Piece& p : pieces_) {
    std::memcpy(contents_.data() + p.bytes, memory.host(*p.allocation, p.allocation->base),
                p.allocation->size);
    if (p.shadow_bytes != 0)
      std::memcpy(contents_.data() + p.shadow, memory.written_shadow(p.allocation->base),
                  p.shadow_bytes);
  }
  return true;
}

bool MemoryImage::equals(const memory::DeviceMemory& memory) const {
  return std::all_of(pieces_.begin(), pieces_.end(), [&](const Piece& p) {
    return std::memcmp(contents_.data() + p.bytes, memory.host(*p.allocation, p.allocation->base),
                       p.allocation->size) == 0 &&
           (p.shadow_bytes == 0 ||
            std::memcmp(contents_.data() + p.shadow, memory.written_shadow(p.allocation->base),
                        p.shadow_bytes) == 0);
  });
}

void MemoryImage::put_back(const memory::DeviceMemory& memory) const {
  // What has not changed is not written: its pages may be nobody's yet, or another process's too.
  const auto put = [](void* to, const std::byte* from, std::size_t bytes) {
    if (bytes == 0 || std::memcmp(to, from, bytes) == 0) return false;
    std::memcpy(to, from, bytes);
    return true;
  };
  for (const Piece& p : pieces_) {
    put(memory.host(*p.allocation, p.allocation->base), contents_.data() + p.bytes,
        p.allocation->size);
    if (put(memory.written_shadow(p.allocation->base), contents_.data() + p.shadow, p.shadow_bytes))
      memory.became_unwritten(p.allocation->base, p.allocation->size);
  }
}

void MemoryImage::forget() {
  if (contents_.capacity() > kKeptBytes) std::vector<std::byte>().swap(contents_);
}

Trial::Left Trial::run(std::uint64_t instruction_limit) {
  Left left;
  config_.instruction_limit = instruction_limit;
  config_.output = [&left](std::string_view text) { left.printed += text; };
  try {
    left.outcome = engine::launch(*kernel_, config_, *memory_);
  } catch (const std::exception&) {
    left.failed = true;
  }
  return left;
}

bool Trial::begin(const engine::Kernel& kernel, const engine::LaunchConfig& config,
                  memory::DeviceMemory& memory, engine::Exchange* watched) {
  undone_ = true;
  tried_ = false;
  if (engine::allocates(kernel) || !config.running_grids.empty() || !config.concurrent.empty())
    return false;
  if (!before_.take(memory, kMostBytes)) {
    before_.forget();
    return false;
  }
  kernel_ = &kernel;
  memory_ = &memory;
  config_ = config;
  config_.host_threads = 1;
  config_.host_patience = std::chrono::milliseconds(
      0);  // nobody else runs; a process of its own waits as long as launches do
  config_.coverage = nullptr;
  // A trial has no descendants, and is ordered before the launch itself: two launches with one
  // place in a family would count as unordered.
  config_.place.family = 0;
  config_.notice = nullptr;
  config_.ran = &ran_;
  if (watched != nullptr) watched->exchange();
  unchanged_ = run(config.instruction_limit);
  if (watched != nullptr) watched->exchange();
  config_.ran = nullptr;
  const engine::Outcome& o = unchanged_.outcome;
  const bool comparable = !unchanged_.failed && o.findings.empty() && o.heap.empty() &&
                          o.launches.empty() && !o.started_dependents && !o.waited;
  undone_ = false;
  if (!comparable) before_.put_back(memory), undone_ = true;
  instruction_limit_ = limit_of_block(o, std::max<std::uint64_t>(1, config.grid.count()));
  return comparable;
}

void Trial::undo() {
  if (undone_) return;
  after_.take(*memory_, ~0ull);
  before_.put_back(*memory_);
  undone_ = true;
}

std::optional<engine::Outcome> Trial::adopt() {
  // What mutants have accessed stays in the search for races. It matters where a later operation
  // may be unordered with the launch, which is then made again.
  const bool searched =
      tried_ && (config_.checks & check::kRaces) != 0 && config_.place.several_streams;
  if (searched || !unchanged_.printed.empty()) {
    undo();
    return std::nullopt;
  }
  if (undone_) after_.put_back(*memory_);
  undone_ = false;
  return std::move(unchanged_.outcome);
}

bool Trial::leaves_the_same(bool counters) {
  undo();
  tried_ = true;
  const Left left = run(instruction_limit_);
  const engine::Outcome &a = unchanged_.outcome, &b = left.outcome;
  const bool same = !left.failed && b.findings.empty() && b.heap.empty() && b.launches.empty() &&
                    !b.started_dependents && !b.waited && left.printed == unchanged_.printed &&
                    (!counters || counted(a.counters) == counted(b.counters)) &&
                    same_stores(a.unwritten_stores, b.unwritten_stores) && after_.equals(*memory_);
  before_.put_back(*memory_);
  return same;
}

}  // namespace lockstep::runtime
