// The accesses to one memory location that may still race. Used for locations that both strong and
// weak accesses reach. Exact for the accesses of two threads (PTX ISA 8.7, 8.9).
//
// An access is removed once a later one covers it: every access that would race with the earlier
// one would also race with the later one. A weak write covers everything ordered before it, a weak
// read covers reads, and a strong write covers strong writes of its chain. At most one weak write
// remains and, for each thread, its last reads and last strong writes.
//
// A write that a strong read has observed is ordered before whatever is ordered after that read
// (8.9.5, causality order; for this location only). Atomics continue a chain of writes. A thread
// that observes the end of a chain has observed all of it (8.9.2). The write before an atomic
// belongs to its chain if both are morally strong, as are two accesses of one thread that overlap
// completely.
//
// Reads of the lanes of a warp, at one time and of one kind, are one entry: the threads of a warp
// mostly read together, as when they wait for an mbarrier.
//
// A story also holds the messages of the release patterns in its chain (8.8).
#pragma once

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstdint>
#include <iterator>
#include <vector>

#include "simulator/check/knowledge.h"
#include "simulator/check/scope.h"
#include "simulator/check/stamp.h"

namespace lockstep::check {

class Story {
 public:
  struct Entry {
    Stamp who;
    std::uint32_t others = 0;  // of a read: more lanes of that warp that have read at that time
    std::uint32_t pc = 0;
    bool write = false, strong = false;
    Scope scope = Scope::kGrid;
    bool updates = false, observes = false;
    std::uint8_t size = 0;          // as Side::size, of a strong write
    bool chained = false;           // part of the chain that ends with the last write
    bool observed_by_many = false;  // more threads than are stored: nothing is reported against it
    std::uint8_t observers : 7 = 0;
    bool raced : 1 = false;     // with an access before it
    std::uint64_t version = 0;  // of the location when it was read
    static constexpr int kObservers = 3;
    Stamp observer[kObservers];

    std::uint32_t lanes() const { return 1u << who.lane | others; }
    // `lanes`: not 0.
    void set_lanes(std::uint32_t lanes) {
      who.lane = static_cast<std::uint8_t>(std::countr_zero(lanes));
      others = lanes & (lanes - 1);
    }
  };

  // Empties the story for use at another location.
  void reset();
  // Adds an access that another representation has recorded. Call in the order of the accesses.
  void add(const Entry& e);
  // Records one lane's access. Returns whether it races; `other` is then the racing entry. The
  // access is recorded in any case. `location`: any number that identifies the location. `certain`
  // false: observations may have been missed, so nothing is reported against a strong write.
  bool access(const Side& side, std::uint32_t lane, std::uint64_t location, bool certain,
              Entry& other);
  // Records a strong read by several lanes, with the effect of access() of each. Returns false,
  // with nothing recorded, if each lane must be judged alone.
  bool read_as_one(const Side& side, std::uint32_t lanes);
  // A strong read by `lane` may have seen any write that is recorded by now. Needed because memory
  // is read after access() is called, and other host threads write in between.
  void observe(const Side& side, std::uint32_t lane, std::uint64_t location);
  // Whether the story holds nothing but one weak write.
  bool is_one_weak_write() const {
    return entries_.size() == 1 && entries_[0].write && !entries_[0].strong && released_.empty();
  }
  const Entry& only() const { return entries_[0]; }
  // The last write, even if it can no longer race; nullptr if there is none.
  const Entry* last_write() const { return written_ ? &last_write_ : nullptr; }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Entry& e : entries_) visit(e);
  }

 private:
  // What a thread has released here. A later strong write of the same thread leaves it again (8.8).
  struct Released {
    Stamp who;
    Message message;
  };
  static constexpr std::size_t kMost = 40, kMostReleased = 8;

  // What an entry records: a kind for each combination of write and strong.
  enum Kind : std::uint8_t { kRead, kStrongRead, kWrite, kStrongWrite, kKinds };
  static Kind kind_of(const Entry& e) { return static_cast<Kind>(e.write * 2 + e.strong); }

  // The entries, oldest first. Most of those that are removed are among the oldest, so that few
  // others move.
  class Entries {
   public:
    Entry* begin() { return all_.data() + first_; }
    Entry* end() { return all_.data() + all_.size(); }
    const Entry* begin() const { return all_.data() + first_; }
    const Entry* end() const { return all_.data() + all_.size(); }
    std::size_t size() const { return all_.size() - first_; }
    bool empty() const { return size() == 0; }
    // The number of entries of a kind, and of all writes.
    std::size_t count(Kind kind) const { return count_[kind]; }
    std::size_t writes() const { return count_[kWrite] + count_[kStrongWrite]; }
    Entry& operator[](std::size_t i) { return all_[first_ + i]; }
    const Entry& operator[](std::size_t i) const { return all_[first_ + i]; }
    void clear() {
      all_.clear();
      first_ = 0;
      std::fill(std::begin(count_), std::end(count_), 0);
    }
    void push_back(const Entry& e) {
      if (first_ != 0 && all_.size() == all_.capacity()) {
        all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
      }
      all_.push_back(e);
      ++count_[kind_of(e)];
    }
    void erase(Entry* at) {
      --count_[kind_of(*at)];
      if (at - begin() < end() - at) {
        std::move_backward(begin(), at, at + 1);
        ++first_;
      } else {
        std::move(at + 1, end(), at);
        all_.pop_back();
      }
    }
    // Removes the entries whose bits are set, several.
    void erase_all(std::uint64_t entries) {
      Entry* out = begin() + std::countr_zero(entries);
      for (const Entry* e = out; e != end(); ++e) {
        if ((entries >> (e - begin()) & 1) != 0) {
          --count_[kind_of(*e)];
        } else {
          *out++ = *e;
        }
      }
      all_.resize(static_cast<std::size_t>(out - all_.data()));
    }

   private:
    std::vector<Entry> all_;
    std::size_t first_ = 0;
    std::size_t count_[kKinds] = {};
  };

  bool linked(const Side& side, std::uint32_t lane) const;
  void see_messages(const Side& side, std::uint32_t lane, std::uint64_t location);
  void note_observer(const Stamp& who);
  bool excused(const Entry& e, std::uint32_t lane, const Side& side) const;
  void leave(const Side& side, std::uint32_t lane, bool continues, const Stamp& who);
  // Of entries_, a bit each.
  void remove(std::uint64_t entries);
  std::uint64_t covered_by_write(const Side& side, std::uint32_t lane, bool continues) const;
  bool may_link(const Side& side) const;
  void remove_covered_by_read(const Side& side, std::uint32_t lanes);
  void remove_covered(const Side& side, std::uint32_t lane, bool continues);
  void end_chain();
  void make_room(const Side& side);
  bool remove_idle_write(const Side& side);
  bool repeats_read(const Side& side, const Stamp& who);
  void add_read(const Side& side, const Entry& read);
  bool joins_last(const Entry& read);
  void push(const Entry& e);
  void next_version();

  Entries entries_;
  // Warps with a strong read of the present version, a bit each by mark_of() in story.cc: most
  // reads repeat none, and need no search through the entries.
  std::bitset<256> readers_;
  std::size_t last_repeated_ = 0;  // the last entry that a read was found to repeat
  Messages messages_;
  std::vector<Released> released_;
  bool written_ = false;
  Entry last_write_;
  std::uint64_t version_ = 1;
};

// Whether both accesses are strong and each scope includes the other's thread (8.7, morally
// strong). Strong accesses of two threads count as morally strong whatever their sizes.
bool both_strong(const Story::Entry& e, const Side& side);

}  // namespace lockstep::check
