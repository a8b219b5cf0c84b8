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

#include "simulator/check/knowledge.h"
#include "simulator/check/scope.h"
#include "simulator/check/stamp.h"

namespace lockstep::check {

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
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Entry& e : entries_) visit(e);
  }

 private:
  // What a thread has released here: a later strong write of its own leaves it again (8.8).
  struct Released {
    Stamp who;
    Message message;
  };
  static constexpr std::size_t kMost = 40, kMostReleased = 8;

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
