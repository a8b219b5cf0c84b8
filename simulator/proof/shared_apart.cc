// Apartness in shared memory: byte by byte, in each interval between barriers.
#include <algorithm>

#include "simulator/proof/apart.h"
#include "simulator/proof/barriers.h"

namespace lockstep::proof {

using isa::Space;

namespace {

// Limits of the search in a block's shared memory: accesses of single threads, and bytes.
constexpr std::uint64_t kMostSharedTouches = 1 << 20;
constexpr std::uint64_t kMostShared = 1 << 18;  // bytes

// For each interval between barriers, the accesses to shared memory that may occur in it.
std::vector<std::vector<std::size_t>> intervals_of(const Graph& graph, Values& values,
                                                   const std::vector<Place>& places) {
  const auto& blocks = graph.blocks();
  const std::vector<bool> barrier = common_barriers(graph, values);
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

// For each byte, the thread that accessed it in an interval, plus 1.
struct Touched {
  std::vector<std::uint32_t> writer, reader;  // by byte
  std::vector<bool> several;                  // by byte: it has more than one reader
  std::vector<std::uint8_t>
      atomic;  // by byte: the size of atomics, which several threads may execute
};

// Records an atomic. Atomics of one size do not race with each other; against other accesses they
// count as writes.
bool touch_atomically(Touched& touched, std::size_t byte, std::uint32_t size) {
  if (touched.writer[byte] != 0 || touched.reader[byte] != 0) return false;
  if (touched.atomic[byte] != 0 && touched.atomic[byte] != size) return false;
  touched.atomic[byte] = static_cast<std::uint8_t>(size);
  return true;
}

// Records an access. False if two threads may access a byte that one of them writes, or if the
// search exceeds its limit.
bool touch(const Place& place, const Values& values, Touched& touched, std::uint64_t& budget) {
  const Access& a = place.access;
  const Form& f = *place.address;
  // Each counter that the address depends on, with its number of values.
  std::vector<std::pair<std::int64_t, std::uint64_t>> counters;
  std::uint64_t rounds = 1;
  for (const auto& [symbol, factor] : f.factors) {
    const Range& r = values.symbols()[static_cast<std::size_t>(symbol)];
    // Each block has its own shared memory, but the accessed bytes must not depend on the block.
    if (symbol < kFirstLoop || r.high >= Wide{1} << 20) return false;
    counters.emplace_back(factor, static_cast<std::uint64_t>(r.high) + 1);
    rounds *= counters.back().second;
    if (rounds > kMostSharedTouches) return false;
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
        if (a.atomic) {
          if (!touch_atomically(touched, byte, a.size)) return false;
          continue;
        }
        if (touched.atomic[byte] != 0) return false;
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

}  // namespace

bool shared_is_apart(const Graph& graph, Values& values, const std::vector<Place>& places,
                     const Memory& memory) {
  std::uint64_t extent = 0;
  for (const Extent& e : memory.shared) extent = std::max(extent, e.end);
  if (extent > kMostShared) return false;
  for (const Place& p : places) {
    const Access& a = p.access;
    if (a.space == Space::kShared &&
        (!a.in_bounds || !p.address || (a.strong && !a.atomic) || (a.atomic && !a.aligned)))
      return false;
  }
  std::uint64_t budget = kMostSharedTouches;
  for (const auto& interval : intervals_of(graph, values, places)) {
    Touched touched{std::vector<std::uint32_t>(extent), std::vector<std::uint32_t>(extent),
                    std::vector<bool>(extent), std::vector<std::uint8_t>(extent)};
    for (const std::size_t i : interval) {
      if (!touch(places[i], values, touched, budget)) return false;
    }
  }
  return true;
}

}  // namespace lockstep::proof
