// The accesses to one memory location that may still race, for locations that strong and weak
// accesses share. It is exact for the accesses of two threads (PTX ISA 8.7, 8.9).
//
// An access is removed once a later one stands for it: once every access that would race with the
// first would race with the later one, too. So a weak write stands for all that is ordered before
// it, a weak read for reads, and a strong write for strong writes of its chain. What is left is at
// most one weak write, and of each thread its last reads and its last strong writes.
//
// A write that a strong read has observed is ordered before whatever is ordered after that read
// (8.9.5, causality order; for this location alone). Atomics continue a chain of writes, and who
// observes its end has observed all of it (8.9.2). The write before an atomic belongs to its chain
// if both are morally strong, as any two accesses of one thread are.
//
// The location also carries the messages of the release patterns in its chain (8.8).
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/check/block_order.h"
#include "simulator/check/knowledge.h"
#include "simulator/check/scope.h"

namespace lockstep::check {

// A thread at some time.
struct Stamp {
  std::uint32_t block = 0;  // number in the schedule
  std::uint32_t epoch = 0;
  std::uint16_t clock = 0;
  std::uint8_t warp = 0, lane = 0;
  bool operator==(const Stamp&) const = default;
};

// The warp that accesses now, and how.
struct Side {
  BlockOrder* order = nullptr;
  std::uint32_t block = 0, warp = 0, pc = 0;
  bool strong = false, write = false;
  Scope scope = Scope::kGrid;
  bool updates = false;   // an atomic: it writes what depends on what it read
  bool observes = false;  // its thread goes on with the value that it read
  bool acquires = false, releases = false;
  bool reads() const { return !write || observes; }
};

enum class Relation : std::uint8_t { kSelf, kOrdered, kUnordered };

// How an earlier access relates to what `lane` of `side` does now.
inline Relation relate(std::uint32_t block, std::uint32_t epoch, std::uint32_t warp,
                       std::uint32_t at_lane, std::uint32_t clock, std::uint32_t lane,
                       const Side& side) {
  if (block == side.block) {
    if (epoch != side.order->epoch()) return Relation::kOrdered;
    if (warp == side.warp && at_lane == lane) return Relation::kSelf;
    return side.order->ordered(warp * 32 + at_lane, clock, side.warp * 32 + lane)
               ? Relation::kOrdered
               : Relation::kUnordered;
  }
  const LaunchOrder& launches = side.order->grid().launches();
  if (block < launches.first_block() && launches.is_before(block)) return Relation::kOrdered;
  return side.order->ordered_after_block(side.warp * 32 + lane, block, epoch, warp, at_lane, clock)
             ? Relation::kOrdered
             : Relation::kUnordered;
}
inline Relation relate(const Stamp& s, std::uint32_t lane, const Side& side) {
  return relate(s.block, s.epoch, s.warp, s.lane, s.clock, lane, side);
}

class Story {
 public:
  struct Entry {
    Stamp who;
    std::uint32_t pc = 0;
    bool write = false, strong = false;
    Scope scope = Scope::kGrid;
    bool updates = false, observes = false;
    bool chained = false;           // part of the chain that ends with the last write
    bool observed_by_many = false;  // more threads than are stored: nothing is reported against it
    std::uint8_t observers = 0;
    std::uint64_t version = 0;  // of the location when it was read
    static constexpr int kObservers = 3;
    Stamp observer[kObservers];
  };

  // Empties it for another location.
  void reset();
  // Adds an access that another representation has recorded, in order.
  void add(const Entry& e);
  // One lane's access. Returns whether it races, and with which entry; it is recorded either way.
  // `location`: any number that names it. With `certain` false, what has been observed may be
  // unknown, and nothing is reported against a strong write.
  bool access(const Side& side, std::uint32_t lane, std::uint64_t location, bool certain,
              Entry& other);
  // A strong read by `lane` may have seen any write that is recorded by now: memory has been read
  // after access() was called, and other host threads write, too.
  void observe(const Side& side, std::uint32_t lane, std::uint64_t location);
  // Whether a weak write has made everything else in it superfluous.
  bool is_one_weak_write() const {
    return entries_.size() == 1 && entries_[0].write && !entries_[0].strong && released_.empty();
  }
  const Entry& only() const { return entries_[0]; }
  // The last write, whether or not it may still race; nullptr without any.
  const Entry* last_write() const { return written_ ? &last_write_ : nullptr; }

 private:
  // What a thread has released here: a later strong write of its own leaves it again (8.8).
  struct Released {
    Stamp who;
    Message message;
  };
  static constexpr std::size_t kMost = 16, kMostReleased = 8;

  bool linked(const Side& side, std::uint32_t lane) const;
  void see_messages(const Side& side, std::uint32_t lane, std::uint64_t location);
  void note_observer(const Stamp& who);
  bool excused(const Entry& e, std::uint32_t lane, const Side& side) const;
  void leave(const Side& side, std::uint32_t lane, bool continues, const Stamp& who);
  void remove_covered(const Side& side, std::uint32_t lane, bool continues);
  void end_chain();
  void make_room();

  std::vector<Entry> entries_;
  Messages messages_;
  std::vector<Released> released_;
  bool written_ = false;
  Entry last_write_;
  std::uint64_t version_ = 1;
};

// Whether both accesses are strong and each scope includes the other's thread (8.7, morally
// strong). Strong accesses of different sizes count as morally strong.
bool both_strong(const Story::Entry& e, const Side& side);

}  // namespace lockstep::check
