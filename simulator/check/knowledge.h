// What a thread knows: the accesses of a launch that are ordered before whatever it does next
// (base causality order, PTX ISA 8.9.5), and the messages by which it hands this on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/check/scope.h"
#include "simulator/check/thread_clocks.h"

namespace lockstep::check {

class GridOrder;

// The accesses of one block that are known: all of earlier epochs, and those of the epoch that each
// thread's clock covers.
struct ReleaseClock {
  std::uint32_t block = 0;
  std::uint32_t epoch = 0;
  SharedClocks clocks;
  bool happens_before(std::uint32_t at_epoch, std::uint32_t warp, std::uint32_t lane,
                      std::uint32_t at_clock) const {
    return at_epoch < epoch || (at_epoch == epoch && clocks->cover(warp, lane, at_clock));
  }
  // The lanes for which that holds.
  std::uint32_t lanes_before(std::uint32_t at_epoch, std::uint32_t warp,
                             std::uint32_t at_clock) const {
    if (at_epoch != epoch) return at_epoch < epoch ? ~0u : 0;
    return clocks->covered(warp, at_clock);
  }
  void join(const ReleaseClock& other);
  bool operator==(const ReleaseClock&) const = default;
};

// Known accesses of any blocks. Up to kExact blocks are stored one by one. A longer list becomes a
// time: all that blocks had published by then (GridOrder::publish) counts as known, which may hide
// a race between accesses of two of these blocks.
class VectorClock {
 public:
  bool empty() const { return until_ == 0 && exact_.empty(); }
  void clear();
  void join(const VectorClock& other, const GridOrder& order);
  void join(const ReleaseClock& other, const GridOrder& order);
  bool happens_before(const GridOrder& order, std::uint32_t block, std::uint32_t epoch,
                      std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const;
  // The lanes of `warp` for which that holds.
  std::uint32_t lanes_before(const GridOrder& order, std::uint32_t block, std::uint32_t epoch,
                             std::uint32_t warp, std::uint32_t clock) const;
  // Whether all of this is known, of one by one.
  bool includes(const ReleaseClock& other) const {
    const ReleaseClock* const known = find(other.block);
    return known != nullptr &&
           (known->epoch > other.epoch ||
            (known->epoch == other.epoch && known->clocks->includes(*other.clocks)));
  }
  // Whether a known block is of a launch that the launch of `block` is ordered before.
  bool knows_a_later_launch(const GridOrder& order, std::uint32_t block) const;
  // Whether a known block is of a launch that is ordered after the `sequence`-th operation of a
  // lane.
  bool knows_a_launch_after(const GridOrder& order, std::uint32_t lane,
                            std::uint32_t sequence) const;
  // What is known of blocks of launches other than the present one; and of launches that are
  // remembered.
  VectorClock of_other_launches(const GridOrder& order) const;
  void keep_remembered(const GridOrder& order);
  // Whether the lanes of a warp may differ in what is known of them.
  bool is_apart(const GridOrder& order, std::uint32_t block, std::uint32_t warp) const;
  bool operator==(const VectorClock&) const = default;

 private:
  static constexpr std::size_t kExact = 32;
  void shorten(const GridOrder& order);
  static std::uint64_t bit_of(std::uint32_t block) { return std::uint64_t{1} << (block & 63); }
  // Blocks are looked for again and again, most of them in vain.
  const ReleaseClock* find(std::uint32_t block) const {
    if ((listed_ & bit_of(block)) == 0) return nullptr;
    for (const ReleaseClock& p : exact_) {
      if (p.block == block) return &p;
    }
    return nullptr;
  }
  template <class Forgotten>
  void forget(Forgotten forgotten);
  std::vector<ReleaseClock> exact_;  // each block once
  std::uint64_t listed_ = 0;         // the bits of their numbers modulo 64
  std::uint64_t until_ = 0;          // 0: exact_ alone
};

// What one thread, or several, knew at some time.
struct Knowledge {
  ReleaseClock own;    // of their block
  VectorClock others;  // of other blocks; also of their own, where another block handed it back
  void join(const Knowledge& other, const GridOrder& order);
};

// Which scopes include which threads. `cluster`: blocks in a cluster, 1 without clusters.
inline bool reaches(Scope scope, std::uint32_t from, std::uint32_t to, std::uint32_t cluster) {
  return from == to || scope == Scope::kGrid ||
         (scope == Scope::kCluster && cluster > 1 && from / cluster == to / cluster);
}

// What a release pattern (PTX ISA 8.8) hands on: the knowledge of the thread at its release, which
// is the pattern's first operation, with that operation's scope. Shared, and never changed.
struct Message {
  std::uint32_t block = 0;  // of the thread that released
  Scope scope = Scope::kGrid;
  std::shared_ptr<const Knowledge> what;
  // What has been joined to this last, if anything: the lanes of a warp release the same, one after
  // another.
  std::shared_ptr<const Knowledge> joined = nullptr;
};

// The messages that one memory location carries: those of the chain of writes that ends with its
// last write. One for each block and scope; those of more than kMost blocks become one.
class Messages {
 public:
  bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  void add(const Message& m, const GridOrder& order);
  void add(const Messages& other, const GridOrder& order);
  // The latest first.
  auto begin() const { return all_.rbegin(); }
  auto end() const { return all_.rend(); }
  // Stands for the block of a message in which those of several blocks have been joined. Any scope
  // reaches it: an acquire that is too narrow may count.
  static constexpr std::uint32_t kManyBlocks = ~0u;

 private:
  static constexpr std::size_t kMost = 24;
  std::vector<Message> all_;
};

}  // namespace lockstep::check
